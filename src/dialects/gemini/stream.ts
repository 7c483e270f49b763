import type { Decoder, Target } from '../../core/dialect.ts'
import type { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import { promptCount, type Usage } from '../../core/usage.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { brokenAnswer, emptyAnswer } from '../shared/errors.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { scrubbedExcerpt } from '../shared/scrub.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { countsTail } from '../shared/template-tail.ts'
import { isAbsurd, overlayCounts, runsAlone } from '../shared/usage-counts.ts'
import { blockedPrompt, markUnreadableSignature, streamError } from './error.ts'
import { isBareStop, isOfModel, isUnspecified, mapFinish, strongerFinish } from './finish.ts'
import { firstCandidate, readText, reasonOf, type Json } from './frame.ts'
import { FunctionCallDecoder } from './function-calls.ts'
import { GroundingCollector } from './grounding.ts'
import { decodeLogprobs } from './logprobs.ts'
import { traitsOf } from './model-traits.ts'
import type { GeminiOptions } from './options.ts'
import { PartReader } from './part-reader.ts'
import { SignatureWriter } from './signatures.ts'
import { asksSearch, toolsOf } from './tools.ts'
import { decodeUsage } from './usage.ts'

/** Frames that are not JSON are skipped; with more than this, the answer is an error. */
const MAX_MALFORMED = 16

/** The header in which AI Studio names the tier that served, https://ai.google.dev/gemini-api/docs/priority-inference; older models have no field for it. */
const TIER_HEADER = 'x-gemini-service-tier'

/** The two APIs' names of the contract's tiers. */
const TIERS: ReadonlyMap<string, string> = new Map([
  ['standard', 'default'],
  ['on_demand', 'default'],
  ['on_demand_flex', 'flex'],
  ['on_demand_priority', 'priority'],
])

/** Decodes chunks and whole bodies of generateContent; see `Decoder`. One instance per answer. */
export class GeminiDecoder implements Decoder {
  finished = false
  readonly #target: Target<GeminiOptions>
  readonly #writer: AnswerWriter
  readonly #signatures: SignatureWriter
  readonly #calls: FunctionCallDecoder
  readonly #parts: PartReader
  readonly #grounding = new GroundingCollector()
  readonly #template: DeltaTemplate<'text'> | undefined
  #malformed = 0
  #frames = 0
  #native: string | undefined
  #finishMessage: string | undefined
  #usage: Json = {}
  /** As the headers name it. */
  #tier: string | undefined
  /** The last frame of the fast path, whose counts override those of earlier frames. */
  #unread: string | undefined
  #responseId = ''
  /** A piece arrived without a finish reason, so this server uses STOP only at the end. */
  #meansStop = false

  constructor(request: ModelRequest, target: Target<GeminiOptions>, fastPath = true) {
    this.#target = target
    this.#template = fastPath ? new DeltaTemplate<'text'>(readText, countsTail) : undefined
    this.#writer = new AnswerWriter({ names: () => toolsOf(request, target.options).names, endReasoning: () => this.#signatures.take() })
    this.#writer.mayBeCited = asksSearch(request, target.options)
    this.#signatures = new SignatureWriter(this.#writer, target.scope)
    this.#calls = new FunctionCallDecoder({
      writer: this.#writer,
      providerName: target.providerName,
      declared: () => new Set(toolsOf(request, target.options).all.map(({ name }) => name)),
      // If the answer has no id, its position in the conversation distinguishes its calls from those of other turns.
      seed: () => this.#responseId || `turn ${request.input.length}`,
      sign: (signature) => this.#signatures.write(signature, 'call'),
    })
    this.#parts = new PartReader({ target, writer: this.#writer, signatures: this.#signatures, calls: this.#calls })
  }

  /**
   * After a finish reason the connection closes next, without an end mark. STOP next to a piece is not conclusive if it was already next to the first
   * one: old models always write it.
   */
  get settled(): boolean {
    return this.#native !== undefined && (!this.#parts.spoke || this.#meansStop || !isBareStop(this.#native))
  }

  /** Counts arrive with the last chunk. */
  get entire(): boolean {
    return this.settled && this.#hasCounts
  }

  /** Counts grow with every chunk. */
  get counted(): Usage | undefined {
    this.#readLastUsage()
    const made = this.#grounding.searches
    const searches = traitsOf(this.#target.options, this.#target.upstreamModel).search_unit === 'prompt' ? Math.min(1, made) : made
    return this.#hasCounts ? decodeUsage(this.#usage, searches) : runsAlone({ searches })
  }

  head(headers: { readonly [name: string]: unknown }): void {
    this.#tier = asString(headers[TIER_HEADER])
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    const writer = this.#writer
    writer.out = out
    const template = this.#template
    if (template !== undefined && writer.messageKey !== undefined && event !== 'error') {
      const text = template.match(data)
      if (text !== undefined) {
        this.#parts.said += text
        this.#unread = data
        this.#parts.spoke = true
        return writer.plainText(writer.messageKey, text)
      }
    }
    this.#frame(data, event)
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    const value = text.includes('"functionCall"') ? parseExact(text) : tryParseJson(text)
    // Without `alt=sse` a stream is an array of the frames.
    const frames: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const frame of frames) {
      if (!isObject(frame)) throw this.#unavailable(text.trim() === '' ? 'an empty answer' : 'an answer that is not JSON', text)
      this.#object(frame)
    }
    if (this.#frames === 0) throw this.#unavailable('an answer without candidates', text)
    this.end(out)
  }

  end(out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    if (this.#native === undefined) {
      throw this.#unavailable(this.#frames === 0 ? 'no answer: the connection closed without one' : 'an answer that broke off before its end')
    }
    this.#complete(this.#native)
  }

  // ---- one frame ----

  #frame(data: string, event: string | undefined): void {
    if (data.startsWith('[DONE]')) return
    if (data.trim() === '') return
    this.#readLastUsage()
    const value = data.includes('"functionCall"') ? parseExact(data) : tryParseJson(data)
    if (event === 'error') throw streamError(value ?? data, this.#target.providerName)
    const frame: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
    if (!isObject(frame)) {
      if (++this.#malformed > MAX_MALFORMED) throw this.#unavailable('frames that are not JSON', data)
      return
    }
    this.#parts.busy = false
    const before = this.#writer.out.length
    this.#object(frame)
    if (!this.#parts.busy && this.#template !== undefined && this.#writer.out.length === before + 1) {
      const written = this.#writer.out[before]!
      if (written.type === 'text-delta' && written.plain === true) this.#template.learn(data, { kind: 'text', field: 'text', text: written.delta })
    }
  }

  #object(frame: Json): void {
    const { error } = frame
    if (isObject(error) || typeof error === 'string') throw streamError(frame, this.#target.providerName)
    this.#noteUsage(frame['usageMetadata'])
    const candidate = firstCandidate(frame['candidates'])
    const feedback = isObject(frame['promptFeedback']) ? frame['promptFeedback'] : undefined
    if (candidate === undefined && feedback !== undefined && asString(feedback['blockReason']))
      throw blockedPrompt(feedback, this.#target.providerName)
    if (candidate === undefined && !isObject(frame['usageMetadata']) && frame['responseId'] === undefined) return
    this.#frames++
    this.#start(frame)
    if (candidate !== undefined) this.#candidate(candidate)
  }

  #start(frame: Json): void {
    if (this.#writer.started) return
    this.#parts.busy = true
    const id = asString(frame['responseId'])
    const model = asString(frame['modelVersion'])
    if (id) this.#responseId = id
    const prompt = promptCount(this.counted)
    const tier = this.#tierServed()
    this.#writer.start({
      ...(id ? { upstreamId: id } : {}),
      ...(model ? { model } : {}),
      ...(tier === undefined ? {} : { serviceTier: tier }),
      ...(prompt === undefined ? {} : { prompt }),
    })
  }

  /** Counts are cumulative and complete only at the end, so later ones override earlier ones. */
  #noteUsage(usage: unknown): void {
    if (!isObject(usage)) return
    this.#usage = overlayCounts(this.#usage, usage)
  }

  #candidate(candidate: Json): void {
    const reader = this.#parts
    const content = candidate['content']
    const logprobs = decodeLogprobs(candidate['logprobsResult'])
    if (logprobs !== undefined) reader.busy = true
    reader.read(isObject(content) && Array.isArray(content['parts']) ? content['parts'] : [], logprobs)
    if (this.#grounding.push(candidate)) reader.busy = this.#writer.mayBeCited = true
    const native = asString(candidate['finishReason'])
    if (native === undefined || isUnspecified(native)) {
      if (this.#parts.spoke) this.#meansStop = true
      return
    }
    this.#parts.busy = true
    this.#native = strongerFinish(this.#native, native)
    this.#finishMessage = asString(candidate['finishMessage']) ?? this.#finishMessage
  }

  // ---- the end ----

  #complete(native: string): void {
    const writer = this.#writer
    const finish = mapFinish(native)
    if (finish === 'error') throw this.#failed(native)
    const cut = finish === 'length' || finish === 'content_filter'
    this.#parts.endCode()
    this.#calls.finish(cut)
    writer.flushHeldSpace()
    if (!writer.hasContent && !cut) throw emptyAnswer(this.#target.providerName, this.#native, isBareStop(native) ? finish : undefined)
    this.#cite(cut)
    const usage = this.counted
    const tier = this.#tierServed()
    this.finished = true
    writer.end(reasonOf(finish, writer.hasCalls), {
      nativeReason: native,
      ...(usage === undefined ? {} : { usage }),
      ...(tier === undefined ? {} : { serviceTier: tier }),
    })
  }

  /** In the contract's words. */
  #tierServed(): string | undefined {
    const tier = (asString(this.#usage['serviceTier']) ?? asString(this.#usage['trafficType']) ?? this.#tier)?.toLowerCase()
    return tier ? (TIERS.get(tier) ?? tier) : undefined
  }

  /** Citations belong to the message while it is open; its signatures and the search follow. */
  #cite(cut: boolean): void {
    const writer = this.#writer
    const search = this.#grounding.searchCall()
    const length = writer.citableLength
    if (length !== undefined) {
      const base = this.#parts.said.length - length
      for (const annotation of this.#grounding.annotations(this.#parts.said)) {
        if (annotation.type !== 'url_citation') {
          if (annotation.index >= base) writer.annotation({ ...annotation, index: annotation.index - base })
        } else if (annotation.start_index >= base)
          writer.annotation({ ...annotation, start_index: annotation.start_index - base, end_index: annotation.end_index - base })
      }
    }
    writer.endCitations()
    if (search !== undefined) writer.closeMessage(cut ? 'incomplete' : undefined)
    this.#signatures.finish(cut ? 'incomplete' : undefined)
    if (search !== undefined) writer.wholeItem(search)
  }

  #readLastUsage(): void {
    if (this.#unread === undefined) return
    const frame = tryParseJson(this.#unread)
    this.#unread = undefined
    if (isObject(frame)) this.#noteUsage(frame['usageMetadata'])
  }

  get #hasCounts(): boolean {
    const counts = Object.entries(this.#usage).some(([field, count]) => field.endsWith('TokenCount') && typeof count === 'number' && count > 0)
    return counts && !isAbsurd(this.#usage)
  }

  #failed(native: string): GatewayError {
    const detail = this.#finishMessage === undefined ? '' : `: ${scrubbedExcerpt(this.#finishMessage, 300)}`
    const error = markUnreadableSignature(this.#unavailable(`an answer that ended with "${native}"${detail}`))
    return isOfModel(native) ? error.with({ fruitless: true }) : error
  }

  #unavailable(what: string, raw?: string): GatewayError {
    return brokenAnswer(this.#target.providerName, `sent ${what}`, { native: this.#native, raw })
  }
}
