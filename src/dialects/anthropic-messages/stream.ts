import type { Decoder } from '../../core/dialect.ts'
import type { GatewayError } from '../../core/error.ts'
import type { FinishReason, ModelEvent, Stopped } from '../../core/event.ts'
import { asksToPrewarm } from '../../core/prewarm.ts'
import type { ModelRequest } from '../../core/request.ts'
import { promptCount, type Usage } from '../../core/usage.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { brokenAnswer, emptyAnswer, errorFromPayload } from '../shared/errors.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { BlockDecoder } from './block-decoder.ts'
import { mapStopReason, PAUSED } from './finish.ts'
import type { MessagesTarget } from './options.ts'
import { hasCounts, runsAlone } from '../shared/usage-counts.ts'
import { decodeUsage, overlayUsage, serviceTierOf, priceFactorOf } from './usage.ts'

type Json = { readonly [field: string]: unknown }

/** Frames that are not JSON are skipped; with more than this, the answer is an error. */
const MAX_MALFORMED = 16

/** Decodes events and whole messages of this format; see `Decoder`. One instance per answer. */
export class MessagesDecoder implements Decoder {
  finished = false
  readonly #target: MessagesTarget
  readonly #isPrewarmed: boolean
  readonly #blocks: BlockDecoder
  readonly #writer: AnswerWriter
  #frames = 0
  #malformed = 0
  #messageId: string | undefined
  #native: string | undefined
  #stopDetails: Json | undefined
  #sequence: string | undefined
  #usage: Json | undefined

  constructor(request: ModelRequest, target: MessagesTarget, fastPath = true) {
    this.#target = target
    this.#isPrewarmed = asksToPrewarm(request)
    this.#blocks = new BlockDecoder(request, target, fastPath)
    this.#writer = this.#blocks.writer
  }

  /** After the stop reason only the end mark may follow, which some proxies lose. */
  get settled(): boolean {
    return this.#native !== undefined
  }

