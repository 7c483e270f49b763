/**
 * A fast 64-bit-ish hash of short text, the same in every process: two 32-bit lanes of multiply-and-rotate mixing.
 * Not for secrets. Costs about a nanosecond per character; callers hash short keys and cut long text first (`sampleText`).
 */
export interface Hash64 {
  readonly high: number
  readonly low: number
}

function finish(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

export function hash64(text: string): Hash64 {
  let a = 0x9e3779b9 ^ text.length
  let b = 0x7f4a7c15
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 0x01000193)
    b = Math.imul((b << 5) | (b >>> 27), 0x2c1b3c6d) ^ Math.imul(c, 0x297a2d39)
  }
  return { high: finish(a ^ (b >>> 7)), low: finish(b ^ Math.imul(a, 0x5bd1e995)) }
}

export const hash32 = (text: string): number => hash64(text).low

/** A number in (0, 1), uniform over pairs: what rendezvous hashing draws for one session and one endpoint. */
export function unitHash(a: number, b: number): number {
  let h = finish(a ^ Math.imul(b, 0x9e3779b1))
  h = finish(h ^ Math.imul(a, 0x85ebca77) ^ b)
  return (h + 0.5) / 4_294_967_296
}

const HEAD_CHARS = 512
const TAIL_CHARS = 128

/** Head, tail and length of a text: enough to tell conversations apart, at a cost that does not grow with the text. */
export function sampleText(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text
  return `${text.slice(0, HEAD_CHARS)}\u0000${text.length}\u0000${text.slice(-TAIL_CHARS)}`
}
