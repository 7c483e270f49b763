import { describe, expect, it } from 'vitest'
import { charge, MINUTE, NOON, type CounterStage } from './counter-stage.ts'

/** What every counter must do with rates and with concurrent calls. `at`: the stage of the running test. */
export function describeRates(at: () => CounterStage): void {
  const reserve: CounterStage['reserve'] = (...args) => at().reserve(...args)
  const settle: CounterStage['settle'] = (...args) => at().settle(...args)

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
      await at().counter.settle({
        id: 'call',
        now: NOON,
        payments: [{ subject: 'key:a', spentUsd: 0, rates: [{ name: 'tokens', limit: 1000, cost: -800 }] }],
      })
      expect((await reserve([tokens(200)], undefined, { id: 'second' })).ok).toBe(true)
      await at().counter.settle({
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
}