  /** The prompt is counted at the start. */
  get counted(): Usage | undefined {
    const usage = this.#usage
    const { searches } = this.#blocks.server
    if (usage === undefined || !hasCounts(usage)) return runsAlone({ searches })
    return decodeUsage(usage, priceFactorOf(usage, this.#target), searches)
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    if (event !== 'error' && this.#blocks.takeFast(data)) return
    this.#frame(data, event)
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    const value = parseExact(text)
    const message: unknown = Array.isArray(value) ? value[0] : value
    if (!isObject(message)) throw this.#unavailable(text.trim() === '' ? 'an empty answer' : 'an answer that is not JSON', text)
    this.#throwError(message)
    if (!Array.isArray(message['content'])) throw this.#unavailable('an answer without content', text)
    this.#wholeMessage(message)
  }

  end(out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    if (this.#native === undefined) {
      throw this.#unavailable(this.#frames === 0 ? 'no answer: the connection closed without one' : 'an answer that broke off before its end')
    }
    this.#complete()
  }

  // ---- frames ----

  #frame(data: string, event: string | undefined): void {
    if (data.startsWith('[DONE]')) {
      if (this.#native !== undefined) this.#complete()
      return
    }
    if (data.trim() === '') return
    const value = tryParseJson(data)
    if (event === 'error') throw errorFromPayload(value ?? data, { providerName: this.#target.providerName })
    if (!isObject(value)) {
      if (++this.#malformed > MAX_MALFORMED) throw this.#unavailable('frames that are not JSON', data)
      return
    }
    this.#throwError(value)
    this.#frames++
    const index = typeof value['index'] === 'number' ? value['index'] : 0
    switch (asString(value['type']) ?? event) {
      case 'message_start':
        return this.#messageStart(value['message'])
      case 'content_block_start':
        this.#blocks.stop(index)
        return this.#blockStart(index, data)
      case 'content_block_delta':
        return isObject(value['delta']) ? this.#blocks.delta(index, value['delta'], data) : undefined
      case 'content_block_stop':
        return this.#blocks.stop(index)
      case 'message_delta':
        return this.#messageDelta(value)
      case 'message_stop':
        return this.#complete()
      case 'message':
        if (Array.isArray(value['content'])) this.#wholeMessage(value)
        return
      default:
        // Pings, and future kinds of events.
        return
    }
  }

  #throwError(frame: Json): void {
    const { error } = frame
    const failed = frame['type'] === 'error' || (isObject(error) && Object.keys(error).length > 0) || (typeof error === 'string' && error !== '')
    if (failed) throw errorFromPayload(frame, { providerName: this.#target.providerName })
  }

  #messageStart(message: unknown): void {
    if (!isObject(message)) return
    const id = asString(message['id'])
    if (this.#writer.started || this.#writer.hasContent) {
      // Proxies repeat the start. The start of another answer means that two were spliced together.
      if (id !== undefined && this.#messageId !== undefined && id !== this.#messageId) throw this.#unavailable('two answers in one')
      return
    }
    this.#messageId = id
    const model = asString(message['model'])
    this.#usage = overlayUsage(this.#usage, message['usage'])
    const tier = serviceTierOf(this.#usage)
    const prompt = promptCount(this.counted)
    this.#writer.start({
      ...(id ? { upstreamId: id } : {}),
      ...(model ? { model } : {}),
      ...(tier === undefined ? {} : { serviceTier: tier }),
      ...(prompt === undefined ? {} : { prompt }),
    })
  }

  /** A block may contain the whole input of a call, whose numbers must stay exact. */
  #blockStart(index: number, data: string): void {
    const frame = parseExact(data)
    if (isObject(frame) && isObject(frame['content_block'])) this.#blocks.start(index, frame['content_block'])
  }

  #messageDelta(frame: Json): void {
    const delta = isObject(frame['delta']) ? frame['delta'] : {}
    const native = delta['stop_reason']
    if (typeof native === 'string' && native !== '') this.#native ??= native
    if (isObject(delta['stop_details'])) this.#stopDetails = delta['stop_details']
    this.#sequence = asString(delta['stop_sequence']) ?? this.#sequence
    this.#usage = overlayUsage(this.#usage, frame['usage'])
  }

  #wholeMessage(message: Json): void {
    this.#messageStart(message)
    for (const [index, block] of (message['content'] as unknown[]).entries()) {
      if (!isObject(block)) continue
      this.#blocks.start(index, block)
      this.#blocks.stop(index)
    }
    this.#messageDelta({ delta: message, usage: message['usage'] })
    this.#complete()
  }

  // ---- the end ----

  #complete(): void {
    const writer = this.#writer
    const mapped = mapStopReason(this.#native)
    // The server runs its own tools after the caller has run its tools: https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools
    const isPaused = this.#native === PAUSED
    this.#blocks.finish(isPaused || mapped === 'tool_calls')
    // There is nothing to send back from which it could continue.
    if (isPaused && !writer.hasContent) throw this.#unavailable('an answer it paused before its beginning')
    const reason = this.#reasonOf(mapped)
    if (!writer.hasContent && !this.#isPrewarmed && reason !== 'length' && reason !== 'content_filter' && !this.#target.options.allow_empty_answer) {
      throw emptyAnswer(this.#target.providerName, this.#native, mapped)
    }
    // A refusal may interrupt a call.
    if (mapped === 'refusal') this.#blocks.cutLastCall()
    this.finished = true
    const tier = serviceTierOf(this.#usage)
    const usage = this.counted
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(isPaused ? { paused: true } : {}),
      ...this.#stopped(mapped),
      ...(usage === undefined ? {} : { usage }),
      ...(tier === undefined ? {} : { serviceTier: tier }),
    })
  }

  /** Decoded calls decide, not the stop reason. A refusal with an explanation is reported as a refusal, one without as a content filter. */
  #reasonOf(mapped: FinishReason): FinishReason {
    if (mapped === 'refusal') {
      const explanation = asString(this.#stopDetails?.['explanation'])
      if (explanation) this.#writer.refusal(explanation)
      return this.#writer.hasContent ? 'refusal' : 'content_filter'
    }
    // `max_tokens` is all it says of an answer that nobody asked for.
    if (mapped === 'length') return this.#isPrewarmed && !this.#writer.hasContent ? 'stop' : mapped
    return this.#writer.hasCalls ? 'tool_calls' : 'stop'
  }

  #stopped(mapped: FinishReason): { readonly stopped?: Stopped } {
    const { category, explanation } = this.#stopDetails ?? {}
    if (mapped === 'refusal' && this.#stopDetails !== undefined)
      return { stopped: { refusal: { category: asString(category) ?? null, explanation: asString(explanation) ?? null } } }
    return this.#sequence ? { stopped: { sequence: this.#sequence } } : {}
  }

  #unavailable(what: string, raw?: string): GatewayError {
    return brokenAnswer(this.#target.providerName, `sent ${what}`, { native: this.#native, raw })
  }
}
