import type { Decoder } from '../../core/dialect.ts'
import type { GatewayError } from '../../core/error.ts'
import type { ErrorType } from '../../core/error.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import type { Logprob } from '../../core/item.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { Usage } from '../../core/usage.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import type { ReasoningFields } from '../shared/answer-writer.ts'
import type { OpenCall } from '../shared/call-writer.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { brokenAnswer, emptyAnswer, errorFromPayload } from '../shared/errors.ts'
import { parseAnswer } from '../shared/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import { CitationCollector } from './citations.ts'
import type { CohereTarget } from './content.ts'
import { decodeLogprobs, logprobsOf } from './logprobs.ts'
import { PLAN, THINKING } from './messages.ts'
import { readDelta } from './read-delta.ts'
import type { Writes } from './read-delta.ts'
import { toolsOf } from './request.ts'
import { hasCounts } from '../shared/usage-counts.ts'
import { decodeUsage } from './usage.ts'

type Json = { readonly [field: string]: unknown }

/** Frames that are not JSON are skipped; with more than this, the answer is an error. */
const MAX_MALFORMED = 16

const FINISH: { readonly [native: string]: FinishReason | ErrorType } = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  TOOL_CALL: 'tool_calls',
  MAX_TOKENS: 'length',
  ERROR_LIMIT: 'length',
  ERROR_TOXIC: 'content_policy_violation',
  TIMEOUT: 'timeout',
  ERROR: 'provider_unavailable',
  USER_CANCEL: 'provider_unavailable',
}

const REASONS: ReadonlySet<string> = new Set<FinishReason>(['stop', 'tool_calls', 'length', 'content_filter', 'refusal'])
const isReason = (finish: FinishReason | ErrorType): finish is FinishReason => REASONS.has(finish)

/** Decodes events and whole bodies; see `Decoder`. One instance per answer. */
export class CohereDecoder implements Decoder {
  finished = false
  readonly #target: CohereTarget
  readonly #writer: AnswerWriter
  readonly #learns: boolean
  readonly #template = new DeltaTemplate<Writes>(readDelta)
  readonly #citations = new CitationCollector()
  readonly #calls = new Map<number, OpenCall>()
  #malformed = 0
  #frames = 0
  #native: string | undefined
  #usage: Usage | undefined
  /** The kind and the text of the open reasoning item. */
  #kind: typeof PLAN | typeof THINKING = THINKING
  #thought = ''
  /** The text of the message, to place citations. */
  #text = ''

  constructor(request: ModelRequest, target: CohereTarget, fastPath = true) {
    this.#target = target
    this.#learns = fastPath
    this.#writer = new AnswerWriter({ names: () => toolsOf(request).names, endReasoning: () => this.#reasoningFields() })
  }

