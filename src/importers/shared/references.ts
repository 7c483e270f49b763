import type { Given } from './given.ts'

export const isReference = (text: string): boolean => /^\$\{\w+(?::-[^}]*)?\}$/.test(text)

/** Answers that long are no rarity where they stream. */
const SHORT_SECONDS = 300

/** Texts of a source in ours: its references to variables, and all that may be one. */
export class Notation {
  readonly #reference: RegExp

  /** `reference`: a whole text that stands for the variable its first group names. */
  constructor(reference: RegExp) {
    this.#reference = reference
  }

  /** A reference is `${NAME}`, and what would be one here is none. */
  readonly translated = (text: string): string => {
    const name = this.#reference.exec(text.trim())?.[1]
    return name === undefined ? text.replaceAll('${', () => '$${') : `\${${name}}`
  }

  readonly textOf = (given: Given): string | undefined => {
    const text = given.text()
    return text === undefined ? undefined : this.translated(text)
  }

  /** A secret of the source: a reference where it is one, else as it stands, which is said. */
  readonly secretOf = (given: Given): string | undefined => {
    const text = this.textOf(given)
    if (text !== undefined && !isReference(text)) saySecret(given)
    return text
  }

  /** A whole number from `least`, or a reference to a variable. */
  readonly amountOf = (given: Given, least = 1): number | string | undefined => {
    const value = this.#numberOf(given)
    if (typeof value !== 'number' || (Number.isInteger(value) && value >= least)) return value
    given.note('do', `left out: a whole number from ${least} was expected`)
    return undefined
  }

  /** Seconds for a whole answer. There they count from one piece of a stream to the next, which matters where they are few. */
  readonly wholeOf = (given: Given): number | string | undefined => {
    const value = this.secondsOf(given)
    if (typeof value === 'number' && value < SHORT_SECONDS)
      given.note(
        'do',
        'is timeouts.total of the provider here, the whole answer, however long it streams; timeouts.first_token and idle count silence',
      )
    return value
  }

  /** Seconds, or a reference to a variable. */
  readonly secondsOf = (given: Given): number | string | undefined => {
    const value = this.#numberOf(given)
    if (typeof value !== 'number' || value > 0) return value
    given.note('do', 'left out: seconds were expected, more than 0')
    return undefined
  }

  #numberOf(given: Given): number | string | undefined {
    if (!given.isThere) return undefined
    const text = typeof given.value === 'string' ? this.translated(given.value) : ''
    if (!isReference(text)) return given.number()
    given.take()
    return text
  }
}

/** That what is carried can be read by whoever reads what was made of it. */
export function saySecret(given: Given): void {
  given.note('do', 'is written there in plain text, and so it is in what was made of it: better is a variable, written as ${NAME}')
}

/** Names under which secrets stand, of headers and of settings. */
export const isSecretName = (name: string): boolean => /authorization|cookie|credential|key|password|secret|token/i.test(name)
