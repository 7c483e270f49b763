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
  /** Characters held back so far, which repeat the beginning of the text. */
  #echoed = 0
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
    // Only the new piece is compared: a server may repeat a long text word by word.
    const common = Math.min(piece.length, this.#text.length - this.#echoed)
    if (!this.#text.startsWith(piece.slice(0, common), this.#echoed)) return this.#release(piece)
    this.#echoed += common
    if (this.#echoed < this.#text.length) return ''
    this.removed += this.#echoed
    this.#echoed = 0
    this.#mayEcho = false
    return this.#trim(piece.slice(common))
  }

  /** What was held back, at the end of the text. */
  flush(): string {
    return this.#release('')
  }

  #release(piece: string): string {
    const held = this.#text.slice(0, this.#echoed) + piece
    this.#echoed = 0
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
