import { tryParseJson } from './json.ts'
import { FrameShape } from './frame-shape.ts'
import { isPlainText } from './plain-text.ts'
import { flat, paddedTail, type MakeTail, type TemplateTail } from './template-tail.ts'

/** ASCII, because one character beyond Latin-1 would make V8 use two bytes per character for the whole frame. A delta with just this text teaches nothing. */
const PROBE = '(another text)'
const MAX_CANDIDATES = 3
/** Learning takes a second parse, which is not worth it if a server's frames never repeat. */
const MAX_VAIN_LESSONS = 8

/** Reads the single text of a frame; undefined if the frame contains anything else that could have an effect. */
export type ReadDelta<Kind extends string> = (frame: unknown, kind: Kind) => string | undefined

/** A frame that only wrote `text`, from a JSON field of this name. */
export interface Lesson<Kind extends string> {
  readonly kind: Kind
  readonly field: string
  readonly text: string
}

/**
 * Recognizes frames that differ from one fully parsed before only in the text of their delta. The bytes around the text are the same, so parsing
 * would give the same object with another string, and the text can be copied if it needs no unescaping. `learn` proves its place by parsing the frame
 * with another text.
 */
export class DeltaTemplate<Kind extends string> {
  /** What the recognized frames write. */
  kind: Kind | undefined
  readonly #read: ReadDelta<Kind>
  readonly #makeTail: MakeTail
  #prefix = ''
  #tail: TemplateTail | undefined
  #vain = 0
  #used = true

  constructor(read: ReadDelta<Kind>, makeTail: MakeTail = paddedTail) {
    this.#read = read
    this.#makeTail = makeTail
  }

  /** The plain text of the delta, or undefined if the frame has to be parsed. */
  match(data: string): string | undefined {
    const start = this.#prefix.length
    // Comparing a slice costs a quarter of `startsWith`, which goes character by character (200 characters on Node 24: 25 against 95 ns).
    if (start === 0 || data.slice(0, start) !== this.#prefix) return undefined
    const text = plainTextAt(data, start, this.#tail!)
    if (text === undefined) return undefined
    this.#used = true
    this.#vain = 0
    return text
  }

  /** The same for a frame of another answer, whose shape may have been learned from an earlier one: from here on its like is recognized. */
  adopt(shape: FrameShape<Kind>, data: string): string | undefined {
    const start = shape.startIn(data)
    if (start === undefined) return undefined
    const text = plainTextAt(data, start, shape.tail)
    const prefix = text === undefined ? undefined : flat(data.slice(0, start))
    if (prefix === undefined) return undefined
    this.#take(prefix, shape.tail, shape.kind)
    return text
  }

  /** What other answers can reuse of what was learned last. */
  get shape(): FrameShape<Kind> | undefined {
    return this.kind === undefined ? undefined : FrameShape.of(this.kind, this.#prefix, this.#tail!)
  }

  /** True if something was learned. */
  learn(data: string, lesson: Lesson<Kind>): boolean {
    const { kind, text } = lesson
    if (this.#vain >= MAX_VAIN_LESSONS || text === '' || text === PROBE || !isPlainText(text)) return false
    if (!this.#used) this.#vain++
    const at = this.#locate(data, lesson)
    if (at === undefined) return false
    const prefix = flat(data.slice(0, at))
    const tail = this.#makeTail(data.slice(at + text.length))
    if (prefix === undefined || tail === undefined) return false
    this.#take(prefix, tail, kind)
    return true
  }

  #take(prefix: string, tail: TemplateTail, kind: Kind): void {
    this.#prefix = prefix
    this.#tail = tail
    this.kind = kind
    this.#used = false
  }

  /** Forgets what was learned: the following frames have other bytes before their text. */
  forget(): void {
    this.kind = undefined
    this.#used = true
  }

  /** The place where another text changes the delta, and changes it to exactly that text. */
  #locate(data: string, { kind, field, text }: Lesson<Kind>): number | undefined {
    const name = `"${field}"`
    let from = data.length
    for (let tries = 0; tries < MAX_CANDIDATES && from >= 0; tries++) {
      const at = data.lastIndexOf(name, from)
      if (at < 0) return undefined
      from = at - 1
      const opening = /^\s*:\s*"/.exec(data.slice(at + name.length, at + name.length + 8))
      if (opening === null) continue
      const start = at + name.length + opening[0].length
      if (!data.startsWith(text, start) || data[start + text.length] !== '"') continue
      const probed = tryParseJson(data.slice(0, start) + PROBE + data.slice(start + text.length))
      if (this.#read(probed, kind) === PROBE) return start
    }
    return undefined
  }
}

/** The text of a frame that begins here and is followed only by the tail, if it can be copied. */
function plainTextAt(data: string, start: number, tail: TemplateTail): string | undefined {
  const end = data.indexOf('"', start)
  if (end <= start || !tail.matches(data, end)) return undefined
  const text = data.slice(start, end)
  return isPlainText(text) ? text : undefined
}
