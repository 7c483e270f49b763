import { publicReasoningFormat, sealReasoning } from '../../core/reasoning-envelope.ts'
import type { AnswerWriter, ReasoningFields } from '../shared/answer-writer.ts'
import { asString, isObject } from '../shared/json.ts'
import type { OpenAiChatOptions } from './options.ts'

type Detail = { [field: string]: unknown }

/**
 * Collects what a reasoning item requires to be sent back later: its text if the server expects text, or the list of details as the server wrote it
 * (with the pieces of a block joined) if it expects those.
 */
export class ReasoningCollector {
  readonly #options: OpenAiChatOptions
  readonly #scope: string
  /** Text is kept for servers that expect it back, and for callers that ask for everything that a later turn may need. */
  readonly #keepsText: boolean
  readonly #wantsEncrypted: boolean
  #text = ''
  #signature = ''
  #details: Detail[] = []

  /** @param wantsEncrypted whether the caller wants reasoning in its encrypted field: some clients return nothing else */
  constructor(options: OpenAiChatOptions, scope: string, wantsEncrypted: boolean) {
    this.#options = options
    this.#scope = scope
    this.#wantsEncrypted = wantsEncrypted
    this.#keepsText = options.reasoning_replay === 'none' ? wantsEncrypted : options.reasoning_replay !== 'reasoning_details' || wantsEncrypted
  }

  text(delta: string): void {
    if (this.#keepsText) this.#text += delta
  }

  /** The signature of the block of thoughts that is open; `writer` opens an item for a block without text. Only for servers that want it back. */
  sign(signature: string, writer: AnswerWriter): void {
    if (this.#options.reasoning_replay !== 'thinking-part') return
    writer.openReasoning()
    this.#signature = signature
  }

  /** Whether the open block is signed, so that further thoughts belong to another. */
  get isSigned(): boolean {
    return this.#signature !== ''
  }

  /** One list of `reasoning_details`: texts and summaries are written; signatures and blobs are kept for the end of the item. */
  details(list: readonly unknown[], writer: AnswerWriter): void {
    for (const entry of list) {
      if (!isObject(entry)) continue
      if (!this.#joins(entry)) writer.closeReasoning()
      this.#keep(entry)
      const index = typeof entry['index'] === 'number' ? entry['index'] : undefined
      if (typeof entry['text'] === 'string') writer.reasoning('text', entry['text'])
      if (typeof entry['summary'] === 'string') writer.reasoning('summary', entry['summary'], index)
      if (typeof entry['signature'] === 'string' || typeof entry['data'] === 'string') writer.openReasoning()
    }
  }

  /** The fields of the item that ends; resets for the next one. */
  end(): ReasoningFields | undefined {
    const text = this.#text
    const details = this.#details
    const signature = this.#signature
    this.#text = this.#signature = ''
    this.#details = []
    if (details.length > 0) return this.#detailFields(details)
    const format = this.#options.reasoning_format
    if (signature !== '') {
      const encrypted_content = sealReasoning({ format, scope: this.#scope, signature, text })
      return { format: publicReasoningFormat(format), signature, encrypted_content }
    }
    return text === ''
      ? { format: publicReasoningFormat(format) }
      : { format: publicReasoningFormat(format), encrypted_content: sealReasoning({ format, scope: this.#scope, text }) }
  }

  #detailFields(details: readonly Detail[]): ReasoningFields {
    const format = details.map((detail) => asString(detail['format'])).find((each) => each !== undefined) ?? this.#options.reasoning_format
    const signature = details.map((detail) => asString(detail['signature'])).find((each) => each !== undefined)
    const sealed =
      this.#wantsEncrypted || this.#options.reasoning_replay === 'reasoning_details' || details.some((detail) => typeof detail['data'] === 'string')
    return {
      format: publicReasoningFormat(format),
      ...(signature === undefined ? {} : { signature }),
      ...(sealed ? { encrypted_content: sealReasoning({ format, scope: this.#scope, data: JSON.stringify(details) }) } : {}),
    }
  }

  /** Text after an opaque blob, or a second blob, belongs to another item, because an item contains only one. */
  #joins(entry: { readonly [field: string]: unknown }): boolean {
    const last = this.#details.at(-1)
    if (last === undefined || typeof last['data'] !== 'string') return true
    return entry['type'] === last['type'] && entry['index'] === last['index'] && (entry['id'] ?? last['id']) === last['id']
  }

  #keep(entry: { readonly [field: string]: unknown }): void {
    const last = this.#details.at(-1)
    if (last === undefined || last['type'] !== entry['type'] || last['index'] !== entry['index']) {
      this.#details.push({ ...entry })
      return
    }
    for (const [field, value] of Object.entries(entry)) {
      const joined = (field === 'text' || field === 'summary' || field === 'data') && typeof last[field] === 'string' && typeof value === 'string'
      if (joined) last[field] += value
      else if (value !== null && value !== undefined) last[field] = value
    }
  }
}
