import { createPrivateKey } from 'node:crypto'

/** A private key as long as is wanted, as anybody can write one down: its numbers are none of a key, and are computed with all the same. */
export function madeUpKey(bits: number): string {
  const number = (bytes: number): string => Buffer.alloc(bytes, 0xff).toString('base64url')
  const [whole, half] = [number(bits / 8), number(bits / 16)]
  const jwk = { kty: 'RSA', n: whole, e: 'AQAB', d: whole, p: half, q: half, dp: half, dq: half, qi: half }
  return createPrivateKey({ format: 'jwk', key: jwk }).export({ type: 'pkcs8', format: 'pem' }).toString()
}
