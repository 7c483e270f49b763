import { INTERVALS, type Interval, type Spent } from '../core/counter.ts'
import { seeded } from './replay-server.ts'

const DAY_MS = 86_400_000

/** The beginning of a period, computed independently of the code under test. */
function beginning(interval: Interval, at: number): number {
  const date = new Date(at)
  const midnight = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  switch (interval) {
    case 'daily':
      return midnight
    case 'weekly':
      return midnight - ((date.getUTCDay() + 6) % 7) * DAY_MS
    case 'monthly':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    case 'lifetime':
      return 0
  }
}

interface Entry {
  readonly subject: string
  readonly at: number
  readonly usd: number
}

/** A list of all payments and reservations, summed anew for each question. */
export class MoneyLedger {
  readonly #paid: Entry[] = []
  readonly #held = new Map<string, Map<string, number>>()

  pay(subject: string, at: number, usd: number): void {
    this.#paid.push({ subject, at, usd })
  }

  hold(subject: string, call: string, usd: number): void {
    let held = this.#held.get(subject)
    if (held === undefined) this.#held.set(subject, (held = new Map()))
    held.set(call, usd)
  }

  release(subject: string, call: string): void {
    this.#held.get(subject)?.delete(call)
  }

  /**
   * The amount spent in the period that contains `now`, including later payments of a clock that ran ahead; with `within`, only payments of the period
   * itself.
   */
  spent(subject: string, interval: Interval, now: number, within = false): number {
    const from = beginning(interval, now)
    return this.#paid
      .filter((entry) => entry.subject === subject && (within ? beginning(interval, entry.at) === from : entry.at >= from))
      .reduce((sum, { usd }) => sum + usd, 0)
  }

  all(subject: string, now: number, within = false): Spent {
    return Object.fromEntries(INTERVALS.map((interval) => [interval, this.spent(subject, interval, now, within)])) as unknown as Spent
  }

  heldByOthers(subject: string, call: string): number {
    let sum = 0
    for (const [other, usd] of this.#held.get(subject) ?? []) if (other !== call) sum += usd
    return sum
  }
}

export interface Dice {
  /** At least 0, less than 1. */
  readonly next: () => number
  readonly below: (n: number) => number
  readonly pick: <T>(from: readonly T[]) => T
}

/** The same throws for the same seed. */
export function dice(seed: number): Dice {
  const next = seeded(seed)
  const below = (n: number): number => Math.floor(next() * n)
  return { next, below, pick: (from) => from[below(from.length)]! }
}
