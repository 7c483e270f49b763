import { isObject, tryParseJson } from '../shared/json.ts'
import { isPlainText } from '../shared/plain-text.ts'

const PROBE = '\u2042probe\u2042'
/** Learning costs a second parse. A server whose frames never repeat is not worth it. */
const MAX_VAIN_LESSONS = 8
const MAX_NUMBERS = 64

/**
 * Recognises frames that differ from one fully parsed before only in the text of their one part and in the token counts behind
 * it: their text can be taken as it stands. `learn` proves the place by parsing the frame once more with another text in it.
 */
export class TextTemplate {
  #prefix = ''
  /** What stands between the numbers behind the text; the first piece begins with the closing quote. */
  #pieces: readonly string[] = []
  #vain = 0
  #used = true

  /** The plain text of the part, or undefined when the frame has to be parsed. */
  match(data: string): string | undefined {
    const start = this.#prefix.length
    // Comparing a slice costs a quarter of `startsWith` (see the chat dialect's template).
    if (start === 0 || data.slice(0, start) !== this.#prefix) return undefined
    const end = data.indexOf('"', start)
    if (end <= start || !this.#followed(data, end)) return undefined
    const text = data.slice(start, end)
    if (!isPlainText(text)) return undefined
    this.#used = true
    this.#vain = 0
    return text
  }

  /** Takes a frame that did nothing but write `text`. */
  learn(data: string, text: string): void {
    if (this.#vain >= MAX_VAIN_LESSONS) return
    if (!this.#used) this.#vain++
    const at = locate(data, text)
    if (at === undefined) return
    const prefix = flat(data.slice(0, at))
    const pieces = numberless(data.slice(at + text.length))
    if (prefix === undefined || pieces === undefined) return
    this.#prefix = prefix
    this.#pieces = pieces
    this.#used = false
  }

  #followed(data: string, from: number): boolean {
    const pieces = this.#pieces
    let at = from
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index]!
      if (index > 0) {
        const digits = at
        // Digits of whole numbers; anything longer is no count.
        while (at - digits < 12 && isDigit(data.charCodeAt(at))) at++
        if (at === digits || (at > digits + 1 && data.charCodeAt(digits) === ZERO)) return false
      }
      const end = at + piece.length
      if (data.slice(at, end) !== piece) return false
      at = end
    }
    return at === data.length
  }
}

const ZERO = 48
const isDigit = (code: number): boolean => code >= ZERO && code <= ZERO + 9

/** Splits at the counts of tokens; other numbers stay, they may mean something. Undefined when there are too many. */
function numberless(text: string): string[] | undefined {
  const pieces: string[] = []
  let from = 0
  for (const match of text.matchAll(/[tT]okenCount"\s*:\s*(\d{1,12})(?=[,}\s])/g)) {
    const start = match.index + match[0].length - match[1]!.length
    const piece = flat(text.slice(from, start))
    if (piece === undefined || pieces.length >= MAX_NUMBERS) return undefined
    pieces.push(piece)
    from = start + match[1]!.length
  }
  const last = flat(text.slice(from))
  return last === undefined ? undefined : [...pieces, last]
}

/** A copy that does not lean on a larger string: slices of slices compare slowly, and would keep whole reads in memory. */
function flat(text: string): string | undefined {
  const copy = Buffer.from(text).toString()
  return copy === text ? copy : undefined
}

/** Where the text of the frame's only part stands: the place where another text changes the part, and changes it to exactly that. */
function locate(data: string, text: string): number | undefined {
  const opening = /"text"\s*:\s*"/.exec(data)
  if (opening === null) return undefined
  const start = opening.index + opening[0].length
  if (!data.startsWith(text, start) || data[start + text.length] !== '"') return undefined
  const frame = tryParseJson(data.slice(0, start) + PROBE + data.slice(start + text.length))
  const candidates = isObject(frame) && Array.isArray(frame['candidates']) ? (frame['candidates'] as readonly unknown[]) : []
  const candidate = candidates[0]
  const content = isObject(candidate) ? candidate['content'] : undefined
  const parts = isObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly unknown[]) : []
  const part = parts[0]
  return candidates.length === 1 && parts.length === 1 && isObject(part) && part['text'] === PROBE ? start : undefined
}
