import { closest } from '../lib/closest.ts'
import { isQuoted } from '../lib/is-quoted.ts'
import { OVERRIDES } from './load.ts'
import type { Env } from './substitute.ts'

const PREFIX = 'SIGNALBOX_'

/** Every variable that any command of this program reads. */
export const VARIABLES: readonly string[] = [
  ...OVERRIDES.map(({ variable }) => variable),
  ...['CONFIG', 'API_KEY', 'MANAGEMENT_KEY', 'SECRET_KEY', 'NEW_SECRET_KEY', 'URL', 'BEGIN_AGAIN'].map((name) => PREFIX + name),
]

const WORDS = VARIABLES.map((name) => name.slice(PREFIX.length).toLowerCase())

/**
 * Warnings about variables that look like ours and are not: a key under a misspelt name has no effect. Only names close to a real one are reported,
 * because clusters set variables with our prefix for a service named like us, and a configuration file, whose text is `text`, may refer to any
 * variable.
 */
export function misspeltVariables(env: Env, text = ''): readonly string[] {
  const unread = Object.keys(env).flatMap((name) => {
    if (!name.toUpperCase().startsWith(PREFIX) || VARIABLES.includes(name)) return []
    const word = name.slice(PREFIX.length).toLowerCase()
    const nearest = closest(word, WORDS) ?? (word === '' ? undefined : WORDS.find((known) => known.startsWith(`${word}_`)))
    return nearest === undefined ? [] : [{ name, meant: PREFIX + nearest.toUpperCase() }]
  })
  return unread
    .filter(({ name }) => !text.includes(`{${name}`))
    .map(({ name, meant }) => `${name} is no setting and has no effect; did you mean ${meant}?`)
}

/**
 * Warnings about our variables whose values are in quotation marks. Most are refused for it; a key or a directory can be called so, and then callers
 * get a 401, or data end up in another place.
 */
export const quotedVariables = (env: Env): readonly string[] =>
  VARIABLES.filter((name) => isQuoted(env[name] ?? '')).map(
    (name) => `${name} is in quotation marks, which are taken as a part of it: docker --env-file, for one, keeps them; leave them out`,
  )
