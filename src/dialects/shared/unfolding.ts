/** Enough for some hundred uses of definitions, as tools have them, and small enough to cost a tenth of a second. */
const MAX_UNFOLDED = 1_000_000
/** The cost of each value besides its text, because a node takes more work than a character. */
const VALUE_COST = 32

/**
 * Bounds the cost of replacing references by definitions in one request. Definitions with references multiply: three levels of a thousand references
 * each are a body of 100 KB and a billion schemas. If the result is `false`, the reference is left without its content.
 */
export class Unfolding {
  #left = MAX_UNFOLDED

  /** Whether this definition still fits. After the first that does not, no other is considered. */
  takes(definition: unknown): boolean {
    const open: unknown[] = [definition]
    while (open.length > 0 && this.#left > 0) {
      const value = open.pop()
      this.#left -= VALUE_COST
      if (typeof value === 'string') this.#left -= value.length
      else if (typeof value === 'object' && value !== null) this.#takeMembers(value, open)
    }
    return this.#left > 0
  }

  #takeMembers(value: object, open: unknown[]): void {
    for (const key in value) {
      if (this.#left <= 0) return
      // Counted before it is visited, so that what waits is bounded, too.
      this.#left -= key.length + 1
      open.push((value as { readonly [key: string]: unknown })[key])
    }
  }
}
