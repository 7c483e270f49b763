import { expect, it } from 'vitest'
import { createMemoryCounter } from './memory.ts'

it('a call that is paid while spending is read from the store counts: the store is asked once more', async () => {
  const stored = { usd: 1 }
  const reads: (() => void)[] = []
  const counter = createMemoryCounter({
    load: async () => {
      const { usd } = stored
      await new Promise<void>((resolve) => reads.push(resolve))
      return { lifetime: usd, monthly: usd, weekly: usd, daily: usd }
    },
    whenUnknown: () => 'local',
  })
  const charges = [{ subject: 'key:a', revision: 1, rates: [], budgets: [{ interval: 'daily' as const, limitUsd: 2 }] }]
  const verdict = counter.reserve({ id: 'next', now: 1_000, charges, amountUsd: 0.1 })
  // A call that began before there was a limit ends: it is recorded, and then paid.
  stored.usd = 2
  await counter.settle({ id: 'before', now: 1_000, payments: [{ subject: 'key:a', spentUsd: 1, rates: [] }] })
  reads[0]!()
  await new Promise(setImmediate)
  reads[1]?.()
  expect(await verdict).toMatchObject({ ok: false, reason: 'budget' })
  expect(reads).toHaveLength(2)
})
