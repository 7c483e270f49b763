import { GatewayError } from '../../core/error.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'
import { AnswerAside } from '../shared/answer-aside.ts'
import { AnswerWriter } from '../shared/answer-writer.ts'
import type { ReasoningFields } from '../shared/answer-writer.ts'
import type { OpenCall } from '../shared/call-writer.ts'
import { DeltaTemplate } from '../shared/delta-template.ts'
import { asString, isObject } from '../shared/json.ts'
import { bracesTail } from '../shared/template-tail.ts'
import { citedIn, decodeCitation } from './citations.ts'
import type { Block } from './content.ts'
import type { MessagesTarget } from './options.ts'
import { answerToolName } from './response-format.ts'
import { ServerToolDecoder } from './server-tools.ts'
import type { ServerBlock } from './server-tools.ts'
import { planTools } from './tools.ts'

type Json = { readonly [field: string]: unknown }

/** The text of a delta, from the field that a block of this kind uses. */
const readDelta = (frame: unknown, kind: 'text' | 'thinking'): string | undefined =>
  isObject(frame) && isObject(frame['delta']) ? asString(frame['delta'][kind]) : undefined

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
  /** Input from the start of the block: only a placeholder if deltas follow. */
  readonly input: string
}
type OpenBlock =
  | TextBlock
  | ThinkingBlock
  | CallBlock
  | ServerBlock
  | { readonly kind: 'answer'; readonly input: string; written: boolean }
  | { readonly kind: 'nothing' }

/** Writes the blocks of one answer as items: their starts, deltas and stops, streamed or whole. */
export class BlockDecoder {
  readonly writer: AnswerWriter
  /** What the upstream's own tools did. */
  readonly server: ServerToolDecoder
  readonly #isCited: () => boolean
  readonly #target: MessagesTarget
  readonly #answerTool: string | undefined
  readonly #template = new DeltaTemplate<'text' | 'thinking'>(readDelta, bracesTail)
  readonly #learns: boolean
  readonly #blocks = new Map<number, OpenBlock>()
  /** The block that the template belongs to: the last one that wrote text or thoughts. */
  #current: TextBlock | ThinkingBlock | undefined
  #thought: ThinkingBlock | undefined
  /** A call whose block has ended, but which stays open: what follows decides whether it was cut off. */
  #lastCall: OpenCall | undefined
  /** Set if the answer is a call of the answer tool. */
  readonly #aside: AnswerAside | undefined

