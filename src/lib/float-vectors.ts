const BYTES = 4

/** Numbers as little-endian 32-bit floats in base64: 5.3 characters each, where decimals take ten to twenty. */
export function toBase64(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * BYTES))
  for (let n = 0; n < vector.length; n++) view.setFloat32(n * BYTES, vector[n]!, true)
  return Buffer.from(view.buffer).toString('base64')
}

/** The numbers in it; undefined for text that is no base64 of whole floats, or of none. */
export function fromBase64(text: string): number[] | undefined {
  if (!isBase64(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % BYTES !== 0) return undefined
  const vector: number[] = []
  for (let at = 0; at < bytes.length; at += BYTES) vector.push(bytes.readFloatLE(at))
  return vector
}

/** Padded or not. */
const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(text)

/** How many numbers base64 text holds; undefined where they are no whole ones. */
export function lengthOfBase64(text: string): number | undefined {
  if (!isBase64(text)) return undefined
  const bytes = Buffer.byteLength(text, 'base64')
  return bytes === 0 || bytes % BYTES !== 0 ? undefined : bytes / BYTES
}
