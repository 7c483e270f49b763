import type { Config } from '../core/config.ts'
import { isLoopback } from '../lib/loopback.ts'

const WRONG_KEYS_PER_MINUTE = 100

/**
 * Wrong keys that one address may try in a minute; null: any number. Whoever reaches a loopback address is on this machine, or is a proxy that
 * stands for everybody: then nobody is bounded unasked. `listensOn`: the host since the start, which a reload does not change.
 */
export function wrongKeysPerMinute({ server: { wrongKeysPerMinute: chosen } }: Pick<Config, 'server'>, listensOn: string): number | null {
  return chosen === undefined ? (isLoopback(listensOn) ? null : WRONG_KEYS_PER_MINUTE) : chosen
}

/** What a generated key has four times over. Guesses are slowed down, which helps where there is something to guess. */
const MIN_KEY_CHARS = 16

/**
 * The sentence with which to refuse a start that would let others reach a gateway whose keys are generated or short; undefined when it may
 * start. Beyond loopback both keys and the secret key must be the operator's own.
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

/** What to say of keys that serve on this machine alone and are too short for any other; undefined when there are none. */
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
