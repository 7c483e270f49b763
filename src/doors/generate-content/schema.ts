import { z } from 'zod'
import { embeddingsRequest } from '../embeddings/schema.ts'
import { byKind, byType, fields, kindOf, list, maybe, pickOne, type Schema, type Shape } from '../responses/schema-combinators.ts'
import { responsesRequest } from '../responses/schema.ts'
import { GATEWAY_TOOLS_OF_ANY_FORMAT, OTHER_GATEWAY_TOOLS } from '../responses/schema-gateway-tools.ts'
import { canonicalType } from '../../core/own-names.ts'
import { anyObject, count, flag, positive, text, texts } from '../responses/schema-shared.ts'

/** The gateway's own fields, which are allowed beside those of this format and mean the same as in Responses. */
export const SHARED = [
  'models',
  'preset',
  'stop_server_tools_when',
  'max_tool_calls',
  'user',
  'session_id',
  'trace',
  'cache_control',
  'provider',
  'plugins',
  'debug',
  'metadata',
] as const
const shape: Shape = responsesRequest.shape
const shared: Shape = Object.fromEntries(SHARED.map((field) => [field, shape[field]!]))

const word = z.string().min(1)
const unsupported = (reason: string): Schema => z.null({ error: reason }).optional()

const blob = maybe(fields({ mimeType: word, data: z.string(), displayName: text }))
const file = maybe(fields({ fileUri: word, mimeType: text, displayName: text }))

const part = fields({
  text,
  thought: flag,
  thoughtSignature: text,
  inlineData: blob,
  fileData: file,
  functionCall: maybe(fields({ id: text, name: word, args: maybe(anyObject) })),
  functionResponse: maybe(
    fields({ id: text, name: text, response: maybe(anyObject), parts: maybe(list(fields({ inlineData: blob, fileData: file }))) }),
  ),
  executableCode: maybe(fields({ code: z.string(), language: text, id: text })),
  codeExecutionResult: maybe(fields({ outcome: text, output: text, id: text })),
})

/** The role is ignored. */
const instruction = fields({ role: text, parts: maybe(list(fields({ text }))), text })

export const content = fields({ role: maybe(z.enum(['user', 'model', 'function'])), parts: maybe(list(part)) })

const vectorPreferences = { taskType: text.describe('Purpose of the vectors, for models that distinguish them.'), outputDimensionality: positive }
const ofVectors: Shape = embeddingsRequest.shape
const sharedByVectors: Shape = Object.fromEntries(['provider', 'user', 'session_id', 'metadata', 'trace'].map((field) => [field, ofVectors[field]!]))
const embedding = { ...vectorPreferences, content, embedContentConfig: maybe(fields(vectorPreferences)) }

export const embedContentRequest = fields({ ...sharedByVectors, ...embedding })
const entry = { model: text.describe('The model of the address, if it is named again.'), ...embedding }
export const batchEmbedRequest = fields({ ...sharedByVectors, requests: list(fields(entry)).describe('Each entry gives one vector.') })

const declaration = fields({
  name: word,
  description: text,
  parameters: maybe(anyObject).describe('In the OpenAPI subset of this format.'),
  parametersJsonSchema: maybe(anyObject),
})
const NO_TOOL = 'is a tool only its vendor runs: send the call there, or use a tool of the gateway ({"type": "gateway:web_search"}, ...)'
const ownTool = fields({
  functionDeclarations: maybe(list(declaration)),
  googleSearch: maybe(anyObject).describe('Web search: that of the model if it has one, otherwise that of the gateway.'),
  googleSearchRetrieval: maybe(anyObject).describe('Older name of the same.'),
  urlContext: maybe(anyObject).describe('Pages are fetched by the gateway.'),
  codeExecution: maybe(anyObject).describe('For endpoints that can run code.'),
  googleMaps: unsupported(NO_TOOL),
  fileSearch: unsupported(NO_TOOL),
  computerUse: unsupported(NO_TOOL),
  enterpriseWebSearch: unsupported(NO_TOOL),
  retrieval: unsupported(NO_TOOL),
  mcpServers: unsupported('is not supported in this format: /api/v1/responses takes tools of the type mcp'),
})
const gatewayTool = byType(GATEWAY_TOOLS_OF_ANY_FORMAT, { noun: 'tool', ...OTHER_GATEWAY_TOOLS, alias: canonicalType })
const tool = pickOne([ownTool, gatewayTool], (value) =>
  kindOf(value) === 'object' && typeof (value as { readonly type?: unknown }).type === 'string' ? gatewayTool : ownTool,
)

const callingConfig = fields({
  mode: maybe(z.string().regex(/^(?:mode_unspecified|auto|any|none|validated)$/i, 'must be AUTO, ANY, NONE or VALIDATED')),
  allowedFunctionNames: maybe(list(word)),
})

const thinkingConfig = fields({
  includeThoughts: flag,
  thinkingBudget: maybe(z.int().min(-1)).describe('Tokens. 0: no reasoning; -1: the model decides.'),
  thinkingLevel: maybe(
    z.string().regex(/^(?:thinking_level_unspecified|minimal|low|medium|x?high)$/i, 'must be MINIMAL, LOW, MEDIUM, HIGH or XHIGH'),
  ),
})

/** Asks for one of the words that the schema lists, without JSON around it. */
export const BARE_WORD = 'text/x.enum'
const MIME_TYPES = ['text/plain', 'application/json', BARE_WORD] as const
const modality = z.string().regex(/^(?:modality_unspecified|text|image)$/i, 'must be TEXT or IMAGE: answers in sound have no place here')

const generationConfig = fields({
  stopSequences: texts,
  responseMimeType: maybe(z.enum(MIME_TYPES)),
  responseSchema: maybe(anyObject).describe('In the OpenAPI subset of this format.'),
  responseJsonSchema: maybe(anyObject),
  responseModalities: maybe(list(modality)),
  candidateCount: maybe(z.literal(1, { error: 'must be 1: one answer is given' })),
  maxOutputTokens: positive,
  temperature: shape['temperature']!,
  topP: shape['top_p']!,
  // The vendor declares this as a float.
  topK: maybe(z.number().min(0)),
  seed: maybe(z.int()),
  presencePenalty: shape['presence_penalty']!,
  frequencyPenalty: shape['frequency_penalty']!,
  responseLogprobs: flag,
  logprobs: count,
  thinkingConfig: maybe(thinkingConfig),
  imageConfig: maybe(fields({ aspectRatio: text, imageSize: text })),
  speechConfig: unsupported('must be null: answers in sound have no place here'),
})

/** The body of `POST /api/v1beta/models/{model}:generateContent`, with its fields by the vendor's names. Unlisted fields are accepted and dropped. */
export const generateContentRequest = fields({
  ...shared,
  contents: list(content).describe('The conversation, oldest turn first.'),
  systemInstruction: maybe(byKind({ string: z.string(), object: instruction })),
  tools: maybe(list(tool)),
  toolConfig: maybe(fields({ functionCallingConfig: maybe(callingConfig) })),
  generationConfig: maybe(generationConfig),
  safetySettings: maybe(list(anyObject)).describe('Only for endpoints that support it.'),
  serviceTier: text,
  labels: maybe(anyObject).describe('Another name of `metadata`.'),
  cachedContent: unsupported('must be null: nothing is stored, send the whole conversation in "contents" instead'),
})
