import type { InputItem, JsonObject } from '../../core/item.ts'
import { isJsonObject } from '../../lib/json.ts'
import { markOf } from '../shared/cache-mark.ts'
import { checkBody, withValues, refuse } from '../shared/check-body.ts'
import type { Message } from './block.ts'
import { systemOf, toItems } from './history.ts'
import { messagePaths } from './message-paths.ts'
import { nativeTool, searchesTools } from './native-tools.ts'
import { messagesRequest, NO_LIMIT, SHARED } from './schema.ts'
import { toolsAtTheEnd, type OfferedTool } from './tool-changes.ts'
import { userNameIn } from './user-name.ts'

export interface MessagesPreferences {
  /** Whether the caller wants to read reasoning; its signatures are sent in any case. */
  readonly thinking: boolean
}

export interface MessagesRead {
  /** The body in the terms of Responses. It has passed the validation of this format, but not that of Responses. */
  readonly body: JsonObject
  readonly preferences: MessagesPreferences
  /** Maps a path of the translated body to the path in this format, for errors. */
  readonly pathOf: (path: string) => string
}

const MAX_USER = 256

/**
 * Translates the parsed body of POST /api/v1/messages to Responses; `exactly`: parses it again, with numbers as they were sent. Throws GatewayError
 * `invalid_request` (`invalid_prompt` for messages that are absent or empty, or an unknown role), naming one path of this format and one reason.
 */
export function messagesToResponses(body: unknown, exactly?: () => unknown): MessagesRead {
  checkShape(body)
  const sent = body as JsonObject
  const translated: { [field: string]: unknown } = {}
  for (const field of SHARED) if (sent[field] != null) translated[field] = sent[field]
  const { instructions, items } = systemOf(sent['system'])
  if (instructions !== undefined) translated['instructions'] = instructions
  const messages = sent['messages'] as readonly Message[]
  const conversation = conversationOf(messages, exactly)
  if (conversation.every((turn) => turn.length === 0)) throw refuse('invalid_prompt', 'messages', 'say nothing: send at least one with content')
  translated['input'] = [...items, ...conversation.flat()]
  const chosen = (sent['tool_choice'] as JsonObject | null | undefined)?.['name']
  const offered = withOneSearch(toolsAtTheEnd((sent['tools'] ?? []) as readonly JsonObject[], messages, chosen))
  const tools = offered.map(({ tool }) => tool)
  Object.assign(translated, plainOf(sent), toolsOf(tools, sent['tool_choice']), thinkingOf(sent), modelsOf(sent), tierOf(sent), userOf(sent))
  return {
    body: translated,
    preferences: { thinking: (sent['thinking'] as { readonly display?: unknown } | null | undefined)?.display !== 'omitted' },
    pathOf: messagePaths(
      [...items.map(() => -1), ...conversation.flatMap((turn, index) => turn.map(() => index))],
      offered.map(({ path }) => path),
    ),
  }
}

/**
 * Inputs of calls are taken from the exact parse where a double has changed a number: an id of twenty digits would otherwise be another one in the
 * history.
 */
function conversationOf(messages: readonly Message[], exactly: (() => unknown) | undefined): readonly (readonly InputItem[])[] {
  let exact: readonly Message[] | undefined
  return messages.map((message, at) => {
    // By block, because a message may hold tens of thousands of calls.
    let places: ReadonlyMap<unknown, number> | undefined
    return toItems([message], (block) => {
      exact ??= ((exactly?.() ?? { messages }) as { readonly messages: readonly Message[] }).messages
      places ??= new Map((message.content as readonly JsonObject[]).map((each, place) => [each, place]))
      return (exact[at]!.content as readonly JsonObject[])[places.get(block)!]!['input']
    })
  })
}

function checkShape(body: unknown): void {
  if (isJsonObject(body) && Array.isArray(body['messages']) && body['messages'].length === 0)
    throw refuse('invalid_prompt', 'messages', 'is empty: send at least one message')
  checkBody(messagesRequest, body, 'messages')
  refuseTwoLists(body as JsonObject)
}

/** The order of the two lists would be unclear. */
function refuseTwoLists({ models, fallbacks }: JsonObject): void {
  if (models != null && fallbacks != null)
    throw refuse('invalid_request', 'fallbacks', 'cannot stand beside "models": one of them says what to try next')
}

