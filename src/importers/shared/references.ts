import type { SourcePart } from './source-part.ts'

export const isReference = (text: string): boolean => /^\$\{\w+(?::-[^}]*)?\}$/.test(text)

/** Streamed answers that take this long are not rare. */
const SHORT_SECONDS = 300

/** Converts texts of a source to our syntax: its references to variables, and everything that looks like one. */
export class Notation {
  readonly #reference: RegExp

  /** `reference` matches a whole text that refers to a variable; its first group is the variable's name. */
  constructor(reference: RegExp) {
    this.#reference = reference
  }

  /** References become `${NAME}`, and other text that would be a reference here is escaped. */
  readonly translated = (text: string): string => {
    const name = this.#reference.exec(text.trim())?.[1]
    return name === undefined ? text.replaceAll('${', () => '$${') : `\${${name}}`
  }

  readonly textOf = (part: SourcePart): string | undefined => {
    const text = part.text()
    return text === undefined ? undefined : this.translated(text)
  }

  /** A secret of the source: converted if it is a reference; otherwise unchanged, with a note. */
  readonly secretOf = (part: SourcePart): string | undefined => {
    const text = this.textOf(part)
    if (text !== undefined && !isReference(text)) noteSecret(part)
    return text
  }

  /** An integer of at least `least`, or a reference to a variable. */
  readonly amountOf = (part: SourcePart, least = 1): number | string | undefined => {
    const value = this.#numberOf(part)
    if (typeof value !== 'number' || (Number.isInteger(value) && value >= least)) return value
    part.note('do', `left out: a whole number from ${least} was expected`)
    return undefined
  }

  /**
   * The timeout of a whole answer in seconds. In the source it limits the time between two chunks of a stream, a difference that matters for short
   * timeouts.
   */
  readonly wholeOf = (part: SourcePart): number | string | undefined => {
    const value = this.secondsOf(part)
    if (typeof value === 'number' && value < SHORT_SECONDS)
      part.note(
        'do',
        'is timeouts.total of the provider here, the whole answer, however long it streams; timeouts.first_token and idle count silence',
      )
    return value
  }

  /** Seconds, or a reference to a variable. */
  readonly secondsOf = (part: SourcePart): number | string | undefined => {
    const value = this.#numberOf(part)
    if (typeof value !== 'number' || value > 0) return value
    part.note('do', 'left out: seconds were expected, more than 0')
    return undefined
  }

  #numberOf(part: SourcePart): number | string | undefined {
    if (!part.exists) return undefined
    const text = typeof part.value === 'string' ? this.translated(part.value) : ''
    if (!isReference(text)) return part.number()
    part.take()
    return text
  }
}

/** Notes that an imported secret is in plain text in the created file. */
export function noteSecret(part: SourcePart): void {
  part.note('do', 'is written there in plain text, and so it is in what was made of it: better is a variable, written as ${NAME}')
}

/** Names of headers and settings that contain secrets. */
export const isSecretName = (name: string): boolean => /authorization|cookie|credential|key|password|secret|token/i.test(name)
