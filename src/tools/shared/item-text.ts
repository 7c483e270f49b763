import type { JsonObject } from '../../core/item.ts'
import { WholeDeltas } from './whole-deltas.ts'

const AT = { content_index: 0 }
const noText = { type: 'output_text', annotations: [], logprobs: [] }

/** Text that a tool's own item shows while it is written: one content part, opened by the first text and closed once. */
export class ItemText {
  readonly #emit: (name: string, fields: JsonObject) => void
  readonly #deltas = new WholeDeltas()
  #text = ''
  #closed = false

  constructor(emit: (name: string, fields: JsonObject) => void) {
    this.#emit = emit
  }

  push(delta: string): void {
    if (!this.#closed) this.#show(this.#deltas.take(delta))
  }

  /** Closes the part. */
  end(): void {
    if (this.#closed) return
    this.#show(this.#deltas.end())
    this.#closed = true
    if (this.#text === '') return
    this.#emit('output_text.done', { ...AT, text: this.#text, logprobs: [] })
    this.#emit('content_part.done', { ...AT, part: { ...noText, text: this.#text } })
  }

  #show(delta: string): void {
    if (delta === '') return
    if (this.#text === '') this.#emit('content_part.added', { ...AT, part: { ...noText, text: '' } })
    this.#text += delta
    this.#emit('output_text.delta', { ...AT, delta, logprobs: [] })
  }
}
