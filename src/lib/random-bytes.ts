import { randomFillSync } from 'node:crypto'

const POOL_SIZE = 4096
const pool = Buffer.alloc(POOL_SIZE)
let used = POOL_SIZE

/** A few bytes from the system's random source, which is asked for blocks: asking takes as long for twelve as for thousands. Throws RangeError beyond 256. */
export function fewRandomBytes(length: number): Buffer {
  if (length > 256) throw new RangeError('ask the system for as many')
  if (used + length > POOL_SIZE) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.from(pool.subarray(used, used + length))
  // Each byte is given out once and then erased.
  pool.fill(0, used, (used += length))
  return bytes
}
