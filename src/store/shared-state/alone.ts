import type { Reservation, Settlement, Verdict } from '../../core/counter.ts'
import { createMemoryCounter } from './memory.ts'
import { settledAtShare, shareOf } from './process-share.ts'
import type { SeedOptions } from './spent-seeds.ts'

/**
 * The counter of one process while Redis is away: rates and concurrent calls at this process's share, budgets from what the store remembers
 * (`whenUnknown`).
 */
export interface AloneCounter {
  reserve(reservation: Reservation, peers: number): Promise<Verdict>
  settle(settlement: Settlement, peers: number): Promise<void>
  /** Redis counts again. */
  end(): void
}

export function createAloneCounter(options: SeedOptions): AloneCounter {
  const local = createMemoryCounter(options)
  let isOn = false
  let times = 0
  return {
    reserve(reservation, peers) {
      const limited = reservation.charges.find(({ budgets }) => budgets.length > 0)
      if (options.whenUnknown() === 'refuse' && reservation.amountUsd !== undefined && limited !== undefined)
        return Promise.resolve({ ok: false, reason: 'unknown', subject: limited.subject })
      if (!isOn) times++
      isOn = true
      // What it remembers from earlier outages lacks what was spent in Redis since; another revision makes it read the store again.
      const charges = reservation.charges.map((charge) => ({ ...shareOf(charge, peers), revision: charge.revision + times }))
      return local.reserve({ ...reservation, charges })
    },
    settle: (settlement, peers) => local.settle(settledAtShare(settlement, peers)),
    end: () => {
      isOn = false
    },
  }
}
