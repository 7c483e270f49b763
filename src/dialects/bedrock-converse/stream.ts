import type { Decoder } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import { publicReasoningFormat, sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { Usage } from '../../core/usage.ts'
import { AnswerAside } from '../shared/answer-aside.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import type { OpenCall, ReasoningFields } from '../shared/answer-writer.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { errorFromPayload } from '../shared/errors.ts'
import { parseExact } from '../shared/exact-json.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { scrubbedExcerpt } from '../shared/scrub.ts'
import { finishOf, indexOf, openBlock, readDelta } from './block.ts'
import type { Block, Json } from './block.ts'
import { decodeCitation } from './citations.ts'
import { exceptionError } from './exceptions.ts'
import type { BedrockTarget } from './media.ts'
import { traitsOf } from './model-traits.ts'
import type { ModelTraits } from './model-traits.ts'
import { answerToolName } from './response-format.ts'
import { SystemToolDecoder } from './system-tools.ts'
import { toolsOf } from './tools.ts'
import { hasCounts } from '../shared/usage-counts.ts'
import { decodeUsage } from './usage.ts'

/** Frames that are no JSON are skipped; more of them than this are no answer. */
const MAX_MALFORMED = 16

/** Decodes event-stream payloads and whole bodies; see `Decoder`. One instance per answer. */
export class BedrockDecoder implements Decoder {
  finished = false
  readonly #target: BedrockTarget
  readonly #traits: ModelTraits
  readonly #writer: AnswerWriter
  readonly #answerTool: string | undefined
  /** Where the answer is a call of that tool. */
  readonly #aside: AnswerAside | undefined
  readonly #systemTools: SystemToolDecoder
  readonly #learns: boolean
  readonly #template = new DeltaTemplate<'text' | 'reasoning'>(readDelta)
  readonly #blocks = new Map<number, Block>()
  /** Calls that stopped without complete arguments: cut off, or without any; what follows tells. */
  #unsettled: OpenCall[] = []
  #frames = 0
  #malformed = 0
  #native: string | undefined
  #usage: Usage | undefined
  #serviceTier: string | undefined
  /** What the open reasoning item needs to be sent back one day. */
  #thought = ''
  #signature = ''
  #redacted = ''

  constructor(request: ModelRequest, target: BedrockTarget, fastPath = true) {
    this.#target = target
    this.#traits = traitsOf(target.options, target.upstreamModel)
    this.#learns = fastPath
    this.#answerTool = answerToolName(request, this.#traits)
    this.#writer = new AnswerWriter({ names: () => toolsOf(request).names, endReasoning: () => this.#reasoningFields() })
    this.#aside = this.#answerTool === undefined ? undefined : new AnswerAside(this.#writer)
    this.#systemTools = new SystemToolDecoder(this.#writer, this.#traits)
  }

  /** The stop reason was seen: only the usage follows. */
  get settled(): boolean {
    return this.#native !== undefined
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
        this.#thought += text
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
    blocks.forEach((block, index) => isObject(block) && this.#wholeBlock(block, index))
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
        return this.#start(indexOf(frame), isObject(frame['start']) ? frame['start'] : {})
      case 'contentBlockDelta': {
        const before = out.length
        this.#delta(indexOf(frame), isObject(frame['delta']) ? frame['delta'] : {})
        if (this.#learns && out.length === before + 1) this.#learn(data, out[before]!)
        return
      }
      case 'contentBlockStop':
        return this.#stop(indexOf(frame))
      case 'messageStop':
        this.#native ??= asString(frame['stopReason']) ?? 'end_turn'
        if (this.#usage !== undefined) this.#complete()
        return
      case 'metadata':
        this.#metadata(frame)
        if (this.#native !== undefined) this.#complete()
        return
      default:
        // A proxy may drop the names of exceptions but not their text.
        if (event === undefined || /exception|error/i.test(event)) this.#unnamed(event, frame, data)
    }
  }

  #unnamed(event: string | undefined, frame: Json, data: string): void {
    if (event !== undefined) throw exceptionError(event, data, this.#target)
    if (typeof (frame['message'] ?? frame['Message']) === 'string') throw errorFromPayload(frame, { providerName: this.#target.providerName })
  }

  // ---- blocks ----

  #start(index: number, start: Json): void {
    this.#settleCalls()
    const use = start['toolUse']
    if (isObject(use)) this.#blocks.set(index, this.#openCall(index, use))
    else if ('toolResult' in start) {
      this.#blocks.set(index, openBlock('system'))
      if (isObject(start['toolResult'])) this.#systemTools.result(index, start['toolResult'])
    } else if (isObject(start['image'])) this.#blocks.set(index, openBlock('ignored'))
  }

  #openCall(index: number, use: Json): Block {
    const name = asString(use['name']) ?? ''
    if (use['type'] === 'server_tool_use') {
      this.#systemTools.use(index, use)
      return openBlock('system')
    }
    if (name === '') throw this.#unavailable('a tool call without a name')
    if (name === this.#answerTool) return openBlock(this.#aside?.called() === true ? 'answer' : 'ignored')
    this.#aside?.flush()
    return { ...openBlock('call'), call: this.#writer.openCall(asString(use['toolUseId']) ?? '', name) }
  }

  #delta(index: number, delta: Json): void {
    let open = this.#blocks.get(index)
    if (open?.kind === 'ignored') return
    if (open?.kind === 'system') return this.#systemTools.delta(index, delta)
    if (open === undefined && this.#unsettled.length > 0) this.#settleCalls()
    const writer = this.#writer
    if (typeof delta['text'] === 'string') {
      if (delta['text'] === '') return
      this.#text(delta['text'])
      if (open === undefined)
        this.#blocks.set(index, (open = { ...openBlock('text'), textStart: Math.max(0, writer.textLength - delta['text'].length) }))
    }
    if (isObject(delta['reasoningContent'])) this.#reasoning(index, delta['reasoningContent'])
    if (isObject(delta['toolUse'])) {
      const input = delta['toolUse']['input']
      const piece = typeof input === 'string' ? input : input == null ? '' : JSON.stringify(input)
      if (open?.kind === 'answer') writer.text(piece)
      else if (open?.call !== undefined) writer.arguments(open.call, piece)
    }
    if (isObject(delta['citation'])) {
      if (open === undefined) this.#blocks.set(index, (open = { ...openBlock('text'), textStart: writer.textLength }))
      open.citations.push(delta['citation'])
    }
  }

  #text(text: string): void {
    if (this.#aside === undefined) this.#writer.text(text)
    else this.#aside.text(text)
  }

  #reasoning(index: number, content: Json): void {
    if (!this.#blocks.has(index)) {
      // Each block carries a signature of its own.
      this.#writer.closeReasoning()
      this.#blocks.set(index, openBlock('reasoning'))
    }
    const text = asString(content['text'])
    if (text) {
      this.#thought += text
      this.#writer.reasoning('text', text)
    }
    const signature = asString(content['signature'])
    if (signature) this.#signature += signature
    const redacted = asString(content['redactedContent'])
    if (redacted) this.#redacted += Buffer.from(redacted, 'base64').toString('latin1')
  }

  #stop(index: number): void {
    const open = this.#blocks.get(index)
    if (open === undefined) return
    this.#blocks.delete(index)
    switch (open.kind) {
      case 'call':
        if (open.call!.end.isWhole(open.call!.arguments)) this.#writer.closeCall(open.call!)
        else this.#unsettled.push(open.call!)
        return
      case 'reasoning':
        if (this.#signature !== '' || this.#redacted !== '') this.#writer.openReasoning()
        return this.#writer.closeReasoning()
      case 'text':
        return this.#cite(open)
      case 'system':
        return this.#systemTools.stop(index)
      default:
    }
  }

  /** More of the answer follows: the calls before it were whole. */
  #settleCalls(): void {
    for (const call of this.#unsettled) this.#writer.closeCall(call)
    this.#unsettled = []
  }

  /** Citations name no place in the answer: they hold for the text of their block. */
  #cite({ citations, textStart }: Block): void {
    for (const citation of citations) {
      const annotation = decodeCitation(citation, textStart, this.#writer.textLength)
      if (annotation !== undefined) this.#writer.annotation(annotation)
    }
  }

  #wholeBlock(content: Json, index: number): void {
    if (isObject(content['toolUse'])) {
      const use = content['toolUse']
      this.#start(index, { toolUse: use })
      const input = use['input']
      // An object without fields is what a call without arguments looks like.
      this.#delta(index, { toolUse: { input: input === undefined ? '' : JSON.stringify(input) } })
    } else if (isObject(content['toolResult'])) {
      this.#start(index, content)
      this.#delta(index, { toolResult: content['toolResult']['content'] })
    } else if (isObject(content['reasoningContent'])) {
      const reasoning = content['reasoningContent']
      const text = isObject(reasoning['reasoningText']) ? reasoning['reasoningText'] : {}
      this.#delta(index, { reasoningContent: { ...text, redactedContent: reasoning['redactedContent'] } })
    } else if (isObject(content['citationsContent'])) {
      const cited = content['citationsContent']
      for (const part of Array.isArray(cited['content']) ? cited['content'] : []) if (isObject(part)) this.#delta(index, { text: part['text'] })
      for (const citation of Array.isArray(cited['citations']) ? cited['citations'] : []) this.#delta(index, { citation })
    } else this.#delta(index, content)
    this.#stop(index)
  }

  #reasoningFields(): ReasoningFields {
    const { reasoning_format: own } = this.#traits
    const format = publicReasoningFormat(own)
    const { scope } = this.#target
    const [text, signature, data] = [this.#thought, this.#signature, this.#redacted]
    this.#thought = this.#signature = this.#redacted = ''
    if (data !== '') return { format, encrypted_content: sealReasoning({ format: own, scope, data }) }
    if (signature !== '') return { format, signature, encrypted_content: sealReasoning({ format: own, scope, signature, text }) }
    return { format }
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
    for (const [index, { kind }] of this.#blocks) if (kind !== 'call') this.#stop(index)
    this.#systemTools.finish()
    this.#aside?.flush()
    writer.flushHeldSpace()
    const finish = finishOf(this.#native)
    if (finish === 'error') throw this.#unavailable(`an answer that ended with "${this.#native}"`)
    const reason: FinishReason = finish === 'stop' || finish === 'tool_calls' ? (writer.hasCalls ? 'tool_calls' : 'stop') : finish
    if (!writer.hasContent && (reason === 'stop' || reason === 'tool_calls')) throw this.#unavailable('an empty answer')
    this.finished = true
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#serviceTier === undefined ? {} : { serviceTier: this.#serviceTier }),
    })
  }

  #unavailable(what: string, raw?: string): GatewayError {
    const { providerName } = this.#target
    return new GatewayError('provider_unavailable', `${providerName} sent ${what}`, {
      source: 'provider',
      providerName,
      ...(this.#native === undefined ? {} : { providerCode: this.#native }),
      ...(raw === undefined ? {} : { raw: scrubbedExcerpt(raw, 4096) }),
    })
  }
}
