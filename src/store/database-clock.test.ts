import { describe, expect, it, vi } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { manualClock } from '../testing/deterministic.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { createDatabaseClock } from './database-clock.ts'
import { createStore } from './index.ts'

const HOUR = 3_600_000

describe('the clock of a database', () => {
  const setUp = () => {
    const own = manualClock()
    const reported: number[] = []
    return {
      own,
      reported,
      clock: createDatabaseClock(
        own,
        (aheadMs) => void reported.push(aheadMs),
        () => own.now(),
      ),
    }
  }

  it('is that of the process while both agree, not counting the time of the query', () => {
    const { own, reported, clock } = setUp()
    clock.note(own.now() + 4_000, 2)
    clock.note(own.now() - 5_400, 900)
    expect(clock.now()).toBe(own.now())
    expect(reported).toEqual([])
  })

  it('is used where they differ, which is reported once, and again when it is over', () => {
    const { own, reported, clock } = setUp()
    clock.note(own.now() - HOUR, 0)
    expect(clock.now()).toBe(own.now() - HOUR)
    own.advance(1_000)
    clock.note(own.now() - HOUR - 20, 40)
    expect(clock.now()).toBe(own.now() - HOUR)
    clock.note(own.now() + HOUR, 0)
    expect(clock.now()).toBe(own.now() + HOUR)
    clock.note(own.now(), 0)
    expect(clock.now()).toBe(own.now())
    expect(reported).toEqual([HOUR, 0])
  })
})

const postgres = await findTestPostgres('the clock of a PostgreSQL database')
describe.skipIf(!postgres.available)('a process whose clock is ahead of PostgreSQL', () => {
  it('uses the clock of the database as soon as it has read it', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const reported: number[] = []
    const store = await createStore({ url: schema.url, maxConnections: 1, onClockDifference: (aheadMs) => void reported.push(aheadMs) })
    try {
      await store.migrate()
      await store.version()
      expect(store.clock.now() - systemClock.now()).toBeGreaterThanOrEqual(-1)
      const now = Date.now
      vi.spyOn(Date, 'now').mockImplementation(() => now() + HOUR)
      await store.version()
      expect(Math.abs(store.clock.now() - now())).toBeLessThan(5_000)
      expect(reported.map((aheadMs) => Math.round(aheadMs / HOUR))).toEqual([1])
    } finally {
      vi.restoreAllMocks()
      await store.close()
      await schema.drop()
    }
  })
})
