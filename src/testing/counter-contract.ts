import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NOTHING_SPENT, type Charge, type Counter, type Interval, type Reservation, type Spent } from '../core/counter.ts'

export interface CounterUnderTest {
  readonly counter: Counter
  readonly dispose: () => Promise<void>
}

/** What the store answers when a subject is first charged; a test changes it. */
export interface FakeStore {
  spent: Spent
  asked: number
  fails: boolean
}

/** Wednesday, 15 January 2025, 12:00 UTC. */
const NOON = Date.UTC(2025, 0, 15, 12)
const MINUTE = 60_000

const charge = (parts: Partial<Charge> = {}): Charge => ({ subject: 'key:a', revision: 1, rates: [], budgets: [], ...parts })
const daily = (limitUsd: number): Charge => charge({ budgets: [{ interval: 'daily', limitUsd }] })

/** What every counter must do, whoever keeps the figures. */
export function describeCounterContract(name: string, open: (store: FakeStore, whenUnknown: 'local' | 'refuse') => Promise<CounterUnderTest>): void {
  describe(name, () => {
    let store: FakeStore
    let counter: Counter
    let dispose: () => Promise<void>
    let n: number
    const begin = async (whenUnknown: 'local' | 'refuse' = 'local'): Promise<void> => {
      const opened = await open(store, whenUnknown)
      counter = opened.counter
      dispose = opened.dispose
    }
    beforeEach(async () => {
      store = { spent: NOTHING_SPENT, asked: 0, fails: false }
      n = 0
      await begin()
    })
    afterEach(() => dispose())

    const reserve = (charges: readonly Charge[], amountUsd?: number, more: Partial<Reservation> = {}) =>
      counter.reserve({ id: `call-${++n}`, now: NOON, charges, ...(amountUsd === undefined ? {} : { amountUsd }), ...more })
    const settle = (id: string, spentUsd: number, now = NOON, subject = 'key:a') =>
      counter.settle({ id, now, payments: [{ subject, spentUsd, rates: [] }] })

    describe('money', () => {
      it('admits what fits exactly and refuses a nanodollar more', async () => {
        expect(await reserve([daily(0.5)], 0.5)).toEqual({ ok: true, grantedUsd: 0.5 })
        expect(await reserve([daily(0.5)], 1e-9)).toMatchObject({ ok: false, reason: 'budget', intervals: ['daily'], availableUsd: 0 })
      })

      it('admits 50 of 100 calls that arrive together at a budget for 50', async () => {
        const verdicts = await Promise.all(Array.from({ length: 100 }, () => reserve([daily(0.5)], 0.01)))
        expect(verdicts.filter(({ ok }) => ok)).toHaveLength(50)
      })

      it('never spends beyond the budget when 100 parallel calls cost less than they reserved', async () => {
        let spent = 0
        const call = async (i: number): Promise<void> => {
          const id = `parallel-${i}`
          const verdict = await counter.reserve({ id, now: NOON, charges: [daily(0.5)], amountUsd: 0.05 })
          if (!verdict.ok) return
          await Promise.resolve()
          spent += 0.01
          await settle(id, 0.01)
        }
        for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 100 }, (_, i) => call(round * 100 + i)))
        expect(spent).toBeLessThanOrEqual(0.5 + 1e-9)
        expect(spent).toBeGreaterThan(0.4)
      })

      it('gives back what a settled call did not spend, and keeps what it did', async () => {
        await reserve([daily(1)], 0.9, { id: 'one' })
        expect((await reserve([daily(1)], 0.2)).ok).toBe(false)
        await settle('one', 0.1)
        expect(await reserve([daily(1)], 0.9, { id: 'two' })).toMatchObject({ ok: true })
        await settle('two', 0)
        expect(await reserve([daily(1)], 0.95)).toMatchObject({ ok: false, availableUsd: 0.9 })
      })

      it('pays for a call it never saw reserve', async () => {
        await reserve([daily(1)], 0, { id: 'first' })
        await settle('unknown', 0.7)
        expect((await reserve([daily(1)], 0.4)).ok).toBe(false)
      })

      it('replaces the amount when a call reserves again, and keeps the old one when the new one does not fit', async () => {
        await reserve([daily(1)], 0.4, { id: 'call' })
        expect(await reserve([daily(1)], 0.9, { id: 'call' })).toMatchObject({ ok: true })
        expect((await reserve([daily(1)], 0.2)).ok).toBe(false)
        expect(await reserve([daily(1)], 1.1, { id: 'call' })).toMatchObject({ ok: false, reason: 'budget' })
        expect(await reserve([daily(1)], 0.1)).toMatchObject({ ok: true })
      })

      it('grants what is left when the caller can live with less', async () => {
        await reserve([daily(1)], 0.7)
        expect(await reserve([daily(1)], 0.5, { leastUsd: 0.1 })).toEqual({ ok: true, grantedUsd: 0.3 })
        expect(await reserve([daily(1)], 0.5, { leastUsd: 0.1 })).toMatchObject({ ok: false, reason: 'budget' })
      })

      it('admits nothing on a spent budget, not even what is free, unless it costs the subject nothing at all', async () => {
        await reserve([daily(1)], 1, { id: 'call' })
        await settle('call', 1)
        expect((await reserve([daily(1)], 0)).ok).toBe(false)
        expect((await reserve([daily(1)])).ok).toBe(true)
        expect((await reserve([daily(0)], 0)).ok).toBe(false)
      })

      it('books on all subjects or on none', async () => {
        const key = daily(10)
        const workspace = charge({ subject: 'workspace:w', budgets: [{ interval: 'monthly', limitUsd: 1 }] })
        expect(await reserve([key, workspace], 2)).toMatchObject({ ok: false, subject: 'workspace:w', intervals: ['monthly'] })
        expect(await reserve([key], 10)).toMatchObject({ ok: true })
      })

      it('names every interval that does not hold the amount, the broadest first', async () => {
        const budgets = (['daily', 'weekly', 'monthly', 'lifetime'] as const).map((interval) => ({
          interval,
          limitUsd: interval === 'weekly' ? 5 : 1,
        }))
        expect(await reserve([charge({ budgets })], 2)).toMatchObject({ ok: false, intervals: ['lifetime', 'monthly', 'daily'] })
      })

      it.each<[Interval, number, boolean]>([
        ['daily', Date.UTC(2025, 0, 15, 23, 59, 59, 999), false],
        ['daily', Date.UTC(2025, 0, 16), true],
        ['weekly', Date.UTC(2025, 0, 19, 23, 59, 59, 999), false],
        ['weekly', Date.UTC(2025, 0, 20), true],
        ['monthly', Date.UTC(2025, 0, 31, 23, 59, 59, 999), false],
        ['monthly', Date.UTC(2025, 1, 1), true],
        ['lifetime', Date.UTC(2035, 0, 1), false],
      ])('keeps a %s budget at its UTC boundary (%d: new period %s)', async (interval, now, renewed) => {
        const charges = [charge({ budgets: [{ interval, limitUsd: 1 }] })]
        await reserve(charges, 1, { id: 'call' })
        await settle('call', 1)
        expect((await reserve(charges, 1, { now })).ok).toBe(renewed)
      })

      it('counts a call that ends after midnight in the new day', async () => {
        await reserve([daily(1)], 1, { id: 'call' })
        await settle('call', 1, Date.UTC(2025, 0, 16))
        expect((await reserve([daily(1)], 0.5)).ok).toBe(false)
        expect((await reserve([daily(1)], 0.5, { now: Date.UTC(2025, 0, 16, 1) })).ok).toBe(false)
      })
    })

    describe('a clock that shows another day for a moment', () => {
      const DAY = 24 * 60 * MINUTE
      const spend = async (usd: number, now: number): Promise<boolean> => {
        const id = `clock-${now}-${usd}`
        if (!(await reserve([daily(1)], usd, { id, now })).ok) return false
        await settle(id, usd, now)
        return true
      }

      it('forgets nothing of today, and counts tomorrow what was spent then', async () => {
        expect(await spend(1, NOON)).toBe(true)
        expect(await spend(0.25, NOON + DAY)).toBe(true)
        expect(await spend(0.5, NOON + 1)).toBe(false)
        expect(await spend(1, NOON + DAY + 1)).toBe(false)
        expect(await spend(0.75, NOON + DAY + 2)).toBe(true)
      })

      it('pays today what ends today', async () => {
        await spend(0.25, NOON)
        await spend(0.25, NOON + DAY)
        expect(await spend(0.25, NOON + 1)).toBe(true)
        expect(await spend(0.5, NOON + 2)).toBe(false)
        expect(await spend(0.75, NOON + DAY + 1)).toBe(true)
      })

      it('asks the store when it knows nothing of the day any more', async () => {
        for (const days of [0, 1, 2]) await spend(0.1, NOON + days * DAY)
        store.spent = { ...NOTHING_SPENT, daily: 0.9 }
        expect(await spend(0.2, NOON + 1)).toBe(false)
        expect(await spend(0.1, NOON + 2)).toBe(true)
      })

      it('asks the store when it was wrong from the first call on', async () => {
        expect(await spend(0.1, NOON + DAY)).toBe(true)
        store.spent = { ...NOTHING_SPENT, daily: 0.9 }
        expect(await spend(0.2, NOON)).toBe(false)
      })

      it('holds nobody up for the time it was wrong by', async () => {
        const rated = [charge({ rates: [{ name: 'requests', limit: 2, cost: 1 }] })]
        expect((await reserve(rated, undefined, { now: NOON + DAY })).ok).toBe(true)
        expect((await reserve(rated, undefined, { now: NOON })).ok).toBe(true)
        expect(await reserve(rated, undefined, { now: NOON })).toMatchObject({ ok: false, reason: 'rate', retryAfterMs: 30_000 })
        expect((await reserve(rated, undefined, { now: NOON + 30_000 })).ok).toBe(true)
      })
    })

    describe('what was spent before', () => {
      it('is read from the store once, when the subject is first charged', async () => {
        store.spent = { lifetime: 5, monthly: 3, weekly: 2, daily: 0.9 }
        expect(await reserve([daily(1)], 0.2)).toMatchObject({ ok: false, reason: 'budget' })
        expect(await reserve([daily(1)], 0.1)).toMatchObject({ ok: true })
        expect(store.asked).toBe(1)
      })

      it('is read again when the limits have changed, and the larger figure counts', async () => {
        await reserve([daily(1)], 0.5, { id: 'call' })
        await settle('call', 0.5)
        store.spent = { ...NOTHING_SPENT, daily: 0.2 }
        expect(await reserve([{ ...daily(1), revision: 2 }], 0.6)).toMatchObject({ ok: false, availableUsd: 0.5 })
        store.spent = { ...NOTHING_SPENT, daily: 0.8 }
        expect(await reserve([{ ...daily(1), revision: 3 }], 0.3)).toMatchObject({ ok: false, availableUsd: 0.2 })
      })

      it('is read again for limits changed by a clock that is behind that of the change before', async () => {
        await reserve([{ ...daily(1), revision: 5 }], 0, { id: 'before' })
        await settle('before', 0)
        store.spent = { ...NOTHING_SPENT, daily: 0.8 }
        expect(await reserve([{ ...daily(1), revision: 3 }], 0.3)).toMatchObject({ ok: false, availableUsd: 0.2 })
      })

      it('counts as nothing while the store is away, or stops everybody: as configured', async () => {
        store.fails = true
        expect((await reserve([daily(1)], 1)).ok).toBe(true)
        await dispose()
        await begin('refuse')
        expect(await reserve([daily(1)], 1)).toMatchObject({ ok: false, reason: 'unknown', subject: 'key:a' })
        expect((await reserve([charge({ maxOpen: 1 })], 1)).ok).toBe(true)
      })
    })

    describe('rates', () => {
      const perMinute = (limit: number, cost = 1) => charge({ rates: [{ name: 'requests', limit, cost }] })

      it('admits a minute’s worth at once, then one each time its share has refilled', async () => {
        for (let i = 0; i < 5; i++) expect((await reserve([perMinute(5)])).ok).toBe(true)
        expect(await reserve([perMinute(5)])).toMatchObject({
          ok: false,
          reason: 'rate',
          rate: 'requests',
          retryAfterMs: 12_000,
          state: { limit: 5, remaining: 0, resetAt: NOON + MINUTE },
        })
        expect((await reserve([perMinute(5)], undefined, { now: NOON + 11_900 })).ok).toBe(false)
        expect((await reserve([perMinute(5)], undefined, { now: NOON + 12_000 })).ok).toBe(true)
        expect((await reserve([perMinute(5)], undefined, { now: NOON + 12_000 })).ok).toBe(false)
      })

      it('admits exactly the limit of 100 that arrive together', async () => {
        const verdicts = await Promise.all(Array.from({ length: 100 }, () => reserve([perMinute(30)])))
        expect(verdicts.filter(({ ok }) => ok)).toHaveLength(30)
      })

      it('gives tokens back that were not used, and owes those that were used beyond', async () => {
        const tokens = (cost: number) => charge({ rates: [{ name: 'tokens', limit: 1000, cost }] })
        await reserve([tokens(900)], undefined, { id: 'call' })
        expect((await reserve([tokens(200)])).ok).toBe(false)
        await counter.settle({
          id: 'call',
          now: NOON,
          payments: [{ subject: 'key:a', spentUsd: 0, rates: [{ name: 'tokens', limit: 1000, cost: -800 }] }],
        })
        expect((await reserve([tokens(200)], undefined, { id: 'second' })).ok).toBe(true)
        await counter.settle({
          id: 'second',
          now: NOON,
          payments: [{ subject: 'key:a', spentUsd: 0, rates: [{ name: 'tokens', limit: 1000, cost: 1000 }] }],
        })
        expect(await reserve([tokens(1)])).toMatchObject({ ok: false, state: { remaining: 0 } })
        expect((await reserve([tokens(1)], undefined, { now: NOON + 2 * MINUTE })).ok).toBe(true)
      })

      it('admits one call larger than the limit while nothing is owed, and then waits until it is paid off', async () => {
        const tokens = (cost: number) => charge({ rates: [{ name: 'tokens', limit: 1000, cost }] })
        expect((await reserve([tokens(3000)])).ok).toBe(true)
        expect((await reserve([tokens(1)], undefined, { now: NOON + MINUTE })).ok).toBe(false)
        expect((await reserve([tokens(1)], undefined, { now: NOON + 3 * MINUTE })).ok).toBe(true)
      })

      it('takes no rate a second time when a call reserves again', async () => {
        const charges = [{ ...perMinute(2), budgets: [{ interval: 'daily' as const, limitUsd: 1 }] }]
        for (let i = 0; i < 3; i++) expect((await reserve(charges, 0.1 * i, { id: 'call' })).ok).toBe(true)
        expect((await reserve(charges, 0)).ok).toBe(true)
      })

      it('takes nothing of one rate when another refuses', async () => {
        const both = (tokens: number) =>
          charge({
            rates: [
              { name: 'requests', limit: 2, cost: 1 },
              { name: 'tokens', limit: 100, cost: tokens },
            ],
          })
        expect((await reserve([both(100)])).ok).toBe(true)
        for (let i = 0; i < 5; i++) expect(await reserve([both(50)])).toMatchObject({ rate: 'tokens' })
        expect((await reserve([both(0)])).ok).toBe(true)
      })
    })

    describe('open calls', () => {
      it('are as many as allowed, and one that ends makes room', async () => {
        const charges = [charge({ maxOpen: 2 })]
        await reserve(charges, undefined, { id: 'one' })
        await reserve(charges)
        expect(await reserve(charges)).toMatchObject({ ok: false, reason: 'open', limit: 2 })
        await settle('one', 0)
        expect((await reserve(charges)).ok).toBe(true)
      })

      it('may settle twice without making room twice', async () => {
        const charges = [charge({ maxOpen: 2 })]
        await reserve(charges, undefined, { id: 'one' })
        await reserve(charges, undefined, { id: 'two' })
        await settle('one', 0)
        await settle('one', 0)
        expect((await reserve(charges)).ok).toBe(true)
        expect((await reserve(charges)).ok).toBe(false)
      })
    })
  })
}
