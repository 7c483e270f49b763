import { describe, expect, it } from 'vitest'
import { NOTHING_SPENT, type Interval } from '../core/counter.ts'
import { charge, daily, MINUTE, NOON, type CounterStage } from './counter-stage.ts'

/** What every counter must do with budgets. `at`: the stage of the running test. */
export function describeMoney(at: () => CounterStage): void {
  const reserve: CounterStage['reserve'] = (...args) => at().reserve(...args)
  const settle: CounterStage['settle'] = (...args) => at().settle(...args)

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
        const verdict = await at().counter.reserve({ id, now: NOON, charges: [daily(0.5)], amountUsd: 0.05 })
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

    it('admits nothing on a spent budget, not even free models, unless it costs the subject nothing at all', async () => {
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

    it('says what is left of the broadest of them, and of all together', async () => {
      const budgets = [
        { interval: 'daily', limitUsd: 1 },
        { interval: 'monthly', limitUsd: 3 },
      ] as const
      await reserve([charge({ budgets })], 0.75)
      expect(await reserve([charge({ budgets })], 2.5)).toMatchObject({ intervals: ['monthly', 'daily'], leftUsd: 2.25, availableUsd: 0.25 })
      expect(await reserve([charge({ budgets })], 0.5)).toMatchObject({ intervals: ['daily'], leftUsd: 0.25, availableUsd: 0.25 })
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

    it('asks the store when it has no figures of the day any more', async () => {
      for (const days of [0, 1, 2]) await spend(0.1, NOON + days * DAY)
      at().store.spent = { ...NOTHING_SPENT, daily: 0.9 }
      expect(await spend(0.2, NOON + 1)).toBe(false)
      expect(await spend(0.1, NOON + 2)).toBe(true)
    })

    it('asks the store when it was wrong from the first call on', async () => {
      expect(await spend(0.1, NOON + DAY)).toBe(true)
      at().store.spent = { ...NOTHING_SPENT, daily: 0.9 }
      expect(await spend(0.2, NOON)).toBe(false)
    })

    it('delays no call by the time it was wrong', async () => {
      const rated = [charge({ rates: [{ name: 'requests', limit: 2, cost: 1 }] })]
      expect((await reserve(rated, undefined, { now: NOON + DAY })).ok).toBe(true)
      expect((await reserve(rated, undefined, { now: NOON })).ok).toBe(true)
      expect(await reserve(rated, undefined, { now: NOON })).toMatchObject({ ok: false, reason: 'rate', retryAfterMs: 30_000 })
      expect((await reserve(rated, undefined, { now: NOON + 30_000 })).ok).toBe(true)
    })
  })

  describe('what was spent before', () => {
    it('is read from the store once, when the subject is first charged', async () => {
      at().store.spent = { lifetime: 5, monthly: 3, weekly: 2, daily: 0.9 }
      expect(await reserve([daily(1)], 0.2)).toMatchObject({ ok: false, reason: 'budget' })
      expect(await reserve([daily(1)], 0.1)).toMatchObject({ ok: true })
      expect(at().store.asked).toBe(1)
    })

    it('is read again when the limits have changed, and the larger figure counts', async () => {
      await reserve([daily(1)], 0.5, { id: 'call' })
      await settle('call', 0.5)
      at().store.spent = { ...NOTHING_SPENT, daily: 0.2 }
      expect(await reserve([{ ...daily(1), revision: 2 }], 0.6)).toMatchObject({ ok: false, availableUsd: 0.5 })
      at().store.spent = { ...NOTHING_SPENT, daily: 0.8 }
      expect(await reserve([{ ...daily(1), revision: 3 }], 0.3)).toMatchObject({ ok: false, availableUsd: 0.2 })
    })

    it('is read again for limits changed by a process with an earlier clock', async () => {
      await reserve([{ ...daily(1), revision: 5 }], 0, { id: 'before' })
      await settle('before', 0)
      at().store.spent = { ...NOTHING_SPENT, daily: 0.8 }
      expect(await reserve([{ ...daily(1), revision: 3 }], 0.3)).toMatchObject({ ok: false, availableUsd: 0.2 })
    })

    it('counts as nothing while the store is down, or stops every call, as configured', async () => {
      at().store.fails = true
      expect((await reserve([daily(1)], 1)).ok).toBe(true)
      await at().dispose()
      await at().begin('refuse')
      expect(await reserve([daily(1)], 1)).toMatchObject({ ok: false, reason: 'unknown', subject: 'key:a' })
      expect((await reserve([charge({ maxOpen: 1 })], 1)).ok).toBe(true)
    })
  })
}
