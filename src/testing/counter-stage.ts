import { NOTHING_SPENT, type Charge, type Counter, type Reservation, type Spent } from '../core/counter.ts'

export interface CounterUnderTest {
  readonly counter: Counter
  readonly dispose: () => Promise<void>
}

/** What the store returns when a subject is first charged; tests may change it. */
export interface FakeStore {
  spent: Spent
  asked: number
  fails: boolean
}

/** Wednesday, 15 January 2025, 12:00 UTC. */
export const NOON = Date.UTC(2025, 0, 15, 12)
export const MINUTE = 60_000

export const charge = (parts: Partial<Charge> = {}): Charge => ({ subject: 'key:a', revision: 1, rates: [], budgets: [], ...parts })
export const daily = (limitUsd: number): Charge => charge({ budgets: [{ interval: 'daily', limitUsd }] })

export type OpenCounter = (store: FakeStore, whenUnknown: 'local' | 'refuse') => Promise<CounterUnderTest>

/** A counter for one test, with helpers for its calls. */
export class CounterStage {
  readonly store: FakeStore = { spent: NOTHING_SPENT, asked: 0, fails: false }
  readonly #open: OpenCounter
  #opened: CounterUnderTest | undefined
  #n = 0

  constructor(open: OpenCounter) {
    this.#open = open
  }

  async begin(whenUnknown: 'local' | 'refuse' = 'local'): Promise<void> {
    this.#opened = await this.#open(this.store, whenUnknown)
  }

  get counter(): Counter {
    return this.#opened!.counter
  }

  async dispose(): Promise<void> {
    await this.#opened?.dispose()
  }

  reserve(charges: readonly Charge[], amountUsd?: number, more: Partial<Reservation> = {}): ReturnType<Counter['reserve']> {
    const amount = amountUsd === undefined ? {} : { amountUsd }
    return this.counter.reserve({ id: `call-${++this.#n}`, now: NOON, charges, ...amount, ...more })
  }

  settle(id: string, spentUsd: number, now = NOON, subject = 'key:a'): ReturnType<Counter['settle']> {
    return this.counter.settle({ id, now, payments: [{ subject, spentUsd, rates: [] }] })
  }
}
