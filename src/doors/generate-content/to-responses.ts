import type { JsonObject } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'
import { checkBody, withValues, refuse } from '../shared/check-body.ts'
import { isComplete, toJsonSchema } from './api-schema.ts'
import { bodyPaths } from './body-paths.ts'
import { instructionsOf, toItems, type Content } from './history.ts'
import { BODY, inItsNames } from './names.ts'
import { askedFor, type Asked } from './path.ts'
import { BARE_WORD, generateContentRequest, SHARED } from './schema.ts'

export interface GenerateContentPreferences {
  /** Whether the caller wants to read reasoning; its signatures are sent in any case. */
  readonly thoughts: boolean
  /** Whether the answer is one of several words, without its JSON quotation marks. */
  readonly bareWord?: boolean
  /** Whether a stream is one JSON list instead of events. */
  readonly listed?: boolean
}

export interface GenerateContentRead {
  /** The body in the terms of Responses. It has passed the validation of this format, but not that of Responses. */
  readonly body: JsonObject
  readonly preferences: GenerateContentPreferences
  /** Maps a path of the translated body to the path in this format, for errors. */
  readonly pathOf: (path: string) => string
}

/**
 * Translates the parsed body of `POST /api/v1beta/models/{model}:generateContent` to Responses. `url`: its address, which names the model and says whether
 * to stream; `exactly`: parses the body again, with numbers as they were sent. Throws GatewayError `invalid_request` (`invalid_prompt` for contents that
 * are absent or empty, or an unknown role), naming one path of this format and one reason.
 */
export function generateContentToResponses(body: unknown, url: string, exactly?: () => unknown): GenerateContentRead {
  return translate(body, askedFor(url), exactly)
}

/** The same without an address. */
export function translate(written: unknown, { model, stream, listed = false }: Asked, exactly?: () => unknown): GenerateContentRead {
  const body = inItsNames(written, BODY)
  checkShape(body)
  const sent = body as JsonObject
  const config = (sent['generationConfig'] ?? {}) as JsonObject
  const contents = sent['contents'] as readonly Content[]
  const origins: number[] = []
  const items = toItems(contents, origins, () => exactContents(exactly, contents))
  if (items.length === 0) throw refuse('invalid_prompt', 'contents', 'say nothing: send at least one part with content')
  const { tools, paths } = toolsOf((sent['tools'] ?? []) as readonly JsonObject[], sent['toolConfig'])
  const thinking = (config['thinkingConfig'] ?? {}) as JsonObject
  return {
    body: {
      model,
      ...withValues(Object.fromEntries(SHARED.map((field) => [field, sent[field]]))),
      ...withValues({
        instructions: instructionsOf(sent['systemInstruction']),
        metadata: sent['metadata'] ?? sent['labels'],
        safetySettings: sent['safetySettings'],
      }),
      input: items,
      ...(stream ? { stream } : {}),
      ...samplingOf(config),
      ...formatOf(config),
      ...imagesOf(config),
      ...reasoningOf(thinking, config['maxOutputTokens']),
      ...tierOf(sent['serviceTier'] ?? sent['service_tier']),
      ...tools,
    },
    preferences: { thoughts: thinking['includeThoughts'] === true, bareWord: config['responseMimeType'] === BARE_WORD, listed },
    pathOf: bodyPaths(origins, paths),
  }
}

function checkShape(body: unknown): void {
  if (isJsonObject(body) && Array.isArray(body['contents']) && body['contents'].length === 0)
    throw refuse('invalid_prompt', 'contents', 'is empty: send at least one turn')
  checkBody(generateContentRequest, body, 'contents')
}

function exactContents(exactly: (() => unknown) | undefined, contents: readonly Content[]): readonly Content[] {
  const exact = exactly?.()
  return exact === undefined ? contents : (inItsNames(exact, BODY) as { readonly contents: readonly Content[] }).contents
}

function samplingOf(config: JsonObject): JsonObject {
  const stop = config['stopSequences'] as readonly string[] | null | undefined
  const topK = config['topK'] as number | null | undefined
  const wantsLogprobs = config['responseLogprobs'] === true
  return withValues({
    max_output_tokens: config['maxOutputTokens'],
    temperature: config['temperature'],
    top_p: config['topP'],
    top_k: topK == null ? undefined : Math.round(topK),
    seed: config['seed'],
    presence_penalty: config['presencePenalty'],
    frequency_penalty: config['frequencyPenalty'],
    stop: stop?.length ? stop : undefined,
    ...(wantsLogprobs ? { top_logprobs: config['logprobs'] } : {}),
    // Few clients send the thoughts themselves back, so the seal has to contain everything that is needed.
    include: ['reasoning.encrypted_content', ...(wantsLogprobs ? ['message.output_text.logprobs'] : [])],
  })
}

function formatOf({ responseMimeType: type, responseSchema: own, responseJsonSchema: plain }: JsonObject): JsonObject {
  const schema = (plain as JsonObject | null | undefined) ?? (own == null ? undefined : toJsonSchema(own as JsonObject, true))
  if (schema !== undefined) return { text: { format: { type: 'json_schema', name: 'answer', schema, strict: isComplete(schema) } } }
  return type === 'application/json' ? { text: { format: { type: 'json_object' } } } : {}
}

