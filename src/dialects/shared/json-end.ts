import { tryParseJson } from './json.ts'

const QUOTE = 34
const BACKSLASH = 92
/** `null`, a number or a short string: parsed at every check. */
const MAX_SCALAR = 64

/** Whether text is one complete JSON value, so that nothing can follow. */
export function isCompleteJson(text: string): boolean {
  return text !== '' && tryParseJson(text) !== undefined
}

/** Whether text ends within a JSON object, list or string. */
export function breaksOff(text: string): boolean {
  const end = new JsonEnd()
  end.push(text)
  return end.breaksOff
}

/**
 * Tells whether arguments that arrive in pieces are complete. This is asked with each item that follows, so the pieces are scanned as they come, and
 * the text is parsed only once it can be complete.
 */
export class JsonEnd {
  #length = 0
  #depth = 0
  #inString = false
  #escaped = false
  /** The outermost bracket was closed. */
  #closed = false
  #opened = false
  #isComplete: boolean | undefined

  push(piece: string): void {
    this.#length += piece.length
    // What is broken stays broken, and after the end there is only noise.
    this.#isComplete = this.#isComplete === false ? false : undefined
    for (let at = 0; at < piece.length; at++) this.#char(piece.charCodeAt(at))
  }

  /** Whether parsing is worth a try. */
  get mayBeWhole(): boolean {
    return this.#opened ? this.#closed && this.#isComplete !== false : this.#length <= MAX_SCALAR
  }

  /** `text`: everything that was pushed. */
  isWhole(text: string): boolean {
    if (!this.mayBeWhole) return false
    return this.#opened ? (this.#isComplete ??= isCompleteJson(text)) : isCompleteJson(text)
  }

  /** An object, a list or a string is not closed. */
  get breaksOff(): boolean {
    return this.#opened ? !this.#closed : this.#inString
  }

  #char(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (code === BACKSLASH) this.#escaped = true
      else if (code === QUOTE) this.#inString = false
    } else if (code === QUOTE) this.#inString = true
    else if (code === 123 || code === 91) {
      this.#opened = true
      this.#depth++
    } else if ((code === 125 || code === 93) && --this.#depth <= 0) this.#closed = true
  }
}
