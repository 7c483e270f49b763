import type { Given } from '../shared/given.ts'

const REFERENCE = /^os\.environ\/([A-Za-z_]\w*)$/

/** Text of LiteLLM's file in ours: `os.environ/NAME` is `${NAME}`, and what would be a reference there is none here. */
export function translated(text: string): string {
  const name = REFERENCE.exec(text.trim())?.[1]
  return name === undefined ? text.replaceAll('${', () => '$${') : `\${${name}}`
}

export const isReference = (text: string): boolean => /^\$\{\w+(?::-[^}]*)?\}$/.test(text)

export function textOf(given: Given): string | undefined {
  const text = given.text()
  return text === undefined ? undefined : translated(text)
}

/** A secret of the source: a reference where it is one, else as it stands, which is said. */
export function secretOf(given: Given): string | undefined {
  const text = textOf(given)
  if (text !== undefined && !isReference(text))
    given.note('do', 'is written there in plain text, and so it is in what was made of it: better is a variable, written as ${NAME}')
  return text
}

/** A whole number from `least`, or a reference to a variable. */
export function amountOf(given: Given, least = 1): number | string | undefined {
  if (!given.isThere) return undefined
  const text = typeof given.value === 'string' ? translated(given.value) : ''
  if (isReference(text)) {
    given.take()
    return text
  }
  const number = given.number()
  if (number === undefined || (Number.isInteger(number) && number >= least)) return number
  given.note('do', `left out: a whole number from ${least} was expected`)
  return undefined
}

/** Answers that long are no rarity where they stream. */
const SHORT_SECONDS = 300

/** Seconds for a whole answer. There they count from one piece of a stream to the next, which matters where they are few. */
export function wholeOf(given: Given): number | string | undefined {
  const value = secondsOf(given)
  if (typeof value === 'number' && value < SHORT_SECONDS)
    given.note('do', 'is timeouts.total of the provider here, the whole answer, however long it streams; timeouts.first_token and idle count silence')
  return value
}

/** Seconds, or a reference to a variable. */
export function secondsOf(given: Given): number | string | undefined {
  if (!given.isThere) return undefined
  const text = typeof given.value === 'string' ? translated(given.value) : ''
  if (isReference(text)) {
    given.take()
    return text
  }
  const number = given.number()
  if (number === undefined || number > 0) return number
  given.note('do', 'left out: seconds were expected, more than 0')
  return undefined
}
