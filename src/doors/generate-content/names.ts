import { isJsonObject } from '../../lib/json.ts'

/** Known fields of an object, and the fields of their values; null where values are not looked at. */
export interface Names {
  readonly [name: string]: Names | null
}

const blob: Names = { mimeType: null, data: null, displayName: null }
const file: Names = { mimeType: null, fileUri: null, displayName: null }
const part: Names = {
  text: null,
  thought: null,
  thoughtSignature: null,
  inlineData: blob,
  fileData: file,
  functionCall: { id: null, name: null, args: null },
  functionResponse: { id: null, name: null, response: null, parts: { inlineData: blob, fileData: file } },
  executableCode: null,
  codeExecutionResult: null,
  videoMetadata: null,
  mediaResolution: null,
  toolCall: null,
  toolResponse: null,
}
const content: Names = { role: null, parts: part }
const tool: Names = {
  functionDeclarations: { name: null, description: null, parameters: null, parametersJsonSchema: null, response: null, responseJsonSchema: null },
  googleSearch: null,
  googleSearchRetrieval: null,
  urlContext: null,
  codeExecution: null,
  googleMaps: null,
  fileSearch: null,
  computerUse: null,
  enterpriseWebSearch: null,
  mcpServers: null,
  retrieval: null,
}
const generationConfig: Names = {
  stopSequences: null,
  responseMimeType: null,
  responseSchema: null,
  responseJsonSchema: null,
  responseModalities: null,
  candidateCount: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  responseLogprobs: null,
  logprobs: null,
  thinkingConfig: { includeThoughts: null, thinkingBudget: null, thinkingLevel: null },
  imageConfig: { aspectRatio: null, imageSize: null },
  speechConfig: null,
  mediaResolution: null,
}

/** The fields of a body by the vendor's JSON names. */
export const BODY: Names = {
  contents: content,
  systemInstruction: content,
  tools: tool,
  toolConfig: { functionCallingConfig: { mode: null, allowedFunctionNames: null }, retrievalConfig: null },
  generationConfig,
  safetySettings: null,
  cachedContent: null,
  labels: null,
}

const vector: Names = { content, taskType: null, title: null, outputDimensionality: null }
const embedding: Names = { ...vector, embedContentConfig: vector }

/** The fields of a request for embeddings. */
export const VECTORS: Names = { ...embedding, requests: embedding }

/** Lists whose only entry the vendor also accepts without the brackets, as its own samples send it. */
const LISTS: ReadonlySet<string> = new Set(['contents', 'requests', 'parts', 'tools', 'functionDeclarations', 'safetySettings'])

/** Tried only where a run of underscores begins: callers may send runs of megabytes. */
const camel = (name: string): string => name.replace(/(?<!_)_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Renames every known field to the name its vendor uses in JSON. Programs and much of the vendor's documentation send the equivalent names of its protocol
 * (`system_instruction`), and an object where a list is expected. Names chosen by callers are left alone.
 */
export function inItsNames(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((entry) => inItsNames(entry, names))
  if (!isJsonObject(value)) return value
  const renamed: { [name: string]: unknown } = {}
  for (const [written, entry] of Object.entries(value)) {
    const name = Object.hasOwn(names, written) ? written : camel(written)
    const inside = Object.hasOwn(names, name) ? names[name] : undefined
    if (inside === undefined) set(renamed, written, entry)
    else {
      const listed = LISTS.has(name) && isJsonObject(entry) ? [entry] : entry
      renamed[name] = inside === null ? listed : inItsNames(listed, inside)
    }
  }
  return renamed
}

/** Defines the field whatever its name is (`__proto__`, for example). */
function set(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}
