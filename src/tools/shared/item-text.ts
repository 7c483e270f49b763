import type { JsonObject } from '../../core/item.ts'

const AT = { content_index: 0 }
const noText = { type: 'output_text', annotations: [], logprobs: [] }

/** Text that a tool's own item shows while it is written: one content part, opened by its first words and closed once. */
export class ItemText {
  readonly #emit: (name: string, fields: JsonObject) => void
  #text = ''
  /** Half a character, which waits for its other half. */
  #half = ''
  #closed = false

  constructor(emit: (name: string, fields: JsonObject) => void) {
    this.#emit = emit
  }

  push(delta: string): void {
    if (this.#closed) return
    const text = this.#half + delta
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
    this.#show(text.slice(0, text.length - this.#half.length))
  }

  /** Whatever has come is all of it. */
  end(): void {
    if (this.#closed) return
    this.#show(this.#half)
    this.#closed = true
    if (this.#text === '') return
    this.#emit('output_text.done', { ...AT, text: this.#text, logprobs: [] })
    this.#emit('content_part.done', { ...AT, part: { ...noText, text: this.#text } })
  }

  #show(text: string): void {
    if (text === '') return
    const delta = text.toWellFormed()
    if (this.#text === '') this.#emit('content_part.added', { ...AT, part: { ...noText, text: '' } })
    this.#text += delta
    this.#emit('output_text.delta', { ...AT, delta, logprobs: [] })
  }
}
