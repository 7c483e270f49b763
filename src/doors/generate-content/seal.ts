/**
 * The data that must come back with reasoning, in this format's field for signatures. Clients in some languages decode that field as base64, so the
 * envelope of core/reasoning-envelope.ts is base64-encoded in it.
 */

/** The beginning of every encoded envelope: base64 of `sb1.` and the first characters of an object. */
const BEGINS = 'c2IxLmV5'

/** Placeholders that clients send if they have no signature: the vendor's value for "do not validate", plain and in base64. */
const STAND_INS: ReadonlySet<string> = new Set(
  ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].flatMap((word) => [word, Buffer.from(word).toString('base64')]),
)

export const writeSeal = (envelope: string): string => Buffer.from(envelope).toString('base64')

export interface Seal {
  readonly encrypted_content?: string
  readonly signature?: string
  readonly format?: string
}

/** The content of a signature that came back: the gateway's envelope, or a vendor's own signature; undefined for a placeholder. */
export function readSeal(signature: string): Seal | undefined {
  if (signature === '' || STAND_INS.has(signature)) return undefined
  if (signature.startsWith(BEGINS)) return { encrypted_content: Buffer.from(signature, 'base64').toString() }
  return { signature, format: 'google-gemini-v1' }
}
