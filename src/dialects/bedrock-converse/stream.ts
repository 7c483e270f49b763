import type { Decoder } from '../../core/dialect.ts'
import type { GatewayError } from '../../core/error.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { Usage } from '../../core/usage.ts'
import { AnswerAside } from '../shared/answer-aside.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { brokenAnswer, emptyAnswer, errorFromPayload } from '../shared/errors.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { finishOf, indexOf, readDelta } from './block.ts'
import type { Json } from './block.ts'
import { BlockReader } from './block-reader.ts'
import { exceptionError } from './exceptions.ts'
import type { BedrockTarget } from './media.ts'
import { traitsOf } from './model-traits.ts'
import { answerToolName } from './response-format.ts'
import { SystemToolDecoder } from './system-tools.ts'
import { toolsOf } from './tools.ts'
import { hasCounts, runsAlone } from '../shared/usage-counts.ts'
import { decodeUsage } from './usage.ts'

/** Frames that are not JSON are skipped; with more than this, the answer is an error. */
const MAX_MALFORMED = 16

/** Decodes event-stream payloads and whole bodies; see `Decoder`. One instance per answer. */
export class BedrockDecoder implements Decoder {
  finished = false
  readonly #target: BedrockTarget
  readonly #writer: AnswerWriter
  /** Set if the answer is a call of the answer tool. */
  readonly #aside: AnswerAside | undefined
  readonly #systemTools: SystemToolDecoder
  readonly #learns: boolean
  readonly #template = new DeltaTemplate<'text' | 'reasoning'>(readDelta)
  readonly #blocks: BlockReader
  #frames = 0
  #malformed = 0
  #native: string | undefined
  #usage: Usage | undefined
  #serviceTier: string | undefined

