import { closest } from '../lib/closest.ts'
import { OVERRIDES } from './load.ts'
import type { Env } from './substitute.ts'

const PREFIX = 'SIGNALBOX_'

/** All that this program reads, in whatever command. */
export const VARIABLES: readonly string[] = [
  ...OVERRIDES.map(({ variable }) => variable),
  ...['CONFIG', 'API_KEY', 'MANAGEMENT_KEY', 'SECRET_KEY', 'NEW_SECRET_KEY', 'URL', 'BEGIN_AGAIN'].map((name) => PREFIX + name),
]

const WORDS = VARIABLES.map((name) => name.slice(PREFIX.length).toLowerCase())

/**
 * Variables that look like ours and are read by nobody, in sentences for the operator: a key under a wrong name is a key that is not in force.
 * Only those that come near a real one: clusters set some of that prefix for a service called like us, and a configuration file, whose `text`
 * it is, may refer to any.
 */
export function misspeltVariables(env: Env, text = ''): readonly string[] {
  const unread = Object.keys(env).flatMap((name) => {
    if (!name.toUpperCase().startsWith(PREFIX) || VARIABLES.includes(name)) return []
    const word = name.slice(PREFIX.length).toLowerCase()
    const near = closest(word, WORDS) ?? (word === '' ? undefined : WORDS.find((known) => known.startsWith(`${word}_`)))
    return near === undefined ? [] : [{ name, meant: PREFIX + near.toUpperCase() }]
  })
  return unread
    .filter(({ name }) => !text.includes(`{${name}`))
    .map(({ name, meant }) => `${name} is no setting and has no effect; did you mean ${meant}?`)
}
