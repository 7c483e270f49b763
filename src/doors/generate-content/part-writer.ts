import { placeReasoning, type Place } from '../../core/reasoning-envelope.ts'
import { quote } from '../responses/wire.ts'
import { writeSeal } from './seal.ts'

interface Sealed {
  readonly envelope: string
  readonly began: Place
}

/** The parts of an answer: told at once to whoever reads a stream, kept for the end for whoever does not. */
export class PartWriter {
  /** Writes one part, as JSON. */
  readonly #write: ((part: string) => void) | undefined
  readonly #parts: string[] = []
  /** Of an answer that is kept: the text that is being said, and what its part begins with. */
  #open: { readonly head: string; text: string } | undefined
  /** Seals of thoughts that go with the part that comes next. */
  #seals: string[] = []
  /** The thought whose seal that was, and the one whose seal went with words: some clients keep what stands on calls alone. */
  #sealed: Sealed | undefined
  #onWords: Sealed | undefined
  #thoughts = 0
  /** Thoughts that have begun and may still get a seal. */
  readonly #unsealed = new Set<number>()
  #textLength = 0
  #calls = 0
  /** A call ended before its arguments did. */
  broken = false
  /** The words in which the model would not answer. */
  refusal = ''

  /** `write`: left out for JSON answers. */
  constructor(write?: (part: string) => void) {
    this.#write = write
  }

  /** Whether anything has been said that readers will join with what comes. */
  get speaks(): boolean {
    return this.#textLength > 0
  }

  get calls(): number {
    return this.#calls
  }

  /** All parts, as a list in JSON. */
  get all(): string {
    this.#endText()
    // Readers take an answer without any for broken.
    return this.#parts.length === 0 ? '[{"text":""}]' : `[${this.#parts.join(',')}]`
  }

  text(delta: string, plain: boolean | undefined): void {
    if (delta === '') return
    this.#say('', delta, plain)
    this.#textLength += delta.length
  }

  /** A thought somebody reads. It carries no seal: many clients leave thoughts out of what they send back. */
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

  /** The seal that words have, for the call they led to, where that has none of its own. */
  #sealAgain(): void {
    const words = this.#onWords
    this.#onWords = undefined
    if (words === undefined || this.#seals.length > 0) return
    const placed = placeReasoning(words.envelope, words.began)
    if (placed !== words.envelope) this.#seals.push(writeSeal(placed))
  }

  /** A part that comes at once; `members`: what it says, as JSON. */
  whole(members: string): void {
    this.#endText()
    this.#put(`{${members}${this.#seal()}}`)
  }

  /** Where a thought begins, which it is given back for its end. */
  beginThought(): Place {
    const nth = this.#thoughts++
    this.#unsealed.add(nth)
    return [this.#textLength, this.#calls, nth]
  }

  /** `envelope`: what keeps it alive. It says where the thought stood if that is not before the next part, and behind all seals so far. */
  endThought(began: Place, envelope: string | null | undefined): void {
    const [text, calls, nth = 0] = began
    this.#unsealed.delete(nth)
    if (!envelope) return
    this.#endText()
    const isNext = text === this.#textLength && calls === this.#calls && [...this.#unsealed].every((other) => other > nth)
    this.#seals.push(writeSeal(isNext ? envelope : placeReasoning(envelope, began)))
    this.#sealed = isNext ? { envelope, began } : undefined
  }

  /** The last of the parts: seals that nothing followed. */
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

  /** A part has room for one; those before it get parts of their own. */
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
