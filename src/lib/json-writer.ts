/** Longer texts are written on their own. Shorter ones are collected first, because each write costs as much as a hundred characters. */
const LONG_CHARS = 64
/** Texts without anything to escape: most short texts are names and ids. */
const PLAIN = /^[ !#-[\]-~]*$/
/** The most UTF-8 bytes per UTF-16 code unit. */
const MAX_UNIT_BYTES = 3

/**
 * Writes JSON as bytes, piece by piece: for payloads of megabytes, whose objects or text should never exist as a whole. The argument of `raw` must be JSON
 * already; `text` quotes its argument.
 */
export class JsonWriter {
  #buffer: Buffer
  #length = 0
  #gathered = ''
  #last = ''
  #lastStart = 0
  #lastEnd = 0

  /** Grows if the estimate was too low; a high one costs nothing but address space. */
  constructor(expectedBytes = 1024) {
    this.#buffer = Buffer.allocUnsafe(expectedBytes)
  }

  raw(json: string): void {
    this.#gathered += json
  }

  text(value: string): void {
    if (value.length >= LONG_CHARS) this.#long(value)
    else this.#gathered += PLAIN.test(value) ? `"${value}"` : JSON.stringify(value)
  }

  /** A long text is often repeated under another name; then its bytes are copied. */
  #long(value: string): void {
    this.#flush()
    if (value === this.#last) {
      const size = this.#lastEnd - this.#lastStart
      this.#reserve(size)
      this.#buffer.copyWithin(this.#length, this.#lastStart, this.#lastEnd)
      this.#length += size
      return
    }
    this.#last = value
    this.#lastStart = this.#length
    this.#write(JSON.stringify(value))
    this.#lastEnd = this.#length
  }

  #flush(): void {
    this.#write(this.#gathered)
    this.#gathered = ''
  }

  #write(text: string): void {
    this.#reserve(text.length * MAX_UNIT_BYTES)
    this.#length += this.#buffer.write(text, this.#length, 'utf8')
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }

  /** Returns everything written. The writer must not be used afterwards. */
  finish(): Buffer {
    this.#flush()
    return this.#buffer.subarray(0, this.#length)
  }
}
