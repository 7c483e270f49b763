/** A text in pieces that hold whole characters each: half of one at the end of a piece waits for its other half. */
export class WholeDeltas {
  #half = ''

  /** What can be shown now. */
  take(delta: string): string {
    const text = this.#half + delta
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
    return text.slice(0, text.length - this.#half.length).toWellFormed()
  }

  /** What is left when nothing follows. */
  end(): string {
    const rest = this.#half.toWellFormed()
    this.#half = ''
    return rest
  }
}
