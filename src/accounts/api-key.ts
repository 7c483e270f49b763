import { hash } from 'node:crypto'
import type { KeyKind } from '../core/store.ts'
import type { IdSource } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'

/** Prefixes of the gateway's own keys. The version allows for another format later. */
const PREFIXES: { readonly [K in KeyKind]: string } = { inference: 'sk-sb-v1-', management: 'sk-sb-mgmt-v1-' }
/** Base62, so 381 bits: enough to need no salt, no stretching and no limit on guesses. */
const RANDOM_CHARS = 64
/** The most characters that a label shows of either end. */
const SHOWN_CHARS = 3

/** A new key: `sk-sb-v1-` or `sk-sb-mgmt-v1-`, and 64 characters of base62. */
export function generateKey(kind: KeyKind, ids: IdSource): Secret {
  return new Secret(PREFIXES[kind] + ids(RANDOM_CHARS))
}

/** SHA-256 of a key in hex: its public identity, and the only part of it that is stored. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** The part of a key that may be shown: `sk-sb-v1-0f3...9ab`. A short key that the operator chose shows less, down to nothing. */
export function labelOf(key: Secret): string {
  const text = key.reveal()
  const prefix = Object.values(PREFIXES).find((known) => text.startsWith(known)) ?? ''
  const body = text.slice(prefix.length)
  const shown = Math.min(SHOWN_CHARS, Math.floor(body.length / 8))
  return `${prefix}${body.slice(0, shown)}...${shown === 0 ? '' : body.slice(-shown)}`
}
