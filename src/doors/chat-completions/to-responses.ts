import type { InputItem, JsonObject } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'
import { effort as knownEffort } from '../responses/schema-shared.ts'
import { markOf } from '../shared/cache-mark.ts'
import { checkBody, withValues, refuse } from '../shared/check-body.ts'
import { chatPaths } from './chat-paths.ts'
import { toItems, type ChatMessage } from './history.ts'
import { chatRequest } from './schema.ts'

/** What a caller of this format wants of the answer that the model need not know. */
export interface ChatPreferences {
  /** `stream_options.include_usage`; undefined if the caller did not say. */
  readonly usage: boolean | undefined
  readonly reasoning: boolean
}

export interface ChatRead {
  /** The body in the terms of Responses. It has passed the validation of this format, but not that of Responses. */
  readonly body: JsonObject
  readonly preferences: ChatPreferences
  /** Maps a path of the translated body to the path in this format, for errors. */
  readonly pathOf: (path: string) => string
}

const WEB_SEARCH = /^web_search/

/** Fields of this format that Responses names differently or lacks. All others are copied unchanged. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  'tool_choice',
  'max_tokens',
  'max_completion_tokens',
  'random_seed',
  'response_format',
  'verbosity',
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'logprobs',
  'top_logprobs',
  'stream_options',
  'n',
  'usage',
  'audio',
  'functions',
  'function_call',
])

/**
 * Translates the parsed body of POST /api/v1/chat/completions to Responses. Throws GatewayError `invalid_request` (`invalid_prompt` for no messages or an
 * unknown role), naming one path of this format and one reason.
 */
export function toResponses(body: unknown): ChatRead {
  checkShape(body)
  const sent = body as JsonObject
  const translated: { [field: string]: unknown } = {}
  for (const field in sent) if (!OWN_FIELDS.has(field) && sent[field] != null) translated[field] = sent[field]
  if (thinkingOf(translated['thinking']) !== undefined) delete translated['thinking']
  if (sent['seed'] == null && sent['random_seed'] != null) translated['seed'] = sent['random_seed']
  const origins: number[] = []
  translated['input'] = itemsOf(sent['messages'] as readonly ChatMessage[], origins)
  Object.assign(translated, limitOf(sent), toolsOf(sent), textOf(sent), reasoningOf(sent), logprobsOf(sent))
  const thinks = sent['reasoning'] as { readonly exclude?: boolean | null } | null | undefined
  return {
    body: translated,
    preferences: {
      usage: (sent['stream_options'] as { readonly include_usage?: boolean | null } | null | undefined)?.include_usage ?? undefined,
      reasoning: !(thinks?.exclude ?? sent['include_reasoning'] === false),
    },
    pathOf: chatPaths(origins, (sent['tool_choice'] as JsonObject | null | undefined)?.['type']),
  }
}

/** Assistant messages may be empty. If every message is, this format reports it in its own terms. */
function itemsOf(messages: readonly ChatMessage[], origins: number[]): readonly InputItem[] {
  const items = toItems(messages, origins)
  if (items.length === 0) throw refuse('invalid_prompt', 'messages', 'says nothing: at least one message must have content')
  return items
}

/** A body of another format is reported as such before its fields are validated. */
function checkShape(body: unknown): void {
  if (isJsonObject(body)) {
    const { messages, input } = body
    if (messages == null && input != null)
      throw refuse(
        'invalid_prompt',
        'messages',
        'is missing: this is the Chat Completions format, in which "messages" takes what Responses call "input"',
      )
    if (Array.isArray(messages) && messages.length === 0) throw refuse('invalid_prompt', 'messages', 'is empty: send at least one message')
  }
  checkBody(chatRequest, body, 'messages')
}

function limitOf({ max_completion_tokens: limit, max_tokens: older }: JsonObject): JsonObject {
  const tokens = limit ?? older
  return tokens == null ? {} : { max_output_tokens: tokens }
}

function toolsOf({ tools, tool_choice: choice }: JsonObject): JsonObject {
  return {
    ...(tools == null ? {} : { tools: (tools as readonly JsonObject[]).map(toolOf) }),
    ...(choice == null ? {} : { tool_choice: choiceOf(choice) }),
  }
}

