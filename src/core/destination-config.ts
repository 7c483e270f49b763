import type { JsonObject } from './item.ts'

/**
 * Secrets in a destination's `config`: stored separately, masked in every read, and kept if the mask is written back. Paths are those of
 * `Destination.secrets`: a key, or `key.*` for every value of a map.
 */

const SHOWN_CHARS = 4
const GAP = '...'
/** For secrets so short that both ends would reveal too much. */
const FULL_MASK = '********'
const MIN_SHOWN = 3 * SHOWN_CHARS
const MASK_CHARS = 2 * SHOWN_CHARS + GAP.length

/** The form of a secret in a read: enough to recognise it, too little to use it. A character that is cut in two does not remain as a lone surrogate. */
export function maskSecret(value: string): string {
  return value.length >= MIN_SHOWN ? `${value.slice(0, SHOWN_CHARS)}${GAP}${value.slice(-SHOWN_CHARS)}`.toWellFormed() : FULL_MASK
}

/** Whether a text is the mask of any secret. The current one is not compared, because the secret that was read may have been replaced since. */
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

/** The configuration with its secrets masked. */
export function maskConfig(config: JsonObject, secrets: readonly string[]): JsonObject {
  return changeSecrets(config, secrets, maskSecret)
}

/** Masks for secrets whose values are not known. */
export const fullMasks = (secrets: readonly string[]): JsonObject =>
  Object.fromEntries(secrets.map(parsePath).flatMap(({ key, everyValue }) => (everyValue ? [] : [[key, FULL_MASK]])))

/**
 * Applies a PATCH to a stored configuration: given keys replace, absent keys stay, null removes. A mask keeps the stored secret, even the mask of an
 * older secret: a client that read the configuration before someone else changed it must not undo the change. `headers` is replaced as a whole, but a
 * masked value keeps the stored value of the same name. The result must be validated as a whole.
 */
export function mergeConfig(stored: JsonObject, patch: JsonObject, secrets: readonly string[]): JsonObject {
  const unmasked = changeSecrets(patch, secrets, (value, key, name) => (isMask(value) ? (storedSecret(stored, key, name) ?? value) : value))
  return Object.fromEntries(Object.entries({ ...stored, ...unmasked }).filter(([, value]) => value !== null && value !== undefined))
}

/** Path of the first mask without a stored secret. Without this check, the mask itself would become the secret. */
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

/** Header names are compared case-insensitively. If two stored names differ only in case, the exact match wins. */
function headerOf(map: unknown, name: string): unknown {
  if (!isMap(map)) return undefined
  if (Object.hasOwn(map, name)) return map[name]
  return Object.entries(map).find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
}

/** Separates the secrets from the rest, because the two halves are stored separately. Joining them restores the configuration. */
export function splitSecrets(config: JsonObject, secrets: readonly string[]): { readonly open: JsonObject; readonly secret: JsonObject } {
  const keys = new Set(secrets.map((path) => parsePath(path).key))
  const entries = Object.entries(config)
  return { open: Object.fromEntries(entries.filter(([key]) => !keys.has(key))), secret: Object.fromEntries(entries.filter(([key]) => keys.has(key))) }
}

export function joinSecrets(open: JsonObject, secret: JsonObject): JsonObject {
  return { ...open, ...secret }
}
