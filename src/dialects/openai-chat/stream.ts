import type { Decoder, Target } from '../../core/dialect.ts'
import type { GatewayError } from '../../core/error.ts'
import type { ErrorType } from '../../core/error.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { Usage } from '../../core/usage.ts'
import { AnswerAside } from '../shared/answer-aside.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import { wantsSealedReasoning } from '../shared/reasoning-replay.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { brokenAnswer, emptyAnswer, errorFromPayload } from '../shared/errors.ts'
import { parseAnswer } from '../shared/exact-json.ts'
import { asString, isObject } from '../shared/json.ts'
import { hasCounts, overlayCounts, runsAlone } from '../shared/usage-counts.ts'
import { CitationCollector, pagesOf } from './annotations.ts'
import { DeltaReader } from './delta-reader.ts'
import { lessonOf, readDelta, type LearnedField } from './fast-path.ts'
import { mapFinish, strongerFinish, stopSequenceIn } from './finish.ts'
import type { Finish } from './finish.ts'
import { choiceOf, deltaOf, errorOf, extraOf, follow } from './frame.ts'
import type { Json } from './frame.ts'
import { knownShape, rememberShape } from './known-shapes.ts'
import type { OpenAiChatOptions } from './options.ts'
import { ReasoningCollector } from './reasoning-collector.ts'
import { toolsOf } from './request.ts'
import { answerToolName } from './response-format.ts'
import { withRequiredOptions } from './required-options.ts'
import { ToolCallDecoder } from './tool-calls.ts'
import { decodeUsage } from './usage.ts'
import { asksSearch } from './web-search.ts'

/** Frames that are not JSON are skipped; with more than this, the answer is an error. */
const MAX_MALFORMED = 16

/** Decodes chunks and whole bodies of chat servers; see `Decoder`. One instance per answer. */
export class ChatDecoder implements Decoder {
  finished = false
  readonly #request: ModelRequest
  readonly #target: Target<OpenAiChatOptions>
  readonly #writer: AnswerWriter
  readonly #reasoning: ReasoningCollector
  readonly #reader: DeltaReader
  readonly #tools: ToolCallDecoder
  /** Set if the answer is a call of a hidden tool. */
  readonly #aside: AnswerAside | undefined
  readonly #template = new DeltaTemplate<LearnedField>(readDelta)
  readonly #citations = new CitationCollector()
  readonly #learns: boolean
  #malformed = 0
  #frames = 0
  /** The index of the choice with the answer. */
  #choice: number | undefined
  #native: string | undefined
  #sequence: string | undefined
  #usage: Json | undefined
  #nativeTier: string | undefined

