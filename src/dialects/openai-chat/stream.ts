import type { Decoder, Target } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import type { ErrorType } from '../../core/error.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import { publicReasoningFormat, sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { AnswerAside } from '../shared/answer-aside.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import { wantsSealedReasoning } from '../shared/reasoning-replay.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { errorFromPayload } from '../shared/errors.ts'
import { scrubbedExcerpt } from '../shared/scrub.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { ThinkSplitter } from '../shared/think-tags.ts'
import type { ThinkSink } from '../shared/think-tags.ts'
import { hasCounts } from '../shared/usage-counts.ts'
import { CitationCollector, decodeLogprobs } from './annotations.ts'
import { lessonOf, readDelta, type LearnedField } from './fast-path.ts'
import { mapFinish } from './finish.ts'
import type { Finish } from './finish.ts'
import { choiceOf, deltaOf, errorOf, follow, imageUrl, legacyCall } from './frame.ts'
import type { Json } from './frame.ts'
import { knownShape, rememberShape } from './known-shapes.ts'
import type { OpenAiChatOptions } from './options.ts'
import { ReasoningCollector } from './reasoning-collector.ts'
import { toolsOf } from './request.ts'
import { answerToolName } from './response-format.ts'
import { ToolCallDecoder } from './tool-calls.ts'
import { decodeUsage } from './usage.ts'

/** Frames that are no JSON are skipped; more of them than this are no answer. */
const MAX_MALFORMED = 16

/** Decodes chunks and whole bodies of chat servers; see `Decoder`. One instance per answer. */
export class ChatDecoder implements Decoder {
  finished = false
  readonly #target: Target<OpenAiChatOptions>
  readonly #writer: AnswerWriter
  readonly #reasoning: ReasoningCollector
  readonly #splitter: ThinkSplitter
  readonly #tools: ToolCallDecoder
  /** Where the answer is a call of a hidden tool. */
  readonly #aside: AnswerAside | undefined
  readonly #template = new DeltaTemplate<LearnedField>(readDelta)
  readonly #citations = new CitationCollector()
  readonly #learns: boolean
  #malformed = 0
  #frames = 0
  /** Index of the choice that is the answer. */
  #choice: number | undefined
  #native: string | undefined
  #usage: Json | undefined
  #nativeTier: string | undefined
  /** Logprobs of the delta in hand, given to its first text. */
  #logprobs: ReturnType<typeof decodeLogprobs>
  /** Set by every frame that did more than write text. */
  #busy = false

