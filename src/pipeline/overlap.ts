/** A shorter repetition may be intended by the model. */
const LEAST_ECHO = 16

/**
 * Removes from the text of an endpoint that continues an answer what the caller has already: the white space that was trimmed from the beginning it
 * was sent, and the beginning itself if a server repeats all of it.
 */
export class Overlap {
  readonly #text: string
  /** Trailing white space of the text so far, which the next characters may repeat. */
  #space: string
  #held = ''
  #mayEcho: boolean
  /** Characters removed. */
  removed = 0

  constructor(text: string) {
    this.#text = text.trimEnd()
    this.#space = text.slice(this.#text.length)
    this.#mayEcho = this.#text.length >= LEAST_ECHO
  }

  /** What is new in the next piece; text that may turn out to be a repetition is held back. */
  take(piece: string): string {
    if (!this.#mayEcho) return this.#trim(piece)
    this.#held += piece
    const common = Math.min(this.#held.length, this.#text.length)
    if (this.#held.slice(0, common) !== this.#text.slice(0, common)) return this.flush()
    if (common < this.#text.length) return ''
    const rest = this.#held.slice(common)
    this.removed += common
    this.#mayEcho = false
    this.#held = ''
    return this.#trim(rest)
  }

  /** What was held back, at the end of the text. */
  flush(): string {
    const held = this.#held
    this.#held = ''
    this.#mayEcho = false
    return this.#trim(held)
  }

  #trim(piece: string): string {
    let same = 0
    while (same < piece.length && same < this.#space.length && piece[same] === this.#space[same]) same++
    this.#space = same < piece.length ? '' : this.#space.slice(same)
    this.removed += same
    return piece.slice(same)
  }
}
