import type { OutputItem } from '../../core/item.ts'

/** An item of an answer as JSON. */
export interface ItemText {
  readonly id: unknown
  readonly text: string
}

/** The items of an answer in order. Each is serialized to JSON once: for its own end, for the end of the answer and for storage. */
export class AnswerItems {
  readonly all: OutputItem[] = []
  readonly #texts: string[] = []

  get length(): number {
    return this.all.length
  }

  /** Stores an item at its index, replacing what was there. */
  keep(index: number, item: OutputItem): void {
    this.all[index] = item
    this.#texts[index] = JSON.stringify(item)
  }

  text(index: number): string {
    return this.#texts[index]!
  }

  /** All items as a JSON array. */
  json(): string {
    return `[${this.#texts.join(',')}]`
  }

  /** The JSON of these items, which may differ from those kept here. */
  textsOf(items: readonly OutputItem[]): readonly ItemText[] {
    return items.map((item, index) => ({ id: item.id, text: item === this.all[index] ? this.#texts[index]! : JSON.stringify(item) }))
  }
}
