import { asString, isObject, tryParseJson } from '../shared/json.ts'

/** The fields of a delta that can be learned, and what they hold. */
export type LearnedField = { readonly field: 'content' | 'reasoning_content' | 'reasoning'; readonly kind: 'text' | 'reasoning' }

const PROBE = '\u2042probe\u2042'
const MAX_CANDIDATES = 3
/** Learning costs a second parse. A server whose frames never repeat is not worth it. */
const MAX_VAIN_LESSONS = 8
/** Random padding some servers put at the end of each frame; nobody reads it, so that it may differ. */
const PADDING = /^([^]*"(?:obfuscation|p)"\s*:\s*")[A-Za-z0-9+/=_-]*("\s*\})$/

/**
 * Recognises frames that differ from one fully parsed before only in the text of the delta. Between them the bytes around the text are
 * the same, so that parsing them would give the same object with another string: the text can be taken as it stands, provided that it
 * needs no unescaping. `learn` proves the place by parsing the frame once more with another text in it.
 */
export class DeltaTemplate {
  #prefix = ''
  #suffix = ''
  /** Set when padding follows: the frame then ends with any padding and this. */
  #ending = ''
  #learned: LearnedField | undefined
  #vain = 0
  #used = true

  get kind(): LearnedField['kind'] | undefined {
    return this.#learned?.kind
  }

  /** The plain text of the delta, or undefined when the frame has to be parsed. */
  match(data: string): string | undefined {
    const start = this.#prefix.length
    if (start === 0 || !data.startsWith(this.#prefix)) return undefined
    let end = start
    // Up to the closing quote; anything that needs unescaping, or is half of a pair, sends the frame to the parser.
    for (; ; end++) {
      const code = data.charCodeAt(end)
      if (code === 34) break
      if (!(code >= 32) || code === 92 || (code >= 0xd800 && code <= 0xdfff)) return undefined
    }
    if (end === start || !data.startsWith(this.#suffix, end)) return undefined
    const rest = end + this.#suffix.length
    if (this.#ending === '' ? rest !== data.length : !this.#endsWithPadding(data, rest)) return undefined
    this.#used = true
    this.#vain = 0
    return data.slice(start, end)
  }

  /** Takes a frame that did nothing but write `text` from `field`. */
  learn(data: string, learned: LearnedField, text: string): void {
    if (this.#vain >= MAX_VAIN_LESSONS) return
    if (!this.#used) this.#vain++
    const at = locate(data, learned.field, text)
    if (at === undefined) return
    this.#prefix = data.slice(0, at)
    const suffix = data.slice(at + text.length)
    const padding = PADDING.exec(suffix)
    this.#suffix = padding?.[1] ?? suffix
    this.#ending = padding?.[2] ?? ''
    this.#learned = learned
    this.#used = false
  }

  #endsWithPadding(data: string, from: number): boolean {
    const to = data.length - this.#ending.length
    if (to < from || !data.endsWith(this.#ending)) return false
    for (let at = from; at < to; at++) {
      const code = data.charCodeAt(at)
      if (!(code >= 32) || code === 34 || code === 92) return false
    }
    return true
  }
}

/** Where the delta's text stands in the frame: the place where another text changes the delta, and changes it to exactly that. */
function locate(data: string, field: string, text: string): number | undefined {
  const name = `"${field}"`
  let from = data.length
  for (let tries = 0; tries < MAX_CANDIDATES; tries++) {
    const at = data.lastIndexOf(name, from)
    if (at < 0) return undefined
    from = at - 1
    const opening = /^\s*:\s*"/.exec(data.slice(at + name.length, at + name.length + 8))
    if (opening !== null) {
      const start = at + name.length + opening[0].length
      if (data.startsWith(text, start) && data[start + text.length] === '"' && isDelta(data, start, text.length, field)) return start
    }
    if (from < 0) return undefined
  }
  return undefined
}

function isDelta(data: string, start: number, length: number, field: string): boolean {
  const frame = tryParseJson(data.slice(0, start) + PROBE + data.slice(start + length))
  const choices = isObject(frame) && Array.isArray(frame['choices']) ? frame['choices'] : []
  const choice: unknown = choices[0]
  const delta = isObject(choice) ? choice['delta'] : undefined
  return choices.length === 1 && isObject(delta) && asString(delta[field]) === PROBE
}
