/** Text in pieces that never split a surrogate pair: half a pair at the end of a piece waits for its other half. */
export class WholeDeltas {
  #half = ''

  /** Returns what can be shown now. */
  take(delta: string): string {
    const text = this.#half + delta
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
    return text.slice(0, text.length - this.#half.length).toWellFormed()
  }

  /** Returns what is left if nothing follows. */
  end(): string {
    const rest = this.#half.toWellFormed()
    this.#half = ''
    return rest
  }
}
