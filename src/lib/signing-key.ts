import { createPrivateKey, type KeyObject } from 'node:crypto'

/**
 * What platforms hand out has half of it. Of a key many times as long (which anybody can make up: its numbers need not be those of a key) one signature
 * takes a processor seconds, and whoever brings it could have as many made as he likes.
 */
export const MAX_KEY_BITS = 4_096

/** Undefined for a key that is too long to sign with. Throws for what is no private key. */
export function signingKey(pem: string): KeyObject | undefined {
  const key = createPrivateKey(pem)
  return (key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_KEY_BITS ? undefined : key
}
