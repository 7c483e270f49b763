import { ERROR_KINDS, type ErrorType } from '../../core/error.ts'
import type { Stopped } from '../../core/event.ts'
import type { JsonObject, OutputItem } from '../../core/item.ts'
import { asksToPrewarm } from '../../core/prewarm.ts'
import { tierServed } from '../../core/service-tier.ts'
import type { PromptCount } from '../../core/usage.ts'
import { isJsonObject, wellFormedJson } from '../../lib/json.ts'
import type { AnswerWriter } from '../responses/answer-writer.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { createItem, type ItemContext } from '../responses/create-item.ts'
import { CallIds } from '../responses/item-ids.ts'
import type { OpenItem } from '../responses/open-item.ts'
import { presentUsage, type ResourceState } from '../responses/resource.ts'
import { WireWriter } from '../responses/wire.ts'
import { namedCosts } from '../shared/named-costs.ts'
import { BlockWriter } from './block-writer.ts'
import { faultTypeOf } from './error-envelope.ts'
import { OtherBlocks, TextBlocks, ThinkingBlock, ToolUseBlock } from './message-items.ts'
import type { MessagesPreferences } from './to-responses.ts'

/** The answer as events of Messages, or as one message. The total usage is only known at the end, so it is part of the last event. */
export class MessagesWriter implements AnswerWriter {
  readonly streams: boolean
  readonly #options: AssemblerOptions
  readonly #preferences: MessagesPreferences
  readonly #context: ItemContext
  readonly #blocks: BlockWriter
  #text = ''
  answer = ''

  constructor(options: AssemblerOptions, preferences: MessagesPreferences) {
    this.streams = options.stream
    this.#options = options
    this.#preferences = preferences
    this.#context = { wire: new WireWriter(false), callIds: new CallIds(options), mirrorReasoning: false }
    this.#blocks = new BlockWriter(options.stream ? (type, members) => this.#event(type, members) : undefined)
  }

  begin(state: ResourceState): void {
    const message = this.#message(state, [], null, this.#promptUsage(state))
    this.#event('message_start', `"message":${JSON.stringify(message)}`)
  }

