import { expect, it } from 'vitest'
import { createLatestWrite } from './latest-write.ts'

/** A write that ends only when told to. */
function heldWrite() {
  const written: number[] = []
  const ends: ((error?: Error) => void)[] = []
  const write = (value: number): Promise<void> =>
    new Promise((resolve, reject) => {
      written.push(value)
      ends.push((error) => (error === undefined ? resolve() : reject(error)))
    })
  return { written, write, end: (error?: Error) => ends.shift()!(error) }
}

it('writes the first value and the newest of those that came during the write', async () => {
  const { written, write, end } = heldWrite()
  const latest = createLatestWrite(write)
  for (let n = 1; n <= 1_000; n++) latest.put(n)
  expect(written).toEqual([1])
  end()
  await Promise.resolve()
  await new Promise(setImmediate)
  expect(written).toEqual([1, 1_000])
  end()
  await latest.settled()
  latest.put(1_001)
  expect(written).toEqual([1, 1_000, 1_001])
  end()
  await latest.settled()
})

it('continues after a failed write, and settles with the last one', async () => {
  const { written, write, end } = heldWrite()
  const failures: unknown[] = []
  const latest = createLatestWrite(write, (error) => void failures.push(error))
  await latest.settled()
  latest.put(1)
  latest.put(2)
  const settled = latest.settled().then(() => [...written])
  const full = new Error('the disk is full')
  end(full)
  await new Promise(setImmediate)
  end()
  expect(await settled).toEqual([1, 2])
  expect(failures).toEqual([full])
})

it('repeats a failed write, of which only the first failure is told, until it succeeds or a newer value comes', async () => {
  const written: number[] = []
  const failures: unknown[] = []
  let room = 3
  const write = (value: number): Promise<void> => {
    written.push(value)
    return room-- > 0 ? Promise.reject(new Error('the disk is full')) : Promise.resolve()
  }
  const latest = createLatestWrite(write, (error) => void failures.push(error), { retryMs: 1 })
  latest.put(1)
  await expect.poll(() => written).toEqual([1, 1, 1, 1])
  await latest.settled()
  expect([written, failures.length]).toEqual([[1, 1, 1, 1], 1])
})

it('tries a failed write once more before it settles', async () => {
  const { written, write, end } = heldWrite()
  const latest = createLatestWrite(write, undefined, { retryMs: 3_600_000 })
  latest.put(1)
  end(new Error('the disk is full'))
  await new Promise(setImmediate)
  const settled = latest.settled()
  expect(written).toEqual([1, 1])
  end()
  await settled
})

it('rests after a slow write, and not while somebody waits for the end', async () => {
  const { written, write, end } = heldWrite()
  let time = 0
  const latest = createLatestWrite(write, undefined, { now: () => time })
  latest.put(1)
  time += 3_600_000
  end()
  await new Promise(setImmediate)
  latest.put(2)
  latest.put(3)
  await new Promise(setImmediate)
  expect(written).toEqual([1])
  const settled = latest.settled()
  await new Promise(setImmediate)
  expect(written).toEqual([1, 3])
  end()
  await settled
})