  /** The usage, also for an answer that ends as a failure. */
  get counted(): Usage | undefined {
    return this.#usage
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    const writer = this.#writer
    writer.out = out
    const { kind } = this.#template
    const key = kind === 'text' ? writer.messageKey : kind !== undefined && kind === this.#kind ? writer.reasoningKey : undefined
    const text = key === undefined ? undefined : this.#template.match(data)
    if (text === undefined) return this.#frame(data, event, out)
    if (kind === 'text') {
      this.#text += text
      writer.plainText(key!, text)
    } else {
      this.#thought += text
      writer.plainReasoning(key!, text)
    }
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    const value = parseAnswer(text)
    if (!isObject(value)) throw this.#unavailable(text.trim() === '' ? 'an empty answer' : 'an answer that is not JSON', text)
    const { message } = value
    if (!isObject(message)) {
      if (typeof message === 'string') throw errorFromPayload(value, { providerName: this.#target.providerName })
      throw this.#unavailable('an answer without a message', text)
    }
    this.#start(value)
    if (typeof message[PLAN] === 'string') this.#reason(PLAN, message[PLAN])
    const content = Array.isArray(message['content'])
      ? message['content']
      : typeof message['content'] === 'string'
        ? [{ text: message['content'] }]
        : []
    content.forEach((part: unknown, index) => isObject(part) && this.#content(part, index, true, logprobsOf(part['text'], value['logprobs'])))
    // A call ends the text that the citations refer to, so citations come first.
    for (const citation of Array.isArray(message['citations']) ? message['citations'] : []) this.#citations.add(citation)
    const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
    calls.forEach((call: unknown, index) => isObject(call) && this.#callStart(call, index))
    this.#end(value)
  }

  end(out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    throw this.#unavailable(this.#frames === 0 ? 'no answer: the connection closed without one' : 'an answer that broke off before its end')
  }

  #frame(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (data.startsWith('[DONE]')) return this.end(out)
    if (data.trim() === '') return
    const frame = parseAnswer(data)
    if (event === 'error') throw errorFromPayload(frame ?? data, { providerName: this.#target.providerName })
    if (!isObject(frame)) {
      if (++this.#malformed > MAX_MALFORMED) throw this.#unavailable('frames that are not JSON', data)
      return
    }
    this.#frames++
    const before = out.length
    const type = asString(frame['type']) ?? event
    this.#event(type, frame)
    if (this.#learns && out.length === before + 1 && (type === 'content-delta' || type === 'tool-plan-delta')) this.#learn(data, out[before]!)
  }

  #event(type: string | undefined, frame: Json): void {
    const delta = isObject(frame['delta']) ? frame['delta'] : {}
    const message = isObject(delta['message']) ? delta['message'] : {}
    const index = typeof frame['index'] === 'number' ? frame['index'] : 0
    this.#start(type === 'message-start' ? frame : {})
    switch (type) {
      case 'message-start':
        return
      case 'tool-plan-delta':
        return this.#reason(PLAN, asString(message[PLAN]) ?? '')
      case 'content-start':
        return isObject(message['content']) ? this.#content(message['content'], index, true) : undefined
      case 'content-delta':
        return isObject(message['content']) ? this.#content(message['content'], index, false, decodeLogprobs(frame['logprobs'])) : undefined
      case 'content-end':
        return this.#writer.closeReasoning()
      case 'tool-call-start':
        for (const call of list(message['tool_calls'])) this.#callStart(call, index)
        return
      case 'tool-call-delta':
        for (const call of list(message['tool_calls'])) this.#callArguments(call, index)
        return
      case 'tool-call-end':
        return this.#callEnd(index)
      case 'citation-start':
        for (const citation of list(message['citations'])) this.#citations.add(citation)
        return this.#citations.flush(this.#text, this.#writer)
      case 'message-end':
        return this.#end(delta)
      default:
        // Errors have no type, only a message.
        if (typeof frame['message'] === 'string' || frame['error'] !== undefined)
          throw errorFromPayload(frame, { providerName: this.#target.providerName })
    }
  }

  #start(frame: Json): void {
    const id = asString(frame['id'])
    this.#writer.start(id ? { upstreamId: id } : {})
  }

  // ---- content ----

  #content(content: Json, index: number, starts: boolean, logprobs?: readonly Logprob[]): void {
    if (typeof content[THINKING] === 'string') return this.#reason(THINKING, content[THINKING])
    const { text } = content
    if (typeof text !== 'string') return
    if (starts) this.#citations.blockStart(index, this.#writer.textLength)
    if (text === '') return
    const before = this.#writer.textLength
    this.#writer.text(text, logprobs)
    // White space is held back until text follows, so only what the writer has written counts.
    if (this.#writer.messageKey === undefined) return
    if (before === 0) {
      this.#text = ''
      this.#citations.restart(index)
    }
    const written = this.#writer.textLength - before
    this.#text += written === text.length ? text : ' '.repeat(written - text.length) + text
    this.#citations.flush(this.#text, this.#writer)
  }

  #reason(kind: typeof PLAN | typeof THINKING, text: string): void {
    if (text === '') return
    if (kind !== this.#kind) this.#writer.closeReasoning()
    this.#kind = kind
    this.#thought += text
    this.#writer.reasoning('text', text)
  }

  /** The envelope contains the text and the field that it belongs to; only this provider can use it. */
  #reasoningFields(): ReasoningFields {
    const text = this.#thought
    this.#thought = ''
    return { format: 'unknown', encrypted_content: sealReasoning({ format: 'unknown', scope: this.#target.scope, text, data: this.#kind }) }
  }

  // ---- tool calls ----

  #callStart(call: Json, index: number): void {
    const fn = isObject(call['function']) ? call['function'] : {}
    const name = asString(fn['name']) ?? ''
    if (name === '') throw this.#unavailable('a tool call without a name')
    this.#citations.flush(this.#text, this.#writer, true)
    this.#calls.set(index, this.#writer.openCall(asString(call['id']) ?? '', name))
    this.#callArguments(call, index)
  }

  #callArguments(call: Json, index: number): void {
    const open = this.#calls.get(index)
    const fn = isObject(call['function']) ? call['function'] : {}
    const { arguments: piece } = fn
    const text = typeof piece === 'string' ? piece : piece == null ? '' : JSON.stringify(piece)
    if (open !== undefined) this.#writer.arguments(open, text)
  }

  #callEnd(index: number): void {
    const call = this.#calls.get(index)
    if (call !== undefined && (call.arguments.trim() === '' || call.end.isWhole(call.arguments))) this.#writer.closeCall(call)
  }

  #learn(data: string, event: ModelEvent): void {
    if (event.type === 'text-delta' && event.plain === true) this.#template.learn(data, { kind: 'text', field: 'text', text: event.delta })
    else if (event.type === 'reasoning-delta' && event.plain === true)
      this.#template.learn(data, { kind: this.#kind, field: this.#kind, text: event.delta })
  }

  // ---- the end ----

  #end(fields: Json): void {
    const writer = this.#writer
    this.#native = asString(fields['finish_reason'])
    if (isObject(fields['usage']) && hasCounts(fields['usage'])) this.#usage = decodeUsage(fields['usage'])
    writer.flushHeldSpace()
    const finish = this.#finish(fields['error'])
    this.#citations.flush(this.#text, writer, true)
    const reason: FinishReason = finish === 'stop' || finish === 'tool_calls' ? (writer.hasCalls ? 'tool_calls' : 'stop') : finish
    if (!writer.hasContent && (reason === 'stop' || reason === 'tool_calls')) throw emptyAnswer(this.#target.providerName, this.#native, finish)
    this.finished = true
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    })
  }

  /** The finish reason; throws if it is a failure. */
  #finish(error: unknown): FinishReason {
    const { providerName } = this.#target
    const native = this.#native ?? 'COMPLETE'
    const finish = Object.hasOwn(FINISH, native) ? FINISH[native]! : 'stop'
    if (isReason(finish)) return finish
    if (finish === 'content_policy_violation' && this.#writer.hasContent) return 'content_filter'
    if (finish === 'provider_unavailable' && typeof error === 'string' && error !== '')
      throw errorFromPayload({ message: error }, { providerName, status: 500 })
    throw this.#unavailable(`an answer that ended with "${this.#native}"`, undefined, finish)
  }

  #unavailable(what: string, raw?: string, type?: ErrorType): GatewayError {
    return brokenAnswer(this.#target.providerName, `sent ${what}`, { native: this.#native, raw, type })
  }
}

/** A single element comes without a list around it. */
function list(value: unknown): Json[] {
  return (Array.isArray(value) ? value : [value]).filter(isObject)
}