/** In this format schemas are strict only if the caller says so; in Responses vendors take an absent `strict` for true. */
function toolOf(tool: JsonObject): JsonObject {
  if (tool['type'] === 'function') {
    const { name, description, parameters, strict } = tool['function'] as JsonObject
    return { type: 'function', name, ...withValues({ description, parameters }), strict: strict ?? false, ...markOf(tool) }
  }
  if (tool['type'] === 'custom') {
    const { name, description, format } = tool['custom'] as JsonObject
    return { type: 'custom', name, ...withValues({ description, format: format == null ? undefined : formatOf(format as JsonObject) }) }
  }
  return WEB_SEARCH.test(tool['type'] as string) ? searchOf(tool) : tool
}

/** The vendors' names stand for the gateway's search, which delegates to upstreams that search by themselves. */
function searchOf({ type: _type, parameters, filters, ...beside }: JsonObject): JsonObject {
  const { blocked_domains: blocked, ...named } = (filters ?? {}) as JsonObject
  const wanted = withValues({ excluded_domains: blocked, ...named, ...beside, ...(parameters as JsonObject | null) })
  return { type: 'gateway:web_search', ...(Object.keys(wanted).length === 0 ? {} : { parameters: wanted }) }
}

/** A grammar is nested in an object of its own in this format. */
function formatOf({ type, grammar }: JsonObject): JsonObject {
  if (type !== 'grammar') return { type }
  const { syntax, definition } = grammar as JsonObject
  return { type, syntax, definition }
}

function choiceOf(sent: unknown): unknown {
  if (typeof sent === 'string') return sent === 'any' ? 'required' : sent
  const choice = sent as JsonObject
  if (choice['type'] !== 'allowed_tools') return chosenOf(choice)
  const { mode, tools } = choice['allowed_tools'] as { readonly mode: string; readonly tools: readonly JsonObject[] }
  return { type: 'allowed_tools', mode, tools: tools.map(chosenOf) }
}

function chosenOf(chosen: JsonObject): JsonObject {
  const { type } = chosen
  if (type === 'function' || type === 'custom') return { type, name: (chosen[type] as JsonObject)['name'] }
  return WEB_SEARCH.test(type as string) ? { ...chosen, type: 'gateway:web_search' } : chosen
}

function textOf({ response_format: format, verbosity }: JsonObject): JsonObject {
  if (format == null && verbosity == null) return {}
  return { text: { ...(format == null ? {} : { format: shapeOf(format as JsonObject) }), ...(verbosity == null ? {} : { verbosity }) } }
}

function shapeOf({ type, json_schema: wanted }: JsonObject): JsonObject {
  if (type !== 'json_schema') return { type }
  const { name, description, schema, strict } = wanted as JsonObject
  return { type, name, schema: schema ?? {}, ...withValues({ description, strict }) }
}

function reasoningOf({ reasoning, reasoning_effort: effort, thinking }: JsonObject): JsonObject {
  const switched = reasoning == null ? thinkingOf(thinking) : undefined
  if (switched?.['enabled'] === false) return { reasoning: switched }
  if (reasoning == null && effort == null && switched === undefined) return {}
  const { exclude: _, ...wanted } = (reasoning ?? switched ?? {}) as JsonObject
  const merged = { ...wanted, ...(effort != null && (wanted['effort'] == null || switched !== undefined) ? { effort } : {}) }
  return Object.keys(merged).length === 0 ? {} : { reasoning: merged }
}

/** The switch for reasoning that several vendors' servers have in this format. Undefined for any other value of that field. */
function thinkingOf(thinking: unknown): JsonObject | undefined {
  const { type, effort } = (typeof thinking === 'object' && thinking !== null ? thinking : {}) as JsonObject
  if (type === 'disabled') return { enabled: false }
  if (type !== 'enabled') return undefined
  return { enabled: true, ...(knownEffort.safeParse(effort).success ? { effort } : {}) }
}

/**
 * `top_logprobs` alone also asks for log probabilities, unless `logprobs` is false. `include` is no field of this format, so its other entries have not
 * been validated yet.
 */
function logprobsOf({ logprobs, top_logprobs: top, include }: JsonObject): JsonObject {
  const number = logprobs === false || top == null ? {} : { top_logprobs: top }
  const isWanted = logprobs ?? (top != null && (top as number) > 0)
  if (isWanted !== true || (include != null && !Array.isArray(include))) return number
  return { ...number, include: [...((include as readonly unknown[] | null | undefined) ?? []), 'message.output_text.logprobs'] }
}
