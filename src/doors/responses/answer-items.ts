import type { OutputItem } from '../../core/item.ts'

/** An item of an answer as JSON. */
export interface ItemText {
  readonly id: unknown
  readonly text: string
}

/** The items of an answer in their order, each written as JSON once: for its own end, the end of the answer and whoever remembers it. */
export class AnswerItems {
  readonly all: OutputItem[] = []
  readonly #texts: string[] = []

  get length(): number {
    return this.all.length
  }

  /** Puts an item into its place, or in place of what stood there for it. */
  keep(index: number, item: OutputItem): void {
    this.all[index] = item
    this.#texts[index] = JSON.stringify(item)
  }

  text(index: number): string {
    return this.#texts[index]!
  }

  /** A JSON array. */
  json(): string {
    return `[${this.#texts.join(',')}]`
  }

  /** Of these items, which may be others than those kept here. */
  textsOf(items: readonly OutputItem[]): readonly ItemText[] {
    return items.map((item, index) => ({ id: item.id, text: item === this.all[index] ? this.#texts[index]! : JSON.stringify(item) }))
  }
}