  constructor(request: ModelRequest, target: Target<OpenAiChatOptions>, fastPath = true) {
    this.#request = request
    this.#target = target
    this.#learns = fastPath
    this.#reasoning = new ReasoningCollector(withRequiredOptions(request, target).options, target.scope, wantsSealedReasoning(request))
    this.#writer = new AnswerWriter({ names: () => toolsOf(request, target.options).names, endReasoning: () => this.#reasoning.end() })
    this.#writer.mayBeCited = asksSearch(request, target.options)
    const path = target.options.tool_signature_path
    const name = answerToolName(request, target)
    const answerTool = name === undefined ? undefined : { name, aside: new AnswerAside(this.#writer) }
    this.#aside = answerTool?.aside
    this.#reader = new DeltaReader({
      target,
      writer: this.#writer,
      reasoning: this.#reasoning,
      citations: this.#citations,
      aside: this.#aside,
    })
    this.#tools = new ToolCallDecoder(this.#writer, {
      providerName: target.providerName,
      ...(answerTool === undefined ? {} : { answerTool }),
      ...(path.length === 0
        ? { signatureOf: (call: Json) => extraOf(call, target.options.tool_extra), onSignature: (extra: string) => this.#reader.extra(extra) }
        : { signatureOf: (call: Json) => follow(call, path), onSignature: (signature: string) => this.#reader.signature(signature) }),
    })
  }

  /** After a finish reason only the usage and the end mark may follow, and some servers send neither. */
  get settled(): boolean {
    return this.#native !== undefined
  }

  /** Some servers send a finish reason next to text that continues, and errors after it; only the counts always come last. */
  get entire(): boolean {
    return this.#native !== undefined && this.#usage !== undefined
  }

  /** Some servers count with every chunk. */
  get counted(): Usage | undefined {
    const { searches } = this.#citations
    if (this.#usage === undefined) return runsAlone({ searches })
    return decodeUsage(this.#usage, this.#target.options.usage, { searches, pictures: this.#reader.pictures })
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    const writer = this.#writer
    writer.out = out
    const { kind } = this.#template
    if (kind === 'content' ? writer.messageKey !== undefined && this.#reader.passing : kind !== undefined && writer.reasoningKey !== undefined) {
      const text = event === 'error' ? undefined : this.#template.match(data)
      if (text !== undefined) {
        if (kind === 'content') return writer.plainText(writer.messageKey!, text)
        this.#reasoning.text(text)
        return writer.plainReasoning(writer.reasoningKey!, text)
      }
    }
    if (kind === undefined && this.#learns && event !== 'error' && this.#isKnown(data)) return
    this.#frame(data, event, out)
  }

  /** Whether the frame has the shape of frames in earlier answers, so that its effect is known without parsing it. */
  #isKnown(data: string): boolean {
    const known = this.#writer.started && !this.#citations.waits ? knownShape(this.#target) : undefined
    if (known === undefined || known.choice !== this.#choice || known.tier !== this.#nativeTier) return false
    const text = this.#template.adopt(known.shape, data)
    if (text === undefined) return false
    this.#frames++
    if (known.shape.kind === 'content') this.#reader.text(text)
    else this.#reader.thoughts(text)
    return true
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    const value = parseAnswer(text)
    const frame: unknown = Array.isArray(value) ? value[0] : value
    if (!isObject(frame)) throw this.#unavailable(text.trim() === '' ? 'an empty answer' : 'an answer that is not JSON', text)
    this.#throwError(frame)
    if (!Array.isArray(frame['choices'])) throw this.#unavailable('an answer without choices', text)
    this.#chunk(frame, true)
    this.#complete(true)
  }

  end(out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    if (this.#native === undefined && !(this.#target.options.close_ends_answer && this.#hasAny())) {
      throw this.#unavailable(this.#frames === 0 ? 'no answer: the connection closed without one' : 'an answer that broke off before its end')
    }
    this.#complete(false)
  }

  #frame(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (data.startsWith('[DONE]')) {
      if (this.#frames === 0) throw this.#unavailable('no answer: the stream was empty')
      return this.#complete(true)
    }
    if (data.trim() === '' || event === 'ping') return
    const value = parseAnswer(data)
    if (event === 'error') throw errorFromPayload(value ?? data, { providerName: this.#target.providerName })
    const frame: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
    if (!isObject(frame)) {
      if (++this.#malformed > MAX_MALFORMED) throw this.#unavailable('frames that are not JSON', data)
      return
    }
    this.#throwError(frame)
    this.#frames++
    const before = out.length
    this.#reader.busy = false
    this.#chunk(frame, false)
    if (this.#learns && !this.#reader.busy && out.length === before + 1) this.#learn(data, frame, out[before]!)
  }

  #throwError(frame: Json): void {
    const error = errorOf(frame)
    if (error !== undefined) throw errorFromPayload(error, { providerName: this.#target.providerName })
  }

  #chunk(frame: Json, isMessage: boolean): void {
    const choice = this.#choiceOf(frame)
    if (!this.#writer.started) this.#start(frame, choice)
    const tier = frame['service_tier']
    if (typeof tier === 'string' && tier !== '' && tier !== this.#nativeTier) {
      this.#nativeTier = tier
      this.#reader.busy = true
    }
    this.#noteUsage(frame['usage'] ?? (isObject(frame['x_groq']) ? frame['x_groq']['usage'] : undefined) ?? choice?.['usage'])
    if (this.#citations.sources(frame['citations'], frame['search_results'], this.#writer)) this.#reader.busy = true
    if (choice === undefined) return
    // Some servers repeat the whole message in their last frame.
    const repeated = !isMessage && isObject(choice['message']) && !isObject(choice['delta']) && this.#hasAny()
    const delta = repeated ? undefined : deltaOf(choice)
    if (delta !== undefined) {
      if (this.#citations.sources(undefined, pagesOf(delta['executed_tools']), this.#writer)) this.#reader.busy = true
      this.#reader.read(delta, choice, isMessage, this.#tools)
    }
    const native = choice['finish_reason']
    if (typeof native === 'string' && native !== '') {
      this.#reader.busy = true
      this.#native = strongerFinish(this.#native, native, this.#target.options.finish_reasons)
      this.#sequence ??= stopSequenceIn(choice, this.#request)
    }
  }

  #choiceOf(frame: Json): Json | undefined {
    const choice = choiceOf(frame['choices'], this.#choice)
    if (choice !== undefined) this.#choice ??= typeof choice['index'] === 'number' ? choice['index'] : 0
    return choice
  }

  #start(frame: Json, choice: Json | undefined): void {
    const id = asString(frame['id'])
    // Some servers report on the prompt first, in a chunk without the answer's id and model.
    if (!id && choice === undefined) return
    const model = asString(frame['model'])
    const tier = this.#tierOf(asString(frame['service_tier']))
    this.#writer.start({ ...(id ? { upstreamId: id } : {}), ...(model ? { model } : {}), ...(tier ? { serviceTier: tier } : {}) })
  }

  /** The contract's name of the tier, if this server has its own. Several call the usual one "standard" in answers, whatever it is called in requests. */
  #tierOf(native: string | undefined): string | undefined {
    if (native === 'standard') return 'default'
    return Object.entries(this.#target.options.tier_names).find(([, name]) => name === native)?.[0] ?? native
  }

  #noteUsage(usage: unknown): void {
    if (!isObject(usage)) return
    this.#reader.busy = true
    // Several reports are merged: the last one may only contain the cost of the rest.
    if (hasCounts(usage)) this.#usage = this.#usage === undefined ? usage : overlayCounts(this.#usage, usage)
  }

  #learn(data: string, frame: Json, event: ModelEvent): void {
    const delta = choiceOf(frame['choices'], this.#choice)?.['delta']
    if (!isObject(delta) || (event.type === 'text-delta' && !this.#reader.passing)) return
    const lesson = lessonOf(delta, event)
    if (lesson === undefined || !this.#template.learn(data, lesson)) return
    const { shape } = this.#template
    if (shape !== undefined) rememberShape(this.#target, { shape, choice: this.#choice, tier: this.#nativeTier })
  }

  // ---- the end ----

  #hasAny(): boolean {
    return this.#writer.hasContent || this.#tools.any
  }

  /** `ended` means that the server itself declared the end. */
  #complete(ended: boolean): void {
    const writer = this.#writer
    const finish = this.#native === undefined ? (ended ? 'stop' : undefined) : mapFinish(this.#native, this.#target.options.finish_reasons)
    this.#failOn(finish)
    this.#reader.end()
    this.#tools.finish()
    this.#aside?.flush()
    writer.flushHeldSpace()
    this.#citations.finish(writer)
    const reason = this.#reasonOf(finish)
    if (
      !writer.hasContent &&
      reason !== 'length' &&
      reason !== 'content_filter' &&
      reason !== 'refusal' &&
      !this.#target.options.allow_empty_answer
    ) {
      throw emptyAnswer(this.#target.providerName, this.#native, finish)
    }
    const usage = this.counted
    const tier = this.#tierOf(this.#nativeTier ?? asString(this.#usage?.['service_tier']))
    this.finished = true
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(this.#sequence === undefined ? {} : { stopped: { sequence: this.#sequence } }),
      ...(usage === undefined ? {} : { usage }),
      ...(tier === undefined ? {} : { serviceTier: tier }),
    })
  }

  #failOn(finish: Finish | undefined): void {
    if (finish === 'error') throw this.#unavailable(`an answer that ended with "${this.#native}"`)
    if (finish === 'overloaded') throw this.#unavailable('an answer it could not finish for lack of resources', undefined, 'provider_overloaded')
  }

  /** What was decoded decides, calls or nothing but a refusal, not the finish reason; an undeclared one counts as a normal stop. */
  #reasonOf(finish: Finish | undefined): FinishReason {
    if (finish === 'length' || finish === 'content_filter' || finish === 'refusal') return finish
    const { hasCalls, hasText, refused } = this.#writer
    if (hasCalls) return 'tool_calls'
    return refused && !hasText ? 'refusal' : 'stop'
  }

  #unavailable(what: string, raw?: string, type?: ErrorType): GatewayError {
    return brokenAnswer(this.#target.providerName, `sent ${what}`, { native: this.#native, raw, type })
  }
}
