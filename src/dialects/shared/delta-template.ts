import { tryParseJson } from './json.ts'
import { isPlainText } from './plain-text.ts'

const PROBE = '\u2042probe\u2042'
/** Learning costs a second parse. A server whose frames never repeat is not worth it. */
const MAX_VAIN_LESSONS = 8
/** Random padding at the end of a frame, which nobody reads and which may therefore differ. */
const PADDING = /^([^]*"p"\s*:\s*")[A-Za-z0-9+/=_-]*("\s*\})$/

/** Reads the one text of a frame; undefined when the frame holds anything else that could have an effect. */
export type ReadDelta<Kind extends string> = (frame: unknown, kind: Kind) => string | undefined

/**
 * Recognises frames that differ from one fully parsed before only in the text of their delta: the bytes around it are the same, so that
 * parsing would give the same object with another string. `learn` proves the place by parsing the frame with another text in it.
 */
export class DeltaTemplate<Kind extends string> {
  /** What the recognised frames write. */
  kind: Kind | undefined
  readonly #read: ReadDelta<Kind>
  #prefix = ''
  #suffix = ''
  /** Set when padding follows: the frame then ends with any padding and this. */
  #ending = ''
  #vain = 0
  #used = true

  constructor(read: ReadDelta<Kind>) {
    this.#read = read
  }

  /** The plain text of the delta, or undefined when the frame has to be parsed. */
  match(data: string): string | undefined {
    const start = this.#prefix.length
    // A compared slice is faster than `startsWith`, which goes character by character.
    if (start === 0 || data.slice(0, start) !== this.#prefix) return undefined
    const end = data.indexOf('"', start)
    const rest = end + this.#suffix.length
    if (end <= start || data.slice(end, rest) !== this.#suffix) return undefined
    if (this.#ending === '' ? rest !== data.length : !this.#endsWithPadding(data, rest)) return undefined
    const text = data.slice(start, end)
    if (!isPlainText(text)) return undefined
    this.#used = true
    this.#vain = 0
    return text
  }

  /** Takes a frame that did nothing but write `text`. */
  learn(data: string, kind: Kind, text: string): void {
    if (this.#vain >= MAX_VAIN_LESSONS || !isPlainText(text)) return
    if (!this.#used) this.#vain++
    const at = data.indexOf(`:"${text}"`) + 2
    if (at < 2) return
    const after = data.slice(at + text.length)
    const probed = tryParseJson(`${data.slice(0, at)}${PROBE}${after}`)
    if (this.#read(probed, kind) !== PROBE) return
    const padding = PADDING.exec(after)
    this.#prefix = flat(data.slice(0, at))
    this.#suffix = flat(padding?.[1] ?? after)
    this.#ending = padding?.[2] ?? ''
    this.kind = kind
    this.#used = false
  }

  #endsWithPadding(data: string, from: number): boolean {
    const to = data.length - this.#ending.length
    return to >= from && data.slice(to) === this.#ending && isPlainText(data.slice(from, to))
  }
}

/** A copy that does not lean on a larger string: slices of slices compare slowly and keep whole reads in memory. */
function flat(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
