import { flat, type TemplateTail } from './template-tail.ts'

/** What every answer has of its own: its id, and the second it was made. Neither says how a frame is to be read. */
const OWN = /"(?:id"\s*:\s*"[^"\\]*(?=")|created"\s*:\s*\d+)/g
/** Longer ids and times are nobody's. */
const MAX_OWN_CHARS = 128
const QUOTE = 34
const ZERO = 48
const NINE = 57

/**
 * The bytes before the text of a recognised frame, as far as they are the same in all answers of an endpoint: a frame of another answer that has
 * them too parses to the same object but for `id` and `created`, whose places are inside of values, and its text. So nothing has to be proved again.
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

  /** `prefix` and `tail` of a frame that was parsed. Undefined when it cannot be told apart from others. */
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

/** Where the value of a match begins: behind the quote of a string, or with its first digit. */
function valueStart(prefix: string, start: number, end: number): number {
  const colon = prefix.indexOf(':', start)
  let at = colon + 1
  while (at < end && prefix.charCodeAt(at) <= 32) at++
  return prefix.charCodeAt(at) === QUOTE ? at + 1 : at
}

/** The end of an answer's own value behind this piece: a string that needs no unescaping, or digits. */
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
  // Numbers have a digit, and none begins with a zero that is not all of it.
  if (!isText && (at === start || (at > start + 1 && data.charCodeAt(start) === ZERO))) return undefined
  return at
}
