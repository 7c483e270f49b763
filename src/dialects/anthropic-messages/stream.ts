import type { Decoder } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import type { FinishReason, ModelEvent } from '../../core/event.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import type { OpenCall, ReasoningFields } from '../shared/answer-writer.ts'
import { errorFromPayload } from '../shared/errors.ts'
import { parseExact } from '../shared/exact-json.ts'
import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { scrubbedExcerpt } from '../shared/scrub.ts'
import { decodeCitation } from './citations.ts'
import type { Block } from './content.ts'
import { BlockTemplate } from './fast-path.ts'
import { mapStopReason } from './finish.ts'
import type { MessagesTarget } from './options.ts'
import { answerToolName } from './response-format.ts'
import { ServerToolDecoder } from './server-tools.ts'
import type { ServerBlock } from './server-tools.ts'
import { planTools } from './tools.ts'
import { decodeUsage, overlayUsage, serviceTierOf } from './usage.ts'

type Json = { readonly [field: string]: unknown }

interface TextBlock {
  readonly kind: 'text'
  readonly citations: unknown[]
  /** UTF-16 code units of this block so far. */
  length: number
}
interface ThinkingBlock {
  readonly kind: 'thinking'
  text: string
  signature: string
}
interface CallBlock {
  readonly kind: 'call'
  readonly call: OpenCall
  /** Input that came with the start of the block: a placeholder where deltas follow. */
  readonly input: string
}
type OpenBlock = TextBlock | ThinkingBlock | CallBlock | ServerBlock | { readonly kind: 'answer'; readonly input: string; written: boolean } | { readonly kind: 'nothing' }

/** Frames that are no JSON are skipped; more of them than this are no answer. */
const MAX_MALFORMED = 16

/** Decodes events and whole messages of this format; see `Decoder`. One instance per answer. */
export class MessagesDecoder implements Decoder {
  finished = false
  readonly #target: MessagesTarget
  readonly #writer: AnswerWriter
  readonly #server: ServerToolDecoder
  readonly #answerTool: string | undefined
  readonly #template = new BlockTemplate()
  readonly #learns: boolean
  readonly #blocks = new Map<number, OpenBlock>()
  /** The block of the template: the last one that wrote text or thoughts. */
  #current: TextBlock | ThinkingBlock | undefined
  #thought: ThinkingBlock | undefined
  /** A call whose block is over, left open: what follows tells whether it was cut off. */
  #lastCall: OpenCall | undefined
  /** Text beside a hidden answer tool: the answer only when the tool is not called. */
  #aside = ''
  #answered = false
  #frames = 0
  #malformed = 0
  #messageId: string | undefined
  #native: string | undefined
  #stopDetails: Json | undefined
  #usage: Json | undefined

  constructor(request: ModelRequest, target: MessagesTarget, fastPath = true) {
    this.#target = target
    this.#learns = fastPath
    this.#writer = new AnswerWriter({ names: () => planTools(request, target.options).flat.names, endReasoning: () => this.#endReasoning() })
    this.#server = new ServerToolDecoder(this.#writer, target)
    this.#answerTool = answerToolName(request, target)
  }

  /** A stop reason was seen: only the end mark may follow, and some proxies lose it. */
  get settled(): boolean {
    return this.#native !== undefined
  }

  push(data: string, event: string | undefined, out: ModelEvent[]): void {
    if (this.finished) return
    const writer = this.#writer
    writer.out = out
    const { field } = this.#template
    const key = field === 'text' ? writer.messageKey : field === 'thinking' ? writer.reasoningKey : undefined
    if (key !== undefined && event !== 'error') {
      const text = this.#template.match(data)
      if (text !== undefined) {
        const block = this.#current!
        if (block.kind === 'text') {
          block.length += text.length
          return writer.plainText(key, text)
        }
        block.text += text
        return writer.plainReasoning(key, text)
      }
    }
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
        this.#stopBlock(index)
        return isObject(value['content_block']) ? this.#startBlock(index, value['content_block']) : undefined
      case 'content_block_delta':
        return isObject(value['delta']) ? this.#delta(index, value['delta'], data) : undefined
      case 'content_block_stop':
        return this.#stopBlock(index)
      case 'message_delta':
        return this.#messageDelta(value)
      case 'message_stop':
        return this.#complete()
      case 'message':
        if (Array.isArray(value['content'])) this.#wholeMessage(value)
        return
      default:
        // Pings, and kinds of events that are to come.
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
      // Proxies repeat the start; that of another answer means that two were spliced.
      if (id !== undefined && this.#messageId !== undefined && id !== this.#messageId) throw this.#unavailable('two answers in one')
      return
    }
    this.#messageId = id
    const model = asString(message['model'])
    this.#usage = overlayUsage(this.#usage, message['usage'])
    const tier = serviceTierOf(this.#usage)
    this.#writer.start({ ...(id ? { upstreamId: id } : {}), ...(model ? { model } : {}), ...(tier === undefined ? {} : { serviceTier: tier }) })
  }

  #messageDelta(frame: Json): void {
    const delta = isObject(frame['delta']) ? frame['delta'] : {}
    const native = delta['stop_reason']
    if (typeof native === 'string' && native !== '') this.#native ??= native
    if (isObject(delta['stop_details'])) this.#stopDetails = delta['stop_details']
    this.#usage = overlayUsage(this.#usage, frame['usage'])
  }

