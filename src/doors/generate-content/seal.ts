/**
 * What keeps thoughts alive, in the field this format has for it. That field is one of bytes, which clients of some languages read as such:
 * the envelope of core/reasoning-envelope.ts stands in it as base64.
 */

/** How base64 of every envelope begins: of `sb1.` and the first characters of an object. */
const BEGINS = 'c2IxLmV5'

/** Stand-ins that clients write where they have no signature: a word of this format's vendor for "do not look", plain and in base64. */
const STAND_INS: ReadonlySet<string> = new Set(
  ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].flatMap((word) => [word, Buffer.from(word).toString('base64')]),
)

export const writeSeal = (envelope: string): string => Buffer.from(envelope).toString('base64')

export interface Seal {
  readonly encrypted_content?: string
  readonly signature?: string
  readonly format?: string
}

/** What a signature that came back holds: the gateway's envelope, or a vendor's own signature; undefined for one that stands for none. */
export function readSeal(signature: string): Seal | undefined {
  if (signature === '' || STAND_INS.has(signature)) return undefined
  if (signature.startsWith(BEGINS)) return { encrypted_content: Buffer.from(signature, 'base64').toString() }
  return { signature, format: 'google-gemini-v1' }
}
