import { flat, type TemplateTail } from './template-tail.ts'

/** Fields that differ in every answer, its id and the second it was made. They do not affect how a frame is read. */
const OWN = /"(?:id"\s*:\s*"[^"\\]*(?=")|created"\s*:\s*\d+)/g
/** Nobody has longer ids and times. */
const MAX_OWN_CHARS = 128
const QUOTE = 34
const ZERO = 48
const NINE = 57

/**
 * The bytes before the text of a recognized frame, as far as they are the same in all answers of an endpoint. A frame of another answer with the same
 * bytes parses to the same object except for `id` and `created`, whose places are inside of values, and its text; so nothing has to be proved again.
 */
export class FrameShape<Kind extends string> {
  readonly kind: Kind
  readonly tail: TemplateTail
  readonly #pieces: readonly string[]
  readonly #length: number

  private constructor(kind: Kind, tail: TemplateTail, pieces: readonly string[], length: number) {
    this.kind = kind
    this.tail = tail
    this.#pieces = pieces
    this.#length = length
  }

  /** `prefix` and `tail` of a parsed frame. Undefined if it cannot be told apart from others. */
  static of<Kind extends string>(kind: Kind, prefix: string, tail: TemplateTail): FrameShape<Kind> | undefined {
    const pieces: string[] = []
    let from = 0
    for (const match of prefix.matchAll(OWN)) {
      const end = match.index + match[0].length
      const own = end - valueStart(prefix, match.index, end)
      const piece = flat(prefix.slice(from, end - own))
      if (piece === undefined) return undefined
      pieces.push(piece)
      from = end
    }
    const last = flat(prefix.slice(from))
    return last === undefined ? undefined : new FrameShape(kind, tail, [...pieces, last], prefix.length)
  }

  /** Where the text begins in a frame of this shape. */
  startIn(data: string): number | undefined {
    const pieces = this.#pieces
    if (data.length < this.#length - MAX_OWN_CHARS) return undefined
    let at = 0
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index]!
      if (index > 0) {
        const end = endOfOwn(data, at, pieces[index - 1]!)
        if (end === undefined) return undefined
        at = end
      }
      if (data.slice(at, at + piece.length) !== piece) return undefined
      at += piece.length
    }
    return at
  }
}

/** Where the value of a match begins: after the quote of a string, or at the first digit. */
function valueStart(prefix: string, start: number, end: number): number {
  const colon = prefix.indexOf(':', start)
  let at = colon + 1
  while (at < end && prefix.charCodeAt(at) <= 32) at++
  return prefix.charCodeAt(at) === QUOTE ? at + 1 : at
}

/** The end of an answer's own value after this piece: a string that needs no unescaping, or digits. */
function endOfOwn(data: string, start: number, piece: string): number | undefined {
  const most = Math.min(data.length, start + MAX_OWN_CHARS)
  const isText = piece.charCodeAt(piece.length - 1) === QUOTE
  let at = start
  for (; at < most; at++) {
    const code = data.charCodeAt(at)
    if (isText ? code === QUOTE : code < ZERO || code > NINE) break
    if (code === 92 || code < 32) return undefined
  }
  if (at === most) return undefined
  // Numbers have at least one digit, and no leading zeros.
  if (!isText && (at === start || (at > start + 1 && data.charCodeAt(start) === ZERO))) return undefined
  return at
}
