import type { Config } from '../core/config.ts'
import { isLoopback } from '../lib/loopback.ts'

const WRONG_KEYS_PER_MINUTE = 100

/**
 * Wrong keys that one address may try per minute; null: any number. Callers at a loopback address are on this machine or behind a proxy that stands
 * for everybody, so by default they are not limited. `listensOn`: the host chosen at the start, which a reload does not change.
 */
export function wrongKeysPerMinute({ server: { wrongKeysPerMinute: chosen } }: Pick<Config, 'server'>, listensOn: string): number | null {
  return chosen === undefined ? (isLoopback(listensOn) ? null : WRONG_KEYS_PER_MINUTE) : chosen
}

/** A quarter of the length of a generated key. Guessing is slowed down as well, which helps only if there is something to guess. */
const MIN_KEY_CHARS = 16

/**
 * The sentence that refuses a start in which others could reach a gateway with generated or short keys; undefined if it may start. Beyond loopback
 * both keys and the secret key must be set by the operator.
 */
export function checkExposure(config: Pick<Config, 'server' | 'keys'>): string | undefined {
  const { host } = config.server
  if (isLoopback(host)) return undefined
  const { apiKey, managementKey, secretKey } = config.keys
  const missing = [
    ...(apiKey === undefined ? ['SIGNALBOX_API_KEY'] : []),
    ...(managementKey === undefined ? ['SIGNALBOX_MANAGEMENT_KEY'] : []),
    ...(secretKey === undefined ? ['SIGNALBOX_SECRET_KEY (32 bytes in base64: openssl rand -base64 32)'] : []),
  ]
  const refused = `Refusing to listen on ${host}, which other machines can reach`
  if (missing.length > 0) return `${refused}: set ${namesOf(missing)}, or listen on 127.0.0.1.`
  const short = shortKeys(config.keys)
  return short === undefined
    ? undefined
    : `${refused}: set ${short} to ${MIN_KEY_CHARS} characters or more (openssl rand -hex 24), or listen on 127.0.0.1.`
}

/** A warning about keys that are good enough only while the gateway serves this machine alone; undefined if there are none. */
export function weakKeyNote(config: Pick<Config, 'server' | 'keys'>): string | undefined {
  const short = isLoopback(config.server.host) ? shortKeys(config.keys) : undefined
  return short === undefined
    ? undefined
    : `Fewer than ${MIN_KEY_CHARS} characters in ${short}: easily guessed, and refused beyond this machine (openssl rand -hex 24 makes a better one)`
}

function shortKeys({ apiKey, managementKey }: Config['keys']): string | undefined {
  const short = Object.entries({ SIGNALBOX_API_KEY: apiKey, SIGNALBOX_MANAGEMENT_KEY: managementKey })
    .filter(([, key]) => key !== undefined && key.reveal().length < MIN_KEY_CHARS)
    .map(([name]) => name)
  return short.length === 0 ? undefined : namesOf(short)
}

const namesOf = (names: readonly string[]): string => (names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`)
