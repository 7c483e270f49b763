import { publicReasoningFormat, sealReasoning } from '../../core/reasoning-envelope.ts'
import type { AnswerAside } from '../shared/answer-aside.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import type { ReasoningFields } from '../shared/answer-writer.ts'
import type { OpenCall } from '../shared/call-writer.ts'
import { brokenAnswer } from '../shared/errors.ts'
import { asString, isObject } from '../shared/json.ts'
import { openBlock } from './block.ts'
import type { Block, Json } from './block.ts'
import { decodeCitation } from './citations.ts'
import type { BedrockTarget } from './media.ts'
import type { ModelTraits } from './model-traits.ts'
import type { SystemToolDecoder } from './system-tools.ts'

export interface BlockReaderParts {
  readonly target: BedrockTarget
  readonly traits: ModelTraits
  readonly writer: AnswerWriter
  /** Set if the answer is a call of the answer tool. */
  readonly aside: AnswerAside | undefined
  readonly answerTool: string | undefined
  readonly systemTools: SystemToolDecoder
}

/** Reads the content blocks of an answer, either as start, delta and stop events or whole. One instance per answer. */
export class BlockReader {
  /** The parts of the open reasoning item that are required to send it back later. */
  thought = ''
  #signature = ''
  #redacted = ''
  readonly #parts: BlockReaderParts
  readonly #blocks = new Map<number, Block>()
  /** Calls that stopped without complete arguments: they were cut off, or have none. What follows decides which. */
  #unsettled: OpenCall[] = []

  constructor(parts: BlockReaderParts) {
    this.#parts = parts
  }

  start(index: number, start: Json): void {
    this.#settleCalls()
    const use = start['toolUse']
    if (isObject(use)) this.#blocks.set(index, this.#openCall(index, use))
    else if ('toolResult' in start) {
      this.#blocks.set(index, openBlock('system'))
      if (isObject(start['toolResult'])) this.#parts.systemTools.result(index, start['toolResult'])
    } else if (isObject(start['image'])) this.#blocks.set(index, openBlock('ignored'))
  }

  #openCall(index: number, use: Json): Block {
    const name = asString(use['name']) ?? ''
    if (use['type'] === 'server_tool_use') {
      this.#parts.systemTools.use(index, use)
      return openBlock('system')
    }
    if (name === '') throw brokenAnswer(this.#parts.target.providerName, 'sent a tool call without a name')
    if (name === this.#parts.answerTool) return openBlock(this.#parts.aside?.called() === true ? 'answer' : 'ignored')
    this.#parts.aside?.flush()
    return { ...openBlock('call'), call: this.#parts.writer.openCall(asString(use['toolUseId']) ?? '', name) }
  }

  delta(index: number, delta: Json): void {
    let open = this.#blocks.get(index)
    if (open?.kind === 'ignored') return
    if (open?.kind === 'system') return this.#parts.systemTools.delta(index, delta)
    if (open === undefined && this.#unsettled.length > 0) this.#settleCalls()
    const writer = this.#parts.writer
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
    if (this.#parts.aside === undefined) this.#parts.writer.text(text)
    else this.#parts.aside.text(text)
  }

  #reasoning(index: number, content: Json): void {
    if (!this.#blocks.has(index)) {
      // Each block has a signature of its own.
      this.#parts.writer.closeReasoning()
      this.#blocks.set(index, openBlock('reasoning'))
    }
    const text = asString(content['text'])
    if (text) {
      this.thought += text
      this.#parts.writer.reasoning('text', text)
    }
    const signature = asString(content['signature'])
    if (signature) this.#signature += signature
    const redacted = asString(content['redactedContent'])
    if (redacted) this.#redacted += Buffer.from(redacted, 'base64').toString('latin1')
  }

  stop(index: number): void {
    const open = this.#blocks.get(index)
    if (open === undefined) return
    this.#blocks.delete(index)
    switch (open.kind) {
      case 'call':
        if (open.call!.end.isWhole(open.call!.arguments)) this.#parts.writer.closeCall(open.call!)
        else this.#unsettled.push(open.call!)
        return
      case 'reasoning':
        if (this.#signature !== '' || this.#redacted !== '') this.#parts.writer.openReasoning()
        return this.#parts.writer.closeReasoning()
      case 'text':
        return this.#cite(open)
      case 'system':
        return this.#parts.systemTools.stop(index)
      default:
    }
  }

  /** More of the answer follows, so the calls before it were complete. */
  #settleCalls(): void {
    for (const call of this.#unsettled) this.#parts.writer.closeCall(call)
    this.#unsettled = []
  }

  /** Citations do not refer to a place in the answer, so they apply to the text of their block. */
  #cite({ citations, textStart }: Block): void {
    for (const citation of citations) {
      const annotation = decodeCitation(citation, textStart, this.#parts.writer.textLength)
      if (annotation !== undefined) this.#parts.writer.annotation(annotation)
    }
  }

  whole(content: Json, index: number): void {
    if (isObject(content['toolUse'])) {
      const use = content['toolUse']
      this.start(index, { toolUse: use })
      const input = use['input']
      // A call without arguments has an object without fields.
      this.delta(index, { toolUse: { input: input === undefined ? '' : JSON.stringify(input) } })
    } else if (isObject(content['toolResult'])) {
      this.start(index, content)
      this.delta(index, { toolResult: content['toolResult']['content'] })
    } else if (isObject(content['reasoningContent'])) {
      const reasoning = content['reasoningContent']
      const text = isObject(reasoning['reasoningText']) ? reasoning['reasoningText'] : {}
      this.delta(index, { reasoningContent: { ...text, redactedContent: reasoning['redactedContent'] } })
    } else if (isObject(content['citationsContent'])) {
      const cited = content['citationsContent']
      for (const part of Array.isArray(cited['content']) ? cited['content'] : []) if (isObject(part)) this.delta(index, { text: part['text'] })
      for (const citation of Array.isArray(cited['citations']) ? cited['citations'] : []) this.delta(index, { citation })
    } else this.delta(index, content)
    this.stop(index)
  }

  reasoningFields(): ReasoningFields {
    const { reasoning_format: own } = this.#parts.traits
    const format = publicReasoningFormat(own)
    const { scope } = this.#parts.target
    const [text, signature, data] = [this.thought, this.#signature, this.#redacted]
    this.thought = this.#signature = this.#redacted = ''
    if (data !== '') return { format, encrypted_content: sealReasoning({ format: own, scope, data }) }
    if (signature !== '') return { format, signature, encrypted_content: sealReasoning({ format: own, scope, signature, text }) }
    return { format }
  }

  /** The answer is over. Calls that are still open were cut off, and the end of the answer decides what becomes of them. */
  end(): void {
    for (const [index, { kind }] of this.#blocks) if (kind !== 'call') this.stop(index)
  }
}
