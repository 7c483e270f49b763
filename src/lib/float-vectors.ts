const BYTES = 4

/** Numbers as little-endian 32-bit floats in base64: 5.3 characters each, where decimals take ten to twenty. */
export function toBase64(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * BYTES))
  for (let n = 0; n < vector.length; n++) view.setFloat32(n * BYTES, vector[n]!, true)
  return Buffer.from(view.buffer).toString('base64')
}

/** The numbers in it; undefined for text that is no base64 of whole floats, or of none. */
export function fromBase64(text: string): number[] | undefined {
  const bytes = bytesOf(text)
  if (bytes === undefined) return undefined
  const vector: number[] = []
  for (let at = 0; at < bytes.length; at += BYTES) vector.push(bytes.readFloatLE(at))
  return vector
}

/** Whether it is base64 of whole floats that are all finite: an overflowed sum is sent as infinity or NaN. */
export function holdsNumbers(text: string): boolean {
  const bytes = bytesOf(text)
  if (bytes === undefined) return false
  // An exponent of nothing but ones.
  for (let at = BYTES - 1; at < bytes.length; at += BYTES) if ((bytes[at]! & 0x7f) === 0x7f && bytes[at - 1]! >= 0x80) return false
  return true
}

function bytesOf(text: string): Buffer | undefined {
  if (!isBase64(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === 0 || bytes.length % BYTES !== 0 ? undefined : bytes
}

/** Padded or not. */
const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(text)