  #wholeMessage(message: Json): void {
    this.#messageStart(message)
    for (const [index, block] of (message['content'] as unknown[]).entries()) {
      if (!isObject(block)) continue
      this.#startBlock(index, block)
      this.#stopBlock(index)
    }
    this.#messageDelta({ delta: message, usage: message['usage'] })
    this.#complete()
  }

  // ---- blocks ----

  #startBlock(index: number, block: Json): void {
    const type = asString(block['type'])
    this.#closeLastCall()
    this.#template.forget()
    switch (type) {
      case 'text': {
        this.#server.flush()
        const open: TextBlock = { kind: 'text', citations: Array.isArray(block['citations']) ? [...(block['citations'] as unknown[])] : [], length: 0 }
        this.#blocks.set(index, open)
        return this.#text(open, asString(block['text']) ?? '')
      }
      case 'thinking': {
        this.#server.flush()
        const open: ThinkingBlock = { kind: 'thinking', text: '', signature: asString(block['signature']) ?? '' }
        this.#blocks.set(index, open)
        this.#writer.closeReasoning()
        this.#thought = open
        return this.#think(open, asString(block['thinking']) ?? '')
      }
      case 'redacted_thinking':
        this.#server.flush()
        this.#blocks.set(index, { kind: 'nothing' })
        return this.#redacted(asString(block['data']))
      case 'tool_use':
        this.#server.flush()
        this.#blocks.set(index, this.#startCall(block))
        return
      default:
        this.#blocks.set(index, type === undefined ? { kind: 'nothing' } : this.#server.start(block as Block))
    }
  }

  #startCall(block: Json): OpenBlock {
    const name = asString(block['name'])
    if (!name) throw this.#unavailable('a tool call without a name')
    const { input } = block
    const given = typeof input === 'string' ? input : isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
    if (name === this.#answerTool) {
      this.#aside = ''
      this.#answered = true
      return { kind: 'answer', input: given, written: false }
    }
    this.#flushAside()
    return { kind: 'call', call: this.#writer.openCall(asString(block['id']) ?? '', name), input: given }
  }

  #delta(index: number, delta: Json, data: string): void {
    const type = asString(delta['type'])
    const block = this.#blocks.get(index) ?? this.#implied(index, type)
    if (block === undefined) return
    const { out } = this.#writer
    const before = out.length
    switch (block.kind) {
      case 'text':
        if (type === 'citations_delta') block.citations.push(delta['citation'])
        else if (typeof delta['text'] === 'string') {
          this.#text(block, delta['text'])
          this.#learn(block, 'text', data, delta['text'], before)
        }
        return
      case 'thinking':
        if (type === 'signature_delta') this.#sign(block, delta['signature'])
        else if (typeof delta['thinking'] === 'string') {
          this.#think(block, delta['thinking'])
          this.#learn(block, 'thinking', data, delta['thinking'], before)
        }
        return
      case 'call':
        if (typeof delta['partial_json'] === 'string') this.#writer.arguments(block.call, delta['partial_json'])
        return
      case 'answer':
        if (typeof delta['partial_json'] === 'string' && delta['partial_json'] !== '') {
          block.written = true
          this.#writer.text(delta['partial_json'])
        }
        return
      case 'server':
        return this.#server.delta(block, delta)
      case 'nothing':
        return
    }
  }

  /** Some servers forget to open the blocks of text and thoughts. */
  #implied(index: number, type: string | undefined): OpenBlock | undefined {
    if (type === 'text_delta') this.#startBlock(index, { type: 'text' })
    else if (type === 'thinking_delta') this.#startBlock(index, { type: 'thinking' })
    return this.#blocks.get(index)
  }

  #stopBlock(index: number): void {
    const block = this.#blocks.get(index)
    if (block === undefined) return
    this.#blocks.delete(index)
    this.#template.forget()
    switch (block.kind) {
      case 'text':
        return this.#cite(block)
      case 'thinking':
        // Without a signature it may have been cut off: what follows tells.
        if (block.signature === '') return
        if (block.text === '') this.#writer.openReasoning()
        return this.#writer.closeReasoning()
      case 'call':
        if (block.call.arguments === '' && block.input !== '') this.#writer.arguments(block.call, block.input)
        this.#closeLastCall()
        this.#lastCall = block.call
        return
      case 'answer':
        if (!block.written) this.#writer.text(block.input === '' ? '{}' : block.input)
        return
      case 'server':
        return this.#server.stop(block)
      case 'nothing':
        return
    }
  }

  #text(block: TextBlock, text: string): void {
    if (text === '') return
    if (this.#answerTool !== undefined) {
      if (!this.#answered) this.#aside += text
      return
    }
    block.length += text.length
    this.#writer.text(text)
  }

  #think(block: ThinkingBlock, text: string): void {
    if (text === '') return
    block.text += text
    this.#thought = block
    this.#writer.reasoning('text', text)
  }

  /** It comes once, whole; in pieces from some, and repeated by others. */
  #sign(block: ThinkingBlock, signature: unknown): void {
    if (typeof signature === 'string' && signature !== block.signature) block.signature += signature
  }

  #redacted(data: string | undefined): void {
    if (data === undefined || data === '') return
    const format = this.#target.options.reasoning_format
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning({ format, encrypted_content: sealReasoning({ format, scope: this.#target.scope, data }) })
  }

  #cite(block: TextBlock): void {
    const end = this.#writer.textLength
    for (const citation of block.citations) {
      const annotation = decodeCitation(citation, Math.max(0, end - block.length), end)
      if (annotation !== undefined) this.#writer.annotation(annotation)
    }
  }

  /** What the ended reasoning item needs to be sent back one day. */
  #endReasoning(): ReasoningFields {
    const format = this.#target.options.reasoning_format
    const thought = this.#thought
    this.#thought = undefined
    if (thought === undefined) return { format }
    const { text, signature } = thought
    const { scope } = this.#target
    if (signature !== '') return { format, signature, encrypted_content: sealReasoning({ format, scope, signature, text }) }
    return this.#target.options.unsigned_thinking ? { format, encrypted_content: sealReasoning({ format, scope, text }) } : { format }
  }

  /** `before`: how many events there were before the frame, whose last one must be its text, as it stood. */
  #learn(block: TextBlock | ThinkingBlock, field: 'text' | 'thinking', data: string, text: string, before: number): void {
    const { out } = this.#writer
    const event = out.length > before ? out[out.length - 1] : undefined
    if (!this.#learns || (event?.type !== 'text-delta' && event?.type !== 'reasoning-delta') || event.plain !== true || event.delta !== text) return
    this.#current = block
    this.#template.learn(data, field, text)
  }

  // ---- the end ----

  #closeLastCall(): void {
    if (this.#lastCall !== undefined) this.#writer.closeCall(this.#lastCall)
    this.#lastCall = undefined
  }

  #flushAside(): void {
    if (this.#aside !== '' && !this.#answered) this.#writer.text(this.#aside)
    this.#aside = ''
  }

  #complete(): void {
    const writer = this.#writer
    const mapped = mapStopReason(this.#native)
    for (const block of this.#blocks.values()) if (block.kind === 'text') this.#cite(block)
    this.#blocks.clear()
    this.#server.finish()
    this.#flushAside()
    writer.flushHeldSpace()
    // Its tools are not done; only asking again would finish the answer.
    if (mapped === 'paused') throw this.#unavailable('an answer it paused before its end')
    const reason = this.#reasonOf(mapped)
    if (!writer.hasContent && reason !== 'length' && reason !== 'content_filter' && !this.#target.options.allow_empty_answer) {
      throw this.#unavailable('an empty answer')
    }
    // A refusal may fall into the middle of a call.
    if (this.#lastCall !== undefined && mapped === 'refusal') writer.closeCall(this.#lastCall, true)
    this.finished = true
    const tier = serviceTierOf(this.#usage)
    writer.end(reason, {
      ...(this.#native === undefined ? {} : { nativeReason: this.#native }),
      ...(this.#usage === undefined ? {} : { usage: decodeUsage(this.#usage) }),
      ...(tier === undefined ? {} : { serviceTier: tier }),
    })
  }

  /** Decoded calls decide, not the word. A refusal is told as one when it explains itself; without a word it is a filter's. */
  #reasonOf(mapped: FinishReason): FinishReason {
    if (mapped === 'refusal') {
      const explanation = asString(this.#stopDetails?.['explanation'])
      if (explanation) this.#writer.refusal(explanation)
      return this.#writer.hasContent ? 'refusal' : 'content_filter'
    }
    if (mapped === 'length') return mapped
    return this.#writer.hasCalls ? 'tool_calls' : 'stop'
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
