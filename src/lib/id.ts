import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export type IdSource = (length: number) => string

const POOL_SIZE = 4096
const pool = Buffer.alloc(POOL_SIZE)
let used = POOL_SIZE

/** Base62 text of the given length from the system's random source, read in blocks; rejection sampling keeps it unbiased. */
export const randomId: IdSource = (length) => {
  let id = ''
  while (id.length < length) {
    if (used === POOL_SIZE) {
      randomFillSync(pool)
      used = 0
    }
    const byte = pool[used++]! & 63
    if (byte < 62) id += ALPHABET[byte]
  }
  return id
}
