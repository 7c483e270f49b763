import { expect, it } from 'vitest'
import { createSettled } from './settled.ts'

const sinkOf = (flush: () => Promise<void>, oldestAgeMs = 0) => {
  let asked = 0
  return {
    asked: () => asked,
    sink: {
      flush: () => (asked++, flush()),
      stats: () => ({ ...NONE, oldestAgeMs }),
    },
  }
}
const NONE = { waiting: 0, waitingBytes: 0, recorded: 0, written: 0, batches: 0, failures: 0, lost: { overflow: 0, refused: 0, closed: 0 } }
const never = (): Promise<void> => new Promise(() => undefined)

it('waits for pending writes, whether they succeed or not', async () => {
  for (const flush of [() => Promise.resolve(), () => Promise.reject(new Error('lost'))]) {
    const { sink, asked } = sinkOf(flush)
    await createSettled(sink)()
    expect(asked()).toBe(1)
  }
})

it('waits only for a moment where the database takes no writes', async () => {
  const { sink } = sinkOf(never)
  await createSettled(sink, 20)()
})

it('does not wait where earlier records have waited in vain', async () => {
  const { sink, asked } = sinkOf(never, 3_001)
  await createSettled(sink)()
  expect(asked()).toBe(0)
})
