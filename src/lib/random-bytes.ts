import { randomFillSync } from 'node:crypto'

const POOL_SIZE = 4096
const pool = Buffer.alloc(POOL_SIZE)
let used = POOL_SIZE

/**
 * A few bytes from the system's random source. They are read in blocks, because a read of twelve bytes takes as long as one of thousands. Throws
 * RangeError beyond 256.
 */
export function fewRandomBytes(length: number): Buffer {
  if (length > 256) throw new RangeError('ask the system for as many')
  if (used + length > POOL_SIZE) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.from(pool.subarray(used, used + length))
  // Each byte is used once and then erased.
  pool.fill(0, used, (used += length))
  return bytes
}
