import { ERROR_KINDS, type ErrorType } from '../../core/error.ts'
import type { JsonObject, OutputItem, ReasoningItem } from '../../core/item.ts'
import { tierServed } from '../../core/service-tier.ts'
import { wellFormedJson } from '../../lib/json.ts'
import type { AnswerWriter } from '../responses/answer-writer.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'
import { createItem, type ItemContext } from '../responses/create-item.ts'
import { CallIds } from '../responses/item-ids.ts'
import type { OpenItem } from '../responses/open-item.ts'
import { members, presentUsage, type ResourceState } from '../responses/resource.ts'
import { WireWriter } from '../responses/wire.ts'
import { namedCosts } from '../shared/named-costs.ts'
import { ChatCall, ChatOther, ChatText, ChatThoughts } from './chat-items.ts'
import { ChatMessageWriter } from './chat-message.ts'
import type { ChatPreferences } from './to-responses.ts'

type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'error'

/**
 * The answer as chunks of chat completions, or as one completion. A stream begins with a chunk that has the role, and ends with one that has the finish
 * reason, then `[DONE]`. Usage is part of the last chunk, because some readers fail on a chunk without choices; callers who ask for it
 * (`include_usage: true`) get it as the vendor of the format sends it, in a chunk of its own.
 */
export class ChatWriter implements AnswerWriter {
  readonly streams: boolean
  readonly #options: AssemblerOptions
  readonly #preferences: ChatPreferences
  readonly #context: ItemContext
  readonly #message: ChatMessageWriter
  readonly #created: number
  /** Everything of a chunk before its choices. */
  #head = ''
  #text = ''
  answer = ''

  constructor(options: AssemblerOptions, preferences: ChatPreferences) {
    this.streams = options.stream
    this.#options = options
    this.#preferences = preferences
    this.#created = Math.floor(options.receivedAt / 1000)
    this.#context = { wire: new WireWriter(false), callIds: new CallIds(options), mirrorReasoning: false }
    const thoughts = { shows: preferences.reasoning, mirrors: options.mirrorReasoning === true }
    this.#message = new ChatMessageWriter(thoughts, options.stream ? (delta, logprobs) => this.#delta(delta, logprobs) : undefined)
  }

  begin({ model }: ResourceState): void {
    this.#head = this.#headFor(model)
    this.#delta('"role":"assistant","content":""')
  }

  item(item: OutputItem, id: string, index: number): OpenItem {
    const inner = createItem(item, id, index, this.#context)
    switch (item.type) {
      case 'message':
        return new ChatText(inner, this.#message)
      case 'reasoning':
        return new ChatThoughts(inner, this.#message, id, item as ReasoningItem)
      case 'function_call':
      case 'custom_tool_call':
        return new ChatCall(inner, this.#message)
      default:
        return new ChatOther(inner, this.#message)
    }
  }

  done(): void {
    // The item has already written its own end.
  }

  echo(body: string): void {
    this.#text += `${this.#head},"choices":[],"debug":{"echo_upstream_body":${body}}}\n\n`
  }

  sign(): void {
    this.#delta('')
  }

  end(state: ResourceState): void {
    const finish = this.#finish(state)
    const extra = `${this.#tier(state)}${state.extra === undefined ? '' : members(state.extra)}`
    const usage = this.#usage(state)
    if (!this.streams) this.answer = this.#completion(state, finish, `${usage}${extra}`)
    else {
      // A stream that began with a keep-alive did not know yet which model answers.
      this.#head = this.#headFor(state.model)
      const apart = this.#preferences.usage === true && usage !== ''
      const fault = state.error === undefined ? '' : `,"error":${faultOf(state.error)}`
      // Some readers do not see an error beside choices.
      if (fault !== '' && this.#options.errorEvent === true) this.#text += `data: {${fault.slice(1)}}\n\n`
      const delta = state.error === undefined ? '' : '"content":""'
      this.#text += `${this.#head},"choices":[{"index":0,"delta":{${delta}},"logprobs":null,${finish}}]${fault}${apart ? '' : usage}${extra}}\n\n`
      if (apart) this.#text += `${this.#head},"choices":[]${usage}}\n\n`
      this.#text += 'data: [DONE]\n\n'
    }
  }

  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  #headFor(model: string): string {
    return `data: {"id":${JSON.stringify(this.#options.id)},"object":"chat.completion.chunk","created":${this.#created},"model":${JSON.stringify(model)}`
  }

  #delta(delta: string, logprobs = 'null'): void {
    this.#text += `${this.#head},"choices":[{"index":0,"delta":{${delta}},"logprobs":${logprobs},"finish_reason":null}]}\n\n`
  }

  #completion({ model }: ResourceState, finish: string, rest: string): string {
    const { message, logprobs } = this.#message.whole()
    const choice = `{"index":0,"message":${wellFormedJson(JSON.stringify(message))},"logprobs":${JSON.stringify(logprobs)},${finish}}`
    return (
      `{"id":${JSON.stringify(this.#options.id)},"object":"chat.completion","created":${this.#created},"model":${JSON.stringify(model)}` +
      `,"choices":[${choice}],"system_fingerprint":null${rest}}`
    )
  }

  /** The finish reason, in the format's term and in the vendor's. */
  #finish({ status, incompleteReason, nativeReason }: ResourceState): string {
    const reason: FinishReason =
      status === 'failed'
        ? 'error'
        : incompleteReason === 'max_output_tokens'
          ? 'length'
          : incompleteReason === 'content_filter'
            ? 'content_filter'
            : // Nobody may run a call that was cut off.
              this.#message.broken
              ? 'length'
              : this.#message.calls > 0
                ? 'tool_calls'
                : 'stop'
    return `"finish_reason":"${reason}","native_finish_reason":${JSON.stringify(nativeReason?.toWellFormed() ?? null)}`
  }

  #tier({ serviceTier, tier, dropped }: ResourceState): string {
    return `,"service_tier":${JSON.stringify(tierServed(serviceTier, tier, this.#options.request, dropped))}`
  }

  #usage({ usage, cost, isByok }: ResourceState): string {
    if (usage === undefined || (this.streams && this.#preferences.usage === false)) return ''
    const {
      input_tokens: _input,
      output_tokens: _output,
      input_tokens_details: read,
      output_tokens_details: written,
      ...rest
    } = presentUsage(usage, cost, isByok ?? false)
    const { audioInputTokens: audio } = usage
    const costs = rest['cost_details'] as JsonObject | undefined
    return `,"usage":${JSON.stringify({
      ...rest,
      prompt_tokens_details: audio === undefined ? read : { ...(read as JsonObject), audio_tokens: audio },
      completion_tokens_details: written,
      ...(costs === undefined ? {} : { cost_details: namedCosts(costs) }),
    })}`
  }
}

/** In the same shape as an error before the first byte. */
function faultOf({ errorType, message }: NonNullable<ResourceState['error']>): string {
  const { status } = ERROR_KINDS[errorType as ErrorType]
  return JSON.stringify({ code: status, message: message.toWellFormed(), metadata: { error_type: errorType } })
}