function plainOf({ max_tokens: limit, stop_sequences: stop, temperature, top_p, top_k, stream }: JsonObject): JsonObject {
  return withValues({
    max_output_tokens: limit === 0 ? undefined : limit,
    // Zero means that the prompt is only to be cached.
    prompt_cache_options: limit === 0 ? { prewarm: true } : undefined,
    stop: (stop as readonly string[] | null | undefined)?.length ? stop : undefined,
    temperature,
    top_p: top_p === NO_LIMIT ? undefined : top_p,
    top_k: top_k === NO_LIMIT ? undefined : top_k,
    stream,
  })
}

function toolsOf(list: readonly JsonObject[], choice: unknown): JsonObject {
  const { type, name, disable_parallel_tool_use: alone } = (choice ?? {}) as JsonObject
  // Without a search tool, nobody would ever find deferred tools.
  const searches = list.some(searchesTools)
  return {
    ...(list.length === 0 ? {} : { tools: list.map((tool) => toolOf(tool, searches)) }),
    ...(choice == null ? {} : { tool_choice: type === 'any' ? 'required' : type === 'tool' ? forced(name, list) : type }),
    ...(alone === true ? { parallel_tool_calls: false } : {}),
  }
}

/** Both kinds of tool search become the same tool, and no tool may be offered twice. */
function withOneSearch(offered: readonly OfferedTool[]): readonly OfferedTool[] {
  const first = offered.findIndex(({ tool }) => searchesTools(tool))
  return offered.filter(({ tool }, at) => at === first || nativeTool(tool)?.['type'] !== 'gateway:tool_search')
}

const isCallers = ({ type }: JsonObject): boolean => type == null || type === 'custom'

function toolOf(tool: JsonObject, searches = false): JsonObject {
  const native = isCallers(tool) ? undefined : (nativeTool(tool) ?? tool)
  if (native !== undefined && native['type'] !== 'function') return native
  const { name, description, input_schema: parameters, strict } = tool
  const { defer_loading: deferred, eager_input_streaming: eager, input_examples: examples } = tool
  return {
    ...(native ?? { type: 'function', name, ...withValues({ description }), parameters, strict: strict ?? false }),
    ...(deferred === true && searches ? { defer_loading: true } : {}),
    ...(eager === true ? { eager_input_streaming: true } : {}),
    ...withValues({ input_examples: examples }),
    ...markOf(tool),
  }
}

/** A tool that the gateway runs is identified by its type. */
function forced(name: unknown, tools: readonly JsonObject[]): JsonObject {
  const own = tools.find((tool) => !isCallers(tool) && (tool['name'] === name || String(tool['type']).endsWith(`:${String(name)}`)))
  const type = own === undefined ? 'function' : toolOf(own)['type']
  return type === 'function' ? { type, name } : { type }
}

function thinkingOf({ thinking, output_config: config, output_format: older, max_tokens: limit }: JsonObject): JsonObject {
  const { type, budget_tokens: budget } = (thinking ?? {}) as JsonObject
  const { effort, format: newer } = (config ?? {}) as { readonly effort?: unknown; readonly format?: unknown }
  const format = (newer ?? older) as { readonly schema: unknown } | null | undefined
  // Only one vendor has reasoning between calls, and itself treats it as disabled for models without it.
  const none = type === 'disabled' || type === 'between_tools'
  const reasoning = none ? { enabled: false } : withValues({ enabled: type === undefined ? undefined : true, max_tokens: budget, effort })
  return {
    // The token limit of this format covers reasoning and answer together.
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning: limit == null || none ? reasoning : { ...reasoning, within_output: true } }),
    ...(format == null ? {} : { text: { format: { type: 'json_schema', name: 'answer', schema: format.schema, strict: true } } }),
  }
}

function modelsOf({ fallbacks }: JsonObject): JsonObject {
  const models = ((fallbacks ?? []) as readonly { readonly model: string }[]).map(({ model }) => model)
  return models.length === 0 ? {} : { models }
}

/** The gateway's own tiers by name, and one of the vendor's; its other one, `auto`, leaves the choice open. */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ...['default', 'fast', 'flex', 'priority', 'scale'].map((tier) => [tier, tier] as const),
  ['standard_only', 'default'],
])

function tierOf({ service_tier: tier, speed, inference_geo: place }: JsonObject): JsonObject {
  return withValues({ service_tier: TIERS.get(tier), speed: speed === 'fast' ? speed : undefined, inference_geo: place })
}

/** Programs put more than a user's name into this field; what is too long for a name is dropped. */
function userOf({ user, metadata }: JsonObject): JsonObject {
  const { user_id: id } = (metadata ?? {}) as { readonly user_id?: string | null }
  if (user != null || id == null || id === '') return {}
  const name = userNameIn(id)
  return name.length <= MAX_USER ? { user: name } : {}
}
