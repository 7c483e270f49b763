/** Enough for a few hundred uses of definitions as tools have them, and little enough to cost a tenth of a second. */
const MAX_UNFOLDED = 1_000_000
/** What each value costs beside its text: a node is more work than a letter. */
const VALUE_COST = 32

/**
 * What putting definitions in the place of references may cost in one request. Definitions that refer to definitions multiply: three levels
 * of a thousand references each are a body of 100 KB and a billion schemas. Whoever gets `false` leaves the reference without its contents.
 */
export class Unfolding {
  #left = MAX_UNFOLDED

  /** Whether this definition still fits. The first that does not is the last that is looked at. */
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
      // Charged here already, so that what waits is bounded, too.
      this.#left -= key.length + 1
      open.push((value as { readonly [key: string]: unknown })[key])
    }
  }
}
