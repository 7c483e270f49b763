import { asString, isObject, tryParseJson } from '../shared/json.ts'
import { isPlainText } from '../shared/plain-text.ts'

type DeltaField = 'text' | 'thinking'

const PROBE = '\u2042probe\u2042'
/** Learning costs a second parse. A server whose frames never repeat is not worth it. */
const MAX_VAIN_LESSONS = 8
const SPACE = 32
const CLOSING_BRACE = 125

/**
 * Recognises deltas of the open block that differ from one fully parsed before only in their text: between them the bytes around the text
 * are the same, but for the blanks some servers pad each frame with, so that parsing would give the same object with another string. The
 * text can be taken as it stands when it needs no unescaping. `learn` proves the place by parsing the frame once more with another text.
 */
export class BlockTemplate {
  #prefix = ''
  #suffix = ''
  /** How many braces follow the text, where nothing but braces and blanks does; else 0. */
  #braces = 0
  #vain = 0
  #used = true

  /** What it recognises, if anything: valid until the block ends. */
  field: DeltaField | undefined

  /** The plain text of the delta, or undefined when the frame has to be parsed. */
  match(data: string): string | undefined {
    const start = this.#prefix.length
    // Comparing a slice costs a quarter of `startsWith`, which goes character by character.
    if (data.slice(0, start) !== this.#prefix) return undefined
    const end = data.indexOf('"', start)
    if (end <= start || !this.#ends(data, end + 1)) return undefined
    const text = data.slice(start, end)
    if (!isPlainText(text)) return undefined
    this.#used = true
    this.#vain = 0
    return text
  }

  /** Takes a frame that did nothing but write `text` from `field` of its delta. */
  learn(data: string, field: DeltaField, text: string): void {
    if (this.#vain >= MAX_VAIN_LESSONS) return
    if (!this.#used) this.#vain++
    const at = locate(data, field, text)
    if (at === undefined) return
    const prefix = flat(data.slice(0, at))
    const suffix = flat(data.slice(at + text.length + 1))
    if (prefix === undefined || suffix === undefined) return
    this.#prefix = prefix
    this.#suffix = suffix
    this.#braces = /^[ }]*$/.test(suffix) ? suffix.replaceAll(' ', '').length : 0
    this.field = field
    this.#used = false
  }

  /** The block is over: the next one has other bytes before its text. */
  forget(): void {
    this.field = undefined
    this.#used = true
  }

  #ends(data: string, from: number): boolean {
    if (this.#braces === 0) return data.slice(from) === this.#suffix
    let braces = 0
    for (let at = from; at < data.length; at++) {
      const code = data.charCodeAt(at)
      if (code === CLOSING_BRACE) braces++
      else if (code !== SPACE) return false
    }
    return braces === this.#braces
  }
}

/** A copy that does not lean on a larger string: slices of slices compare slowly, and would keep whole reads in memory. */
function flat(text: string): string | undefined {
  const copy = Buffer.from(text).toString()
  return copy === text ? copy : undefined
}

/** Where the delta's text stands in the frame: the place where another text changes the delta, and changes it to exactly that. */
function locate(data: string, field: string, text: string): number | undefined {
  const name = `"${field}"`
  const at = data.lastIndexOf(name)
  const opening = at < 0 ? null : /^\s*:\s*"/.exec(data.slice(at + name.length, at + name.length + 8))
  if (opening === null) return undefined
  const start = at + name.length + opening[0].length
  if (!data.startsWith(text, start) || data[start + text.length] !== '"') return undefined
  const frame = tryParseJson(data.slice(0, start) + PROBE + data.slice(start + text.length))
  const delta = isObject(frame) ? frame['delta'] : undefined
  return isObject(delta) && asString(delta[field]) === PROBE ? start : undefined
}