  item(item: OutputItem, id: string, index: number): OpenItem {
    const inner = createItem(item, id, index, this.#context)
    switch (item.type) {
      case 'message':
        return new TextBlocks(inner, this.#blocks)
      case 'reasoning':
        return new ThinkingBlock(inner, this.#blocks, this.#preferences.thinking)
      case 'function_call':
      case 'custom_tool_call':
        return new ToolUseBlock(inner, this.#blocks)
      default:
        return new OtherBlocks(inner, this.#blocks)
    }
  }

  done(): void {
    // The item has already written its own end.
  }

  echo(body: string): void {
    this.#event('ping', `"debug":{"echo_upstream_body":${body}}`)
  }

  sign(): void {
    this.#text += 'event: ping\ndata: {"type":"ping"}\n\n'
  }

  failing(): void {
    this.#blocks.failing = true
  }

  end(state: ResourceState): void {
    const { error, extra } = state
    const more = extra === undefined ? {} : extra
    if (error !== undefined) {
      const { errorType, message } = error
      const body = {
        error: { type: faultTypeOf(ERROR_KINDS[errorType as ErrorType].status), message: message.toWellFormed(), error_type: errorType },
        ...more,
      }
      return this.#event('error', inside(body))
    }
    const reason = this.#reason(state)
    const usage = this.#usage(state)
    if (!this.streams) this.answer = wellFormedJson(JSON.stringify({ ...this.#message(state, this.#blocks.all, reason, usage), ...more }))
    else {
      this.#event('message_delta', inside({ delta: this.#ended(reason, state.stopped), usage }))
      this.#text += `event: message_stop\ndata: ${wellFormedJson(JSON.stringify({ type: 'message_stop', ...more }))}\n\n`
    }
  }

  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  #event(type: string, members: string): void {
    this.#text += `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`
  }

  #message({ model, stopped }: ResourceState, content: readonly JsonObject[], reason: string | null, usage: JsonObject): JsonObject {
    const { id } = this.#options
    return { id, type: 'message', role: 'assistant', model, content, ...this.#ended(reason, stopped), usage }
  }

  #ended(reason: string | null, stopped: Stopped | undefined): JsonObject {
    const { refusal } = stopped ?? {}
    const details = reason === 'refusal' && refusal !== undefined ? { type: 'refusal', ...refusal } : null
    return { stop_reason: reason, stop_sequence: this.#sequence(reason, stopped), stop_details: details, container: null }
  }

  #reason({ incompleteReason, nativeReason, stopped }: ResourceState): string {
    if (incompleteReason === 'max_output_tokens') return nativeReason === WINDOW_FULL ? nativeReason : 'max_tokens'
    if (incompleteReason === 'content_filter' || nativeReason === 'refusal') return 'refusal'
    // Readers make an object of any beginning of a call, and nobody may run a call that was cut off.
    if (this.#blocks.broken) return 'max_tokens'
    if (this.#blocks.calls > 0) return 'tool_use'
    if (this.#blocks.refused) return 'refusal'
    if (asksToPrewarm(this.#options.request)) return 'max_tokens'
    return stopped?.sequence !== undefined || nativeReason?.toLowerCase() === 'stop_sequence' ? 'stop_sequence' : 'end_turn'
  }

  /** The matched stop sequence. Not every upstream names it; if the request has only one, it is known anyway. */
  #sequence(reason: string | null, stopped: Stopped | undefined): string | null {
    if (reason !== 'stop_sequence') return null
    const { stop } = this.#options.request as { readonly stop?: readonly string[] | null }
    return stopped?.sequence ?? (stop?.length === 1 ? stop[0]! : null)
  }

  /** Some readers take the usage of the prompt only from the first event. */
  #promptUsage({ prompt }: ResourceState): JsonObject {
    return prompt === undefined ? { ...NO_USAGE, input_tokens: this.#options.promptTokens?.() ?? 0 } : { ...NO_USAGE, ...inputUsage(prompt) }
  }

  #usage({ usage, cost, isByok, serviceTier, tier, dropped }: ResourceState): JsonObject {
    if (usage === undefined) return NO_USAGE
    const { serverToolUse: tools } = usage
    const {
      cost: paid,
      cost_details: details,
      is_byok: byok,
    } = presentUsage(usage, cost, isByok ?? false) as { readonly [field: string]: JsonObject | undefined }
    const served = tierServed(serviceTier, tier, this.#options.request, dropped)
    return {
      ...inputUsage(usage),
      output_tokens: usage.outputTokens,
      output_tokens_details: { thinking_tokens: usage.reasoningTokens },
      server_tool_use: { web_search_requests: tools?.['web_search'] ?? 0, web_fetch_requests: tools?.['web_fetch'] ?? 0 },
      service_tier: served === 'priority' ? served : 'standard',
      inference_geo: placeIn(usage.raw),
      cost: paid ?? null,
      ...(details === undefined ? {} : { cost_details: namedCosts(details) }),
      is_byok: byok,
    }
  }
}

/** This format does not include tokens read from a cache or written to it in `input_tokens`. */
const inputUsage = ({ inputTokens, cachedTokens: read, cacheWriteTokens: written, cacheWrite1hTokens: hour = 0 }: PromptCount): JsonObject => ({
  input_tokens: Math.max(0, inputTokens - read - written),
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written,
  cache_creation: { ephemeral_5m_input_tokens: Math.max(0, written - hour), ephemeral_1h_input_tokens: hour },
})

/** Where an answer was made, in the field of the vendor that says so. */
function placeIn(raw: unknown): string | null {
  const place = isJsonObject(raw) ? raw['inference_geo'] : undefined
  return typeof place === 'string' ? place : null
}

const WINDOW_FULL = 'model_context_window_exceeded'

const NO_USAGE: JsonObject = {
  input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: null,
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  inference_geo: null,
}

/** The members of an object as JSON, without its braces. */
const inside = (members: object): string => wellFormedJson(JSON.stringify(members)).slice(1, -1)
