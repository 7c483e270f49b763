import type { JsonObject } from './item.ts'

/**
 * Secrets inside a destination's `config`: kept apart at rest, masked in every read, kept when the mask is written back. Paths are those
 * of `Destination.secrets`: a key, or `key.*` for every value of a map.
 */

const SHOWN_CHARS = 4
const GAP = '...'
/** For secrets of which both ends would give away too much. */
const FULL_MASK = '********'
const MIN_SHOWN = 3 * SHOWN_CHARS
const MASK_CHARS = 2 * SHOWN_CHARS + GAP.length

/** What a secret looks like in a read: enough to recognise it, too little to use it, and no half of a character that is cut in two. */
export function maskSecret(value: string): string {
  return value.length >= MIN_SHOWN ? `${value.slice(0, SHOWN_CHARS)}${GAP}${value.slice(-SHOWN_CHARS)}`.toWellFormed() : FULL_MASK
}

/** Whether a text is what `maskSecret` makes of some secret, of whichever: the one that was read may have been replaced since. */
export function isMask(text: string): boolean {
  return text === FULL_MASK || (text.length === MASK_CHARS && text.startsWith(GAP, SHOWN_CHARS))
}

interface SecretPath {
  readonly key: string
  readonly everyValue: boolean
}
const parsePath = (path: string): SecretPath =>
  path.endsWith('.*') ? { key: path.slice(0, -2), everyValue: true } : { key: path, everyValue: false }

const isMap = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (map: JsonObject, change: (value: string, name: string) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, typeof value === 'string' ? change(value, name) : value]))

function changeSecrets(config: JsonObject, paths: readonly string[], change: (value: string, key: string, name?: string) => unknown): JsonObject {
  const changed: Record<string, unknown> = { ...config }
  for (const { key, everyValue } of paths.map(parsePath)) {
    const value = changed[key]
    if (everyValue && isMap(value)) changed[key] = mapValues(value, (text, name) => change(text, key, name))
    else if (!everyValue && typeof value === 'string') changed[key] = change(value, key)
  }
  return changed
}

/** The configuration as it may be read. */
export function maskConfig(config: JsonObject, secrets: readonly string[]): JsonObject {
  return changeSecrets(config, secrets, maskSecret)
}

/** The mask of secrets about which nothing is known. */
export const fullMasks = (secrets: readonly string[]): JsonObject =>
  Object.fromEntries(secrets.map(parsePath).flatMap(({ key, everyValue }) => (everyValue ? [] : [[key, FULL_MASK]])))

/**
 * Applies a PATCH to a stored configuration: named keys replace, absent ones stay, null removes. A mask keeps the stored secret, even the mask of an
 * older secret: whoever read the configuration before somebody else changed it must not undo the change. `headers` is replaced as a whole, where a
 * masked value keeps that of the same name. The result must be validated as a whole.
 */
export function mergeConfig(stored: JsonObject, patch: JsonObject, secrets: readonly string[]): JsonObject {
  const unmasked = changeSecrets(patch, secrets, (value, key, name) => (isMask(value) ? (storedSecret(stored, key, name) ?? value) : value))
  return Object.fromEntries(Object.entries({ ...stored, ...unmasked }).filter(([, value]) => value !== null && value !== undefined))
}

/** Path of the first mask that stands for nothing that is stored: it would become the secret. */
export function unknownMask(stored: JsonObject, sent: JsonObject, secrets: readonly string[]): string | undefined {
  const paths: string[] = []
  changeSecrets(sent, secrets, (value, key, name) => {
    if (isMask(value) && storedSecret(stored, key, name) === undefined) paths.push(name === undefined ? key : `${key}.${name}`)
  })
  return paths[0]
}

function storedSecret(stored: JsonObject, key: string, name: string | undefined): string | undefined {
  const value = name === undefined ? stored[key] : headerOf(stored[key], name)
  return typeof value === 'string' ? value : undefined
}

/** Names of headers compare without case; of two that differ in nothing else, each is its own. */
function headerOf(map: unknown, name: string): unknown {
  if (!isMap(map)) return undefined
  if (Object.hasOwn(map, name)) return map[name]
  return Object.entries(map).find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
}

/** What is secret, and the rest: the two halves are stored apart. Joining them gives the configuration back. */
export function splitSecrets(config: JsonObject, secrets: readonly string[]): { readonly open: JsonObject; readonly secret: JsonObject } {
  const keys = new Set(secrets.map((path) => parsePath(path).key))
  const entries = Object.entries(config)
  return { open: Object.fromEntries(entries.filter(([key]) => !keys.has(key))), secret: Object.fromEntries(entries.filter(([key]) => keys.has(key))) }
}

export function joinSecrets(open: JsonObject, secret: JsonObject): JsonObject {
  return { ...open, ...secret }
}
