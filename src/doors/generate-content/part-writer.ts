import { placeReasoning, type Place } from '../../core/reasoning-envelope.ts'
import { quote } from '../responses/wire.ts'
import { writeSeal } from './seal.ts'

interface Sealed {
  readonly envelope: string
  readonly began: Place
}

/** The parts of an answer: written at once when streaming, otherwise kept for the end. */
export class PartWriter {
  /** Writes one part, as JSON. */
  readonly #write: ((part: string) => void) | undefined
  readonly #parts: string[] = []
  /** In an answer that is kept: the text being written, and the beginning of its part. */
  #open: { readonly head: string; text: string } | undefined
  /** Seals of thoughts, which go with the next part. */
  #seals: string[] = []
  /** The thought that the pending seal belongs to, and the one whose seal went with text: some clients keep only the signatures on calls. */
  #sealed: Sealed | undefined
  #onWords: Sealed | undefined
  #thoughts = 0
  /** Thoughts that have begun and may still get a seal. */
  readonly #unsealed = new Set<number>()
  #textLength = 0
  #calls = 0
  /** A call ended before its arguments were complete. */
  broken = false
  /** The text of the model's refusal. */
  refusal = ''

  /** `write`: omitted for JSON answers. */
  constructor(write?: (part: string) => void) {
    this.#write = write
  }

  /** Whether there is text before that readers will join with the next. */
  get speaks(): boolean {
    return this.#textLength > 0
  }

  get calls(): number {
    return this.#calls
  }

  /** All parts, as a list in JSON. */
  get all(): string {
    this.#endText()
    // Readers treat an answer without parts as broken.
    return this.#parts.length === 0 ? '[{"text":""}]' : `[${this.#parts.join(',')}]`
  }

  text(delta: string, plain: boolean | undefined): void {
    if (delta === '') return
    this.#say('', delta, plain)
    this.#textLength += delta.length
  }

  /** A readable piece of reasoning. It carries no seal, because many clients leave thoughts out of what they send back. */
  thought(delta: string, plain: boolean | undefined): void {
    if (delta !== '') this.#say('"thought":true,', delta, plain)
  }

  /** `args`: an object, as JSON. */
  call(id: string, name: string, args: string): void {
    this.#endText()
    this.#sealAgain()
    this.whole(`"functionCall":{"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"args":${args}}`)
    this.#calls++
  }

  /** Repeats the seal of a text on the call it led to, if that has none of its own. */
  #sealAgain(): void {
    const words = this.#onWords
    this.#onWords = undefined
    if (words === undefined || this.#seals.length > 0) return
    const placed = placeReasoning(words.envelope, words.began)
    if (placed !== words.envelope) this.#seals.push(writeSeal(placed))
  }

  /** A part written as a whole; `members`: its content, as JSON. */
  whole(members: string): void {
    this.#endText()
    this.#put(`{${members}${this.#seal()}}`)
  }

  /** Returns where a thought begins; to be passed to `endThought`. */
  beginThought(): Place {
    const nth = this.#thoughts++
    this.#unsealed.add(nth)
    return [this.#textLength, this.#calls, nth]
  }

  /**
   * `envelope`: the data that must come back with the thought. It includes the thought's place unless that is directly before the next part and behind all
   * seals so far.
   */
  endThought(began: Place, envelope: string | null | undefined): void {
    const [text, calls, nth = 0] = began
    this.#unsealed.delete(nth)
    if (!envelope) return
    this.#endText()
    const isNext = text === this.#textLength && calls === this.#calls && [...this.#unsealed].every((other) => other > nth)
    this.#seals.push(writeSeal(isNext ? envelope : placeReasoning(envelope, began)))
    this.#sealed = isNext ? { envelope, began } : undefined
  }

  /** Writes the last part, for seals that no part followed. */
  finish(): void {
    this.#endText()
    if (this.#seals.length > 0) this.whole('"text":""')
  }

  #say(head: string, delta: string, plain: boolean | undefined): void {
    if (this.#write !== undefined) {
      const seal = head === '' ? this.#sealOfWords() : ''
      this.#put(`{${head}"text":${quote(delta, plain)}${seal}}`)
      return
    }
    if (this.#open !== undefined && this.#open.head === head) return void (this.#open.text += delta)
    this.#endText()
    this.#open = { head, text: delta }
  }

  #endText(): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    const seal = open.head === '' ? this.#sealOfWords() : ''
    this.#put(`{${open.head}"text":${JSON.stringify(open.text)}${seal}}`)
  }

  #sealOfWords(): string {
    if (this.#seals.length > 0) this.#onWords = this.#sealed
    return this.#seal()
  }

  /** A part has room for one seal; earlier ones get parts of their own. */
  #seal(): string {
    const seals = this.#seals
    if (seals.length === 0) return ''
    this.#seals = []
    for (const seal of seals.slice(0, -1)) this.#put(`{"text":"","thoughtSignature":"${seal}"}`)
    return `,"thoughtSignature":"${seals.at(-1)!}"`
  }

  #put(part: string): void {
    if (this.#write === undefined) this.#parts.push(part)
    else this.#write(part)
  }
}
