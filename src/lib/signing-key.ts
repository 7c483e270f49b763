import { createPrivateKey, type KeyObject } from 'node:crypto'

/**
 * Keys of platforms have half of this. One signature with a key many times as long takes seconds of processor time, and anyone can make one up, because
 * its numbers need not be those of a real key. Whoever supplies the key could request any number of signatures.
 */
export const MAX_KEY_BITS = 4_096

/** Undefined for a key that is too long to sign with. Throws if the text is not a private key. */
export function signingKey(pem: string): KeyObject | undefined {
  const key = createPrivateKey(pem)
  return (key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_KEY_BITS ? undefined : key
}
