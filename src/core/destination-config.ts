import type { JsonObject } from './item.ts'

/**
 * Secrets inside a destination's `config`: kept apart at rest, masked in every read, kept when the mask is written back. Paths are those
 * of `Destination.secrets`: a key, or `key.*` for every value of a map.
 */

/** What a secret looks like in a read: enough to recognise it, too little to use it. */
export function maskSecret(value: string): string {
  return value.length >= 12 ? `${value.slice(0, 4)}...${value.slice(-4)}` : '********'
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

/**
 * A PATCH over a stored configuration: named keys replace, absent ones stay, null removes. A secret equal to the mask of the stored one
 * keeps it; `headers` is replaced as a whole, each masked value keeping that of the same name. The result is to be validated as a whole.
 */
export function mergeConfig(stored: JsonObject, patch: JsonObject, secrets: readonly string[]): JsonObject {
  const unmasked = changeSecrets(patch, secrets, (value, key, name) => {
    const before = name === undefined ? stored[key] : headerOf(stored[key], name)
    return typeof before === 'string' && value === maskSecret(before) ? before : value
  })
  return Object.fromEntries(Object.entries({ ...stored, ...unmasked }).filter(([, value]) => value !== null && value !== undefined))
}

/** Names of headers compare without case. */
function headerOf(map: unknown, name: string): unknown {
  if (!isMap(map)) return undefined
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