  constructor(request: ModelRequest, target: MessagesTarget, fastPath: boolean) {
    this.#isCited = citedIn(request)
    this.#target = target
    this.#learns = fastPath
    this.writer = new AnswerWriter({ names: () => planTools(request, target.options).flat.names, endReasoning: () => this.#endReasoning() })
    this.server = new ServerToolDecoder(this.writer, target)
    this.#answerTool = answerToolName(request, target)
    this.#aside = this.#answerTool === undefined ? undefined : new AnswerAside(this.writer)
  }

  /** Writes a frame with nothing but more text of the open block, without parsing it; false if it must be parsed. */
  takeFast(data: string): boolean {
    const { writer } = this
    const { kind } = this.#template
    const key = kind === 'text' ? writer.messageKey : kind === 'thinking' ? writer.reasoningKey : undefined
    if (key === undefined) return false
    const text = this.#template.match(data)
    if (text === undefined) return false
    const block = this.#current!
    if (block.kind === 'text') {
      block.length += text.length
      writer.plainText(key, text)
    } else {
      block.text += text
      writer.plainReasoning(key, text)
    }
    return true
  }

  start(index: number, block: Json): void {
    const type = asString(block['type'])
    this.#closeLastCall()
    this.#template.forget()
    switch (type) {
      case 'text': {
        this.server.flush()
        // Callers that asked for citations learn which block contains each, so every block is a message of its own.
        if (this.writer.messageKey !== undefined && this.#isCited()) this.writer.closeMessage()
        const open: TextBlock = {
          kind: 'text',
          citations: Array.isArray(block['citations']) ? [...(block['citations'] as unknown[])] : [],
          length: 0,
        }
        this.#blocks.set(index, open)
        return this.#text(open, asString(block['text']) ?? '')
      }
      case 'thinking': {
        this.server.flush()
        const open: ThinkingBlock = { kind: 'thinking', text: '', signature: asString(block['signature']) ?? '' }
        this.#blocks.set(index, open)
        this.writer.closeReasoning()
        this.#thought = open
        return this.#think(open, asString(block['thinking']) ?? '')
      }
      case 'redacted_thinking':
        this.server.flush()
        this.#blocks.set(index, { kind: 'nothing' })
        return this.#redacted(asString(block['data']))
      case 'tool_use':
        this.server.flush()
        this.#blocks.set(index, this.#startCall(block))
        return
      default:
        this.#blocks.set(index, type === undefined ? { kind: 'nothing' } : this.server.start(block as Block))
    }
  }

  #startCall(block: Json): OpenBlock {
    const name = asString(block['name'])
    if (!name) throw this.#namelessCall()
    const { input } = block
    const args = typeof input === 'string' ? input : isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
    if (name === this.#answerTool) return this.#aside?.called() === true ? { kind: 'answer', input: args, written: false } : { kind: 'nothing' }
    this.#aside?.flush()
    return { kind: 'call', call: this.writer.openCall(asString(block['id']) ?? '', name, asString(block['toolset_name'])), input: args }
  }

  /** `data` is the frame of the delta. */
  delta(index: number, delta: Json, data: string): void {
    const type = asString(delta['type'])
    const block = this.#blocks.get(index) ?? this.#implied(index, type)
    if (block === undefined) return
    const { out } = this.writer
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
        if (typeof delta['partial_json'] === 'string') this.writer.arguments(block.call, delta['partial_json'])
        return
      case 'answer':
        if (typeof delta['partial_json'] === 'string' && delta['partial_json'] !== '') {
          block.written = true
          this.writer.text(delta['partial_json'])
        }
        return
      case 'server':
        return this.server.delta(block, delta)
      case 'nothing':
        return
    }
  }

  /** Some servers forget to open blocks of text and thoughts. */
  #implied(index: number, type: string | undefined): OpenBlock | undefined {
    if (type === 'text_delta') this.start(index, { type: 'text' })
    else if (type === 'thinking_delta') this.start(index, { type: 'thinking' })
    return this.#blocks.get(index)
  }

  stop(index: number): void {
    const block = this.#blocks.get(index)
    if (block === undefined) return
    this.#blocks.delete(index)
    this.#template.forget()
    switch (block.kind) {
      case 'text':
        return this.#cite(block)
      case 'thinking':
        // Without a signature the thought may have been cut off; what follows decides.
        if (block.signature === '') return
        if (block.text === '') this.writer.openReasoning()
        return this.writer.closeReasoning()
      case 'call':
        if (block.call.arguments === '' && block.input !== '') this.writer.arguments(block.call, block.input)
        this.#closeLastCall()
        this.#lastCall = block.call
        return
      case 'answer':
        if (!block.written) this.writer.text(block.input === '' ? '{}' : block.input)
        return
      case 'server':
        return this.server.stop(block)
      case 'nothing':
        return
    }
  }

  #text(block: TextBlock, text: string): void {
    if (text === '') return
    if (this.#aside !== undefined) return this.#aside.text(text)
    block.length += text.length
    this.writer.text(text)
  }

  #think(block: ThinkingBlock, text: string): void {
    if (text === '') return
    block.text += text
    this.#thought = block
    this.writer.reasoning('text', text)
  }

  /** The signature usually arrives once and whole, but some servers split it and others repeat it. */
  #sign(block: ThinkingBlock, signature: unknown): void {
    if (typeof signature === 'string' && signature !== block.signature) block.signature += signature
  }

  #redacted(data: string | undefined): void {
    if (data === undefined || data === '') return
    const format = this.#target.options.reasoning_format
    this.writer.closeMessage()
    this.writer.opaqueReasoning({ format, encrypted_content: sealReasoning({ format, scope: this.#target.scope, data }) })
  }

  #cite(block: TextBlock): void {
    const end = this.writer.textLength
    for (const citation of block.citations) {
      const annotation = decodeCitation(citation, Math.max(0, end - block.length), end)
      if (annotation !== undefined) this.writer.annotation(annotation)
    }
  }

  /** The fields of the ended reasoning item that are required to send it back later. */
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

  /** `before` is the number of events before the frame, whose last event must be the unchanged text. */
  #learn(block: TextBlock | ThinkingBlock, field: 'text' | 'thinking', data: string, text: string, before: number): void {
    const { out } = this.writer
    const event = out.length > before ? out[out.length - 1] : undefined
    if (!this.#learns || (event?.type !== 'text-delta' && event?.type !== 'reasoning-delta') || event.plain !== true || event.delta !== text) return
    this.#current = block
    this.#template.learn(data, { kind: field, field, text })
  }

  // ---- the end ----

  /** Ends what belongs to the answer; the writer closes the rest. `later`: calls of the server's tools are still to be run. */
  finish(later: boolean): void {
    // Some servers forget to close blocks.
    for (const [index, block] of this.#blocks) if (block.kind === 'text' || ('input' in block && block.input !== '')) this.stop(index)
    this.#blocks.clear()
    this.server.finish(later)
    this.#aside?.flush()
    this.writer.flushHeldSpace()
  }

  /** The answer broke off, so the last call may be incomplete. */
  cutLastCall(): void {
    if (this.#lastCall !== undefined) this.writer.closeCall(this.#lastCall, true)
  }

  #closeLastCall(): void {
    if (this.#lastCall !== undefined) this.writer.closeCall(this.#lastCall)
    this.#lastCall = undefined
  }

  #namelessCall(): GatewayError {
    const { providerName } = this.#target
    return new GatewayError('provider_unavailable', `${providerName} sent a tool call without a name`, { source: 'provider', providerName })
  }
}