  constructor(request: ModelRequest, target: Target<OpenAiChatOptions>, fastPath = true) {
    this.#target = target
    this.#learns = fastPath
    this.#reasoning = new ReasoningCollector(target.options, target.scope, wantsSealedReasoning(request))
    this.#writer = new AnswerWriter({ names: () => toolsOf(request, target.options).names, endReasoning: () => this.#reasoning.end() })
    this.#splitter = new ThinkSplitter(target.options.think_tags)
    const path = target.options.tool_signature_path
    const name = answerToolName(request, target)
    const answerTool = name === undefined ? undefined : { name, aside: new AnswerAside(this.#writer) }
    this.#aside = answerTool?.aside
    this.#tools = new ToolCallDecoder(this.#writer, {
      providerName: target.providerName,
      ...(answerTool === undefined ? {} : { answerTool }),
      ...(path.length === 0
        ? {}
        : { signatureOf: (call: Json) => follow(call, path), onSignature: (signature: string) => this.#signature(signature) }),
    })
  }

  /** A finish reason was seen: only usage and the end mark may follow, and some servers send neither. */
  get settled(): boolean {
    return this.#native !== undefined
  }

  /** Servers put a reason beside a text that goes on, and send errors after it; only the counts come last everywhere. */
  get entire(): boolean {
    return this.#native !== undefined && this.#usage !== undefined
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    const writer = this.#writer
    writer.out = out
    const { kind } = this.#template
    if (kind === 'content' ? writer.messageKey !== undefined && this.#splitter.passing : kind !== undefined && writer.reasoningKey !== undefined) {
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

  /** A frame like those of an answer before this one: what it does is known without parsing it. */
  #isKnown(data: string): boolean {
    const known = this.#writer.started ? knownShape(this.#target) : undefined
    if (known === undefined || known.choice !== this.#choice || known.tier !== this.#nativeTier) return false
    const text = this.#template.adopt(known.shape, data)
    if (text === undefined) return false
    this.#frames++
    if (known.shape.kind === 'content') this.#splitter.push(text, this.#sink)
    else this.#sink('reasoning', text)
    return true
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    const value = tryParseJson(text)
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
    const value = tryParseJson(data)
    if (event === 'error') throw errorFromPayload(value ?? data, { providerName: this.#target.providerName })
    const frame: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
    if (!isObject(frame)) {
      if (++this.#malformed > MAX_MALFORMED) throw this.#unavailable('frames that are not JSON', data)
      return
    }
    this.#throwError(frame)
    this.#frames++
    const before = out.length
    this.#busy = false
    this.#chunk(frame, false)
    if (this.#learns && !this.#busy && out.length === before + 1) this.#learn(data, frame, out[before]!)
  }

  #throwError(frame: Json): void {
    const error = errorOf(frame)
    if (error !== undefined) throw errorFromPayload(error, { providerName: this.#target.providerName })
  }

  #chunk(frame: Json, whole: boolean): void {
    const choice = this.#choiceOf(frame)
    if (!this.#writer.started) this.#start(frame, choice)
    const tier = frame['service_tier']
    if (typeof tier === 'string' && tier !== '' && tier !== this.#nativeTier) {
      this.#nativeTier = tier
      this.#busy = true
    }
    this.#noteUsage(frame['usage'] ?? (isObject(frame['x_groq']) ? frame['x_groq']['usage'] : undefined) ?? choice?.['usage'])
    if (this.#citations.sources(frame['citations'], frame['search_results'])) this.#busy = true
    if (choice === undefined) return
    // Some servers repeat the whole message in their last frame.
    const repeated = !whole && isObject(choice['message']) && !isObject(choice['delta']) && this.#hasAny()
    const delta = repeated ? undefined : deltaOf(choice)
    if (delta !== undefined) this.#delta(delta, choice, whole)
    const native = choice['finish_reason']
    if (typeof native === 'string' && native !== '') {
      this.#busy = true
      this.#native ??= native
    }
  }

  #choiceOf(frame: Json): Json | undefined {
    const choice = choiceOf(frame['choices'], this.#choice)
    if (choice !== undefined) this.#choice ??= typeof choice['index'] === 'number' ? choice['index'] : 0
    return choice
  }

  #start(frame: Json, choice: Json | undefined): void {
    const id = asString(frame['id'])
    // Some servers speak of the prompt first, in a chunk that names neither answer nor model.
    if (!id && choice === undefined) return
    const model = asString(frame['model'])
    const tier = this.#tierOf(asString(frame['service_tier']))
    this.#writer.start({ ...(id ? { upstreamId: id } : {}), ...(model ? { model } : {}), ...(tier ? { serviceTier: tier } : {}) })
  }

  /** The tier in the contract's word, where this server has one of its own. */
  #tierOf(native: string | undefined): string | undefined {
    return Object.entries(this.#target.options.tier_names).find(([, name]) => name === native)?.[0] ?? native
  }

  #noteUsage(usage: unknown): void {
    if (!isObject(usage)) return
    this.#busy = true
    if (hasCounts(usage)) this.#usage = usage
  }

  // ---- one delta, or a whole message ----

  #delta(delta: Json, choice: Json, whole: boolean): void {
    this.#reason(delta)
    const logprobs = decodeLogprobs(choice['logprobs'])
    if (logprobs !== undefined) this.#busy = true
    this.#logprobs = logprobs
    this.#content(delta['content'])
    if (typeof delta['refusal'] === 'string') this.#writer.refusal(delta['refusal'])
    this.#images(delta['images'])
    if (this.#citations.annotations(delta['annotations'], this.#writer)) this.#busy = true
    const legacy = legacyCall(delta)
    const hasCalls = legacy !== undefined || (Array.isArray(delta['tool_calls']) && delta['tool_calls'].length > 0)
    if (!hasCalls && this.#target.options.tool_signature_path.length === 0) return
    const signature = follow(delta, this.#target.options.tool_signature_path)
    if (signature !== undefined) this.#signature(signature)
    if (!hasCalls) return
    this.#busy = true
    this.#splitter.end(this.#sink)
    this.#tools.push(delta['tool_calls'], whole)
    if (legacy !== undefined) this.#tools.push([{ index: 0, function: legacy }], whole)
  }

  /** One spelling only: servers that send several repeat the same text in each. */
  #reason(delta: Json): void {
    const details = delta['reasoning_details']
    if (Array.isArray(details) && details.length > 0) {
      this.#busy = true
      this.#reasoning.details(details, this.#writer)
      if (details.some((entry) => isObject(entry) && (entry['text'] || entry['summary']))) return
    }
    const text = asString(delta['reasoning_content']) || asString(delta['reasoning'])
    if (text) this.#sink('reasoning', text)
  }

  #content(content: unknown): void {
    if (typeof content === 'string') {
      if (content !== '') this.#splitter.push(content, this.#sink)
      return
    }
    if (!Array.isArray(content)) return
    this.#busy = true
    for (const part of content) {
      if (!isObject(part)) continue
      if (part['type'] === 'thinking') this.#thinking(part['thinking'])
      else if (part['type'] === 'refusal') this.#writer.refusal(asString(part['refusal']) ?? '')
      else if (part['type'] === 'image_url') this.#images([part])
      else if (typeof part['text'] === 'string' && part['text'] !== '') this.#splitter.push(part['text'], this.#sink)
    }
  }

  #thinking(thinking: unknown): void {
    if (typeof thinking === 'string') return this.#sink('reasoning', thinking)
    if (!Array.isArray(thinking)) return
    for (const part of thinking) if (isObject(part) && typeof part['text'] === 'string') this.#sink('reasoning', part['text'])
  }

  readonly #sink: ThinkSink = (kind, text) => {
    if (kind === 'text') {
      if (this.#aside === undefined) this.#writer.text(text, this.#logprobs)
      else this.#aside.text(text)
      this.#logprobs = undefined
    } else {
      this.#writer.reasoning('text', text)
      this.#reasoning.text(text)
    }
  }

  /** Pictures beside the text, as data URLs. */
  #images(images: unknown): void {
    if (!Array.isArray(images)) return
    for (const image of images) {
      const url = imageUrl(image)
      if (url === undefined) continue
      this.#busy = true
      const comma = url.startsWith('data:') ? url.indexOf(',') : -1
      this.#writer.wholeItem({ type: 'image_generation_call', status: 'completed', result: comma < 0 ? url : url.slice(comma + 1) })
    }
  }

  /** A signature that must come back with the call travels as a reasoning item before it. */
  #signature(signature: string): void {
    const format = this.#target.options.reasoning_format
    this.#busy = true
    this.#splitter.end(this.#sink)
    this.#writer.opaqueReasoning({
      format: publicReasoningFormat(format),
      signature,
      encrypted_content: sealReasoning({ format, scope: this.#target.scope, signature }),
    })
  }

  #learn(data: string, frame: Json, event: ModelEvent): void {
    const delta = choiceOf(frame['choices'], this.#choice)?.['delta']
    if (!isObject(delta) || (event.type === 'text-delta' && !this.#splitter.passing)) return
    const lesson = lessonOf(delta, event)
    if (lesson === undefined || !this.#template.learn(data, lesson)) return
    const { shape } = this.#template
    if (shape !== undefined) rememberShape(this.#target, { shape, choice: this.#choice, tier: this.#nativeTier })
  }

  // ---- the end ----

  #hasAny(): boolean {
    return this.#writer.hasContent || this.#tools.any
  }

  /** `ended`: the server itself said that this is all. */
  #complete(ended: boolean): void {
    const writer = this.#writer
    const finish = this.#native === undefined ? (ended ? 'stop' : undefined) : mapFinish(this.#native, this.#target.options.finish_reasons)
    this.#failOn(finish)
    this.#logprobs = undefined
    this.#splitter.end(this.#sink)
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
      throw this.#unavailable('an empty answer')
    }
    const usage = this.#usage === undefined ? undefined : decodeUsage(this.#usage, this.#target.options.usage)
    const tier = this.#tierOf(this.#nativeTier)
    this.finished = true
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(usage === undefined ? {} : { usage }),
      ...(tier === undefined ? {} : { serviceTier: tier }),
    })
  }

  #failOn(finish: Finish | undefined): void {
    if (finish === 'error') throw this.#unavailable(`an answer that ended with "${this.#native}"`)
    if (finish === 'overloaded') throw this.#unavailable('an answer it could not finish for lack of resources', undefined, 'provider_overloaded')
  }

  /** Decoded calls decide, not the word; a word nobody declared is taken for a normal stop. */
  #reasonOf(finish: Finish | undefined): FinishReason {
    if (finish === 'length' || finish === 'content_filter' || finish === 'refusal') return finish
    return this.#writer.hasCalls ? 'tool_calls' : 'stop'
  }

  #unavailable(what: string, raw?: string, type: ErrorType = 'provider_unavailable'): GatewayError {
    const { providerName } = this.#target
    return new GatewayError(type, `${providerName} sent ${what}`, {
      source: 'provider',
      providerName,
      ...(this.#native === undefined ? {} : { providerCode: this.#native }),
      ...(raw === undefined ? {} : { raw: scrubbedExcerpt(raw, 4096) }),
    })
  }
}