function imagesOf({ responseModalities: wanted, imageConfig: image }: JsonObject): JsonObject {
  const modalities = ((wanted ?? []) as readonly string[]).map((each) => each.toLowerCase()).filter((each) => each !== 'modality_unspecified')
  const { aspectRatio, imageSize } = (image ?? {}) as JsonObject
  const config = withValues({ aspect_ratio: aspectRatio, image_size: imageSize })
  return {
    ...(modalities.includes('image') ? { modalities: [...new Set(modalities)] } : {}),
    ...(Object.keys(config).length === 0 ? {} : { image_config: config }),
  }
}

function reasoningOf({ includeThoughts: shown, thinkingBudget: budget, thinkingLevel: written }: JsonObject, limit: unknown): JsonObject {
  if (budget === 0) return { reasoning: { enabled: false } }
  const level = typeof written === 'string' && !/unspecified/i.test(written) ? written.toLowerCase() : undefined
  const reasoning = withValues({
    enabled: budget != null || level !== undefined ? true : undefined,
    max_tokens: budget === -1 ? undefined : budget,
    effort: level,
    summary: shown === true ? 'auto' : undefined,
  })
  if (Object.keys(reasoning).length === 0) return {}
  // The token limit of this format covers reasoning and answer together.
  return { reasoning: limit == null ? reasoning : { ...reasoning, within_output: true } }
}

/** The gateway's own tiers by name, and the vendor's name for the default one. */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ...['default', 'fast', 'flex', 'priority', 'scale'].map((tier) => [tier, tier] as const),
  ['standard', 'default'],
])

const tierOf = (tier: unknown): JsonObject => withValues({ service_tier: TIERS.get(typeof tier === 'string' ? tier.toLowerCase() : tier) })

// ---- tools ----

interface ToolsRead {
  readonly tools: JsonObject
  /** The path of each tool. */
  readonly paths: readonly string[]
}

function toolsOf(sent: readonly JsonObject[], toolConfig: unknown): ToolsRead {
  const { mode: written, allowedFunctionNames: names } = (((toolConfig ?? {}) as JsonObject)['functionCallingConfig'] ?? {}) as CallingConfig
  const mode = written?.toUpperCase()
  const found = sent.flatMap((tool, at) => offeredBy(tool, `tools[${at}]`, mode === 'VALIDATED'))
  const choice = choiceOf(mode, names ?? [])
  return {
    tools: { ...(found.length === 0 ? {} : { tools: found.map(({ tool }) => tool) }), ...(choice === undefined ? {} : { tool_choice: choice }) },
    paths: found.map(({ path }) => path),
  }
}

interface CallingConfig {
  readonly mode?: string | null
  readonly allowedFunctionNames?: readonly string[] | null
}

interface Offered {
  readonly tool: JsonObject
  readonly path: string
}

/** The vendor's own tools, and the gateway's tools that replace them. */
const HOSTED: readonly (readonly [name: string, tool: JsonObject])[] = [
  ['googleSearch', { type: 'gateway:web_search' }],
  ['googleSearchRetrieval', { type: 'gateway:web_search' }],
  ['urlContext', { type: 'gateway:web_fetch' }],
  ['codeExecution', { type: 'code_interpreter', container: { type: 'auto' } }],
]

function offeredBy(sent: JsonObject, path: string, strict: boolean): readonly Offered[] {
  if (typeof sent['type'] === 'string') return [{ tool: sent, path }]
  const declared = (sent['functionDeclarations'] ?? []) as readonly JsonObject[]
  return [
    ...declared.map((declaration, at) => ({ tool: functionOf(declaration, strict), path: `${path}.functionDeclarations[${at}]` })),
    ...HOSTED.flatMap(([name, tool]) => (sent[name] == null ? [] : [{ tool, path: `${path}.${name}` }])),
  ]
}

/** `strict`: calls must match the schema, if it can be enforced. */
function functionOf({ name, description, parameters, parametersJsonSchema: plain }: JsonObject, strict: boolean): JsonObject {
  const schema = (plain as JsonObject | null | undefined) ?? (parameters == null ? undefined : toJsonSchema(parameters as JsonObject, strict))
  return { type: 'function', name, ...withValues({ description, parameters: schema }), strict: strict && isComplete(schema ?? {}) }
}

function choiceOf(mode: string | undefined, names: readonly string[]): unknown {
  if (mode === 'NONE') return 'none'
  const must = mode === 'ANY'
  if (must && names.length === 1) return { type: 'function', name: names[0] }
  if (names.length > 0 && (must || mode === 'VALIDATED'))
    return { type: 'allowed_tools', mode: must ? 'required' : 'auto', tools: names.map((name) => ({ type: 'function', name })) }
  return must ? 'required' : mode === 'AUTO' || mode === 'VALIDATED' ? 'auto' : undefined
}
