import { describe, expect, it } from 'vitest'
import { batchDueAt, createExpansion, independentGroups } from './batching.ts'

const limits = { records: 10, bytes: 1000, lingerMs: 500 }
const work = { destinationId: 'd', records: 1, bytes: 10, oldestAt: 100, retried: false }

describe('a batch is sent', () => {
  it.each([
    ['when its oldest record has waited', {}, 600],
    ['when it is full by count', { records: 10 }, 0],
    ['when it is full by bytes', { bytes: 1000 }, 0],
    ['when it is a retry', { retried: true }, 0],
  ])('%s', (_name, changes, at) => expect(batchDueAt({ ...work, ...changes }, limits)).toBe(at))
})

describe('requests of one batch', () => {
  const groups = (...records: (number[] | undefined)[]): unknown =>
    independentGroups(records.map((r, i) => (r === undefined ? { name: i } : { name: i, records: r }))).map((g) =>
      g.map((r) => (r as unknown as { name: number }).name),
    )
  it('are sent in parallel when they share no record, in order when they do', () => {
    expect(groups([0], [1], [2])).toEqual([[0], [1], [2]])
    expect(groups(undefined, undefined)).toEqual([[0, 1]])
    expect(groups([0, 1], [2], [1], [3])).toEqual([[0, 2], [1], [3]])
    expect(groups([0], [1], [0, 1])).toEqual([[0, 1, 2]])
  })
})

describe('createExpansion', () => {
  it('never leases more than ten times the limit, however small the encoded events are', () => {
    const expansion = createExpansion()
    for (let i = 0; i < 100; i++) expansion.observe(1_000_000, 1)
    expect(expansion.leaseBytes(1000)).toBeGreaterThan(9_000)
    expect(expansion.leaseBytes(1000)).toBeLessThanOrEqual(10_000)
  })

  it('learns how much larger requests are than events', () => {
    const expansion = createExpansion()
    expect(expansion.leaseBytes(1000)).toBe(1000)
    for (let i = 0; i < 50; i++) expansion.observe(100, 400)
    expect(expansion.leaseBytes(1000)).toBeGreaterThan(240)
    expect(expansion.leaseBytes(1000)).toBeLessThan(260)
    expansion.observe(0, 0)
    expect(expansion.leaseBytes(1000)).toBeLessThan(260)
  })
})