  constructor(request: ModelRequest, target: BedrockTarget, fastPath = true) {
    this.#target = target
    const traits = traitsOf(target.options, target.upstreamModel)
    const answerTool = answerToolName(request, traits)
    this.#learns = fastPath
    this.#writer = new AnswerWriter({ names: () => toolsOf(request).names, endReasoning: () => this.#blocks.reasoningFields() })
    this.#aside = answerTool === undefined ? undefined : new AnswerAside(this.#writer)
    this.#systemTools = new SystemToolDecoder(this.#writer, traits)
    const [writer, aside, systemTools] = [this.#writer, this.#aside, this.#systemTools]
    this.#blocks = new BlockReader({ target, traits, writer, aside, answerTool, systemTools })
  }

  /** After the stop reason only the usage follows. */
  get settled(): boolean {
    return this.#native !== undefined
  }

  /** The usage comes last, also before an answer turns out to have failed. Searches that were made by then are charged without it. */
  get counted(): Usage | undefined {
    return this.#usage ?? runsAlone(this.#systemTools)
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    const writer = this.#writer
    writer.out = out
    if (event === 'contentBlockDelta') {
      const { kind } = this.#template
      const key = kind === 'text' ? writer.messageKey : kind === 'reasoning' ? writer.reasoningKey : undefined
      const text = key === undefined ? undefined : this.#template.match(data)
      if (text !== undefined) {
        if (kind === 'text') return writer.plainText(key!, text)
        this.#blocks.thought += text
        return writer.plainReasoning(key!, text)
      }
    }
    this.#frame(data, event, out)
  }

  body(text: string, out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    const value = parseExact(text)
    if (!isObject(value)) throw this.#unavailable(text.trim() === '' ? 'an empty answer' : 'an answer that is not JSON', text)
    const output = isObject(value['output']) ? value['output'] : undefined
    const message = isObject(output?.['message']) ? output['message'] : undefined
    if (message === undefined) {
      if (typeof (value['message'] ?? value['Message']) === 'string') throw errorFromPayload(value, { providerName: this.#target.providerName })
      throw this.#unavailable('an answer without a message', text)
    }
    this.#writer.start({})
    const blocks = Array.isArray(message['content']) ? message['content'] : []
    blocks.forEach((block, index) => isObject(block) && this.#blocks.whole(block, index))
    this.#native = asString(value['stopReason']) ?? 'end_turn'
    this.#metadata(value)
    this.#complete()
  }

  end(out: ModelEvent[]): void {
    if (this.finished) return
    this.#writer.out = out
    if (this.#native === undefined) {
      throw this.#unavailable(this.#frames === 0 ? 'no answer: the connection closed without one' : 'an answer that broke off before its end')
    }
    this.#complete()
  }

  #frame(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (event?.startsWith('exception:')) throw exceptionError(event.slice('exception:'.length), data, this.#target)
    const frame = tryParseJson(data)
    if (!isObject(frame)) {
      if (++this.#malformed > MAX_MALFORMED) throw this.#unavailable('frames that are not JSON', data)
      return
    }
    this.#frames++
    this.#writer.start({})
    switch (event) {
      case 'contentBlockStart':
        return this.#blocks.start(indexOf(frame), isObject(frame['start']) ? frame['start'] : {})
      case 'contentBlockDelta': {
        const before = out.length
        this.#blocks.delta(indexOf(frame), isObject(frame['delta']) ? frame['delta'] : {})
        if (this.#learns && out.length === before + 1) this.#learn(data, out[before]!)
        return
      }
      case 'contentBlockStop':
        return this.#blocks.stop(indexOf(frame))
      case 'messageStop':
        this.#native ??= asString(frame['stopReason']) ?? 'end_turn'
        if (this.#usage !== undefined) this.#complete()
        return
      case 'metadata':
        this.#metadata(frame)
        if (this.#native !== undefined) this.#complete()
        return
      default:
        // A proxy may remove the names of exceptions but not their text.
        if (event === undefined || /exception|error/i.test(event)) this.#unnamed(event, frame, data)
    }
  }

  #unnamed(event: string | undefined, frame: Json, data: string): void {
    if (event !== undefined) throw exceptionError(event, data, this.#target)
    if (typeof (frame['message'] ?? frame['Message']) === 'string') throw errorFromPayload(frame, { providerName: this.#target.providerName })
  }

  #learn(data: string, event: ModelEvent): void {
    if (event.type === 'text-delta' && event.plain === true) this.#template.learn(data, { kind: 'text', field: 'text', text: event.delta })
    else if (event.type === 'reasoning-delta' && event.plain === true)
      this.#template.learn(data, { kind: 'reasoning', field: 'text', text: event.delta })
  }

  // ---- the end ----

  #metadata(frame: Json): void {
    if (isObject(frame['usage']) && hasCounts(frame['usage'])) this.#usage = decodeUsage(frame['usage'], this.#systemTools.searches)
    const tier = isObject(frame['serviceTier']) ? asString(frame['serviceTier']['type']) : undefined
    if (tier !== undefined) this.#serviceTier = tier
  }

  #complete(): void {
    const writer = this.#writer
    this.#blocks.end()
    this.#systemTools.finish()
    this.#aside?.flush()
    writer.flushHeldSpace()
    const finish = finishOf(this.#native)
    if (finish === 'error') throw this.#unavailable(`an answer that ended with "${this.#native}"`).with({ fruitless: true })
    const reason: FinishReason = finish === 'stop' || finish === 'tool_calls' ? (writer.hasCalls ? 'tool_calls' : 'stop') : finish
    if (!writer.hasContent && (reason === 'stop' || reason === 'tool_calls')) throw emptyAnswer(this.#target.providerName, this.#native, finish)
    const usage = this.counted
    this.finished = true
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#serviceTier === undefined ? {} : { serviceTier: this.#serviceTier }),
    })
  }

  #unavailable(what: string, raw?: string): GatewayError {
    return brokenAnswer(this.#target.providerName, `sent ${what}`, { native: this.#native, raw })
  }
}
