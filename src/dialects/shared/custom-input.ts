import { isObject, tryParseJson } from './json.ts'

/** The input of a free-form tool, as the arguments of the function that stands for it. */
export function wrapCustomInput(input: string): string {
  return JSON.stringify({ input })
}

/** The reverse. Models do not always obey: other property names, and plain text instead of JSON, are accepted as the input. */
export function unwrapCustomInput(text: string): string {
  const value = tryParseJson(text)
  if (typeof value === 'string') return value
  if (!isObject(value)) return text
  if (typeof value['input'] === 'string') return value['input']
  const texts = Object.values(value)
  return texts.length === 1 && typeof texts[0] === 'string' ? texts[0] : text
}

const OPENING = /^\s*\{\s*"input"\s*:\s*"/
const BARE_OPENING = '{"input":"'
const HEX = /^[0-9a-fA-F]*$/
const MAX_OPENING_CHARS = 256
const ESCAPES: { readonly [letter: string]: string } = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Unwraps while the arguments still arrive, so that a long patch streams. */
export interface CustomInputStream {
  /** Takes a piece of the arguments and returns what it adds to the input. */
  push(delta: string): string
  /**
   * The rest, and the whole input. If the text did not have the expected form, `rest` may be all of it. `breaksOff`: it had the form, but ended
   * within the input or before it.
   */
  end(): { readonly rest: string; readonly input: string; readonly breaksOff: boolean }
}

export function createCustomInputStream(): CustomInputStream {
  let raw = ''
  /** What is not decoded yet. Reading in `raw` would copy all of it for each piece that was added. */
  let ahead = ''
  let state: 'opening' | 'inside' | 'closed' | 'buffering' = 'opening'
  let emitted = ''

  /** Decodes string characters; stops before an escape, or a first surrogate, that is not complete yet. */
  const decode = (): string => {
    let out = ''
    let position = 0
    while (position < ahead.length) {
      const char = ahead[position]!
      if (char === '"') {
        state = 'closed'
        break
      }
      if (char !== '\\') {
        out += char
        position++
        continue
      }
      const letter = ahead[position + 1]
      if (letter === undefined) break
      if (letter !== 'u') {
        out += ESCAPES[letter] ?? letter
        position += 2
        continue
      }
      const digits = ahead.slice(position + 2, position + 6)
      if (!HEX.test(digits)) {
        // A backslash that nobody escaped, in a path or the like.
        out += '\\u'
        position += 2
        continue
      }
      if (digits.length < 4) break
      const code = Number.parseInt(digits, 16)
      // Surrogate pairs are passed on whole, because half of one would be lost in UTF-8.
      if (code >= 0xd800 && code < 0xdc00) {
        const next = ahead.slice(position + 6, position + 12)
        const isPair = '\\u'.startsWith(next.slice(0, 2)) && HEX.test(next.slice(2))
        if (isPair && next.length < 6) break
        if (isPair) {
          out += String.fromCharCode(code, Number.parseInt(next.slice(2), 16))
          position += 12
          continue
        }
      }
      out += String.fromCharCode(code)
      position += 6
    }
    ahead = ahead.slice(position)
    emitted += out
    return out
  }

  return {
    push(delta) {
      raw += delta
      if (state === 'opening') {
        const opening = OPENING.exec(raw.length > MAX_OPENING_CHARS ? raw.slice(0, MAX_OPENING_CHARS) : raw)
        if (opening !== null) {
          ahead = raw.slice(opening[0].length)
          state = 'inside'
        } else if (raw.length > MAX_OPENING_CHARS) state = 'buffering'
      } else if (state === 'inside') ahead += delta
      return state === 'inside' ? decode() : ''
    },
    end() {
      if (emitted !== '' || state === 'inside' || state === 'closed') {
        const parsed = tryParseJson(raw)
        const input = isObject(parsed) && typeof parsed['input'] === 'string' && parsed['input'].startsWith(emitted) ? parsed['input'] : emitted
        return { rest: input.slice(emitted.length), input, breaksOff: state === 'inside' }
      }
      const input = unwrapCustomInput(raw)
      const begun = state === 'opening' ? raw.replaceAll(/\s/g, '') : ''
      return { rest: input, input, breaksOff: begun !== '' && BARE_OPENING.startsWith(begun) }
    },
  }
}
