import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { INTERVALS, type Budget, type Charge, type Counter, type Interval, type SpentLoader } from '../../core/counter.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/logger.ts'
import { dice, MoneyLedger, type Dice } from '../../testing/money-ledger.ts'
import { findTestRedis } from '../../testing/redis.ts'
import { createMemoryCounter } from './memory.ts'
import { createRedisCounter } from './redis.ts'
import { connectRedis, disconnectRedis, firstContact } from './redis-client.ts'

/** Budgets against a plain ledger: calls of several keys that share a workspace and the installation, over ends of months, years and leap days. */
const STEPS = 300
const HOUR = 3_600_000
const DAY = 24 * HOUR
const BEGINNINGS = [Date.UTC(2024, 1, 28, 22), Date.UTC(2023, 11, 31, 20), Date.UTC(2025, 0, 31, 23), Date.UTC(2100, 1, 28, 23)]
const SUBJECTS = ['key:a', 'key:b', 'workspace:w', 'installation']
const SHARED = ['workspace:w', 'installation']

type Verdict = { readonly grantedUsd: number } | { readonly subject: string; readonly intervals: readonly Interval[] }

/** Whole billionths of a dollar: what counters count in. */
const nanos = (usd: number): number => Math.round(usd * 1e9)

class Scene {
  readonly ledger = new MoneyLedger()
  readonly load: SpentLoader = (subject, now) => Promise.resolve(this.ledger.all(subject, now))
  readonly #dice: Dice
  readonly #mayGoBack: boolean
  readonly #limits = new Map<string, { readonly revision: number; readonly budgets: readonly Budget[] }>()
  /** A call reserves and settles in one process. */
  readonly #open: { readonly id: string; readonly subjects: readonly string[]; readonly counter: Counter }[] = []
  #now: number
  #n = 0

  constructor(seed: number) {
    this.#dice = dice(seed)
    this.#mayGoBack = seed % 2 === 0
    this.#now = this.#dice.pick(BEGINNINGS)
    for (const subject of SUBJECTS) this.#change(subject)
  }

  async step(counter: Counter): Promise<void> {
    const roll = this.#dice.next()
    if (roll < 0.12) this.#now += this.#dice.pick([1, 1_000, HOUR, 6 * HOUR, DAY, 3 * DAY, 8 * DAY, 32 * DAY])
    else if (roll < 0.15) this.#now -= this.#mayGoBack ? this.#dice.pick([1, 60_000, HOUR]) : 0
    else if (roll < 0.2) this.#change(this.#dice.pick(SUBJECTS))
    else if (roll < 0.65) await this.#reserve(counter)
    else await this.#settle()
  }

  #change(subject: string): void {
    const budgets = INTERVALS.filter(() => this.#dice.next() < 0.4).map((interval) => ({
      interval,
      limitUsd: this.#dice.pick([0, 1e-9, 0.000001, 0.1, 0.3, 1, 2.5, 1_000]),
    }))
    this.#limits.set(subject, { revision: (this.#limits.get(subject)?.revision ?? 0) + 1, budgets })
  }

  /** A new call, or a further attempt of one that is open. */
  async #reserve(counter: Counter): Promise<void> {
    const again = this.#open.length > 0 && this.#dice.next() < 0.25 ? this.#dice.pick(this.#open) : undefined
    const subjects =
      again?.subjects ?? [this.#dice.pick(['key:a', 'key:b']), ...SHARED].filter((subject) => this.#limits.get(subject)!.budgets.length > 0)
    if (subjects.length === 0) return
    const id = again?.id ?? `call-${this.#n++}`
    const amountUsd = this.#dice.pick([0, 1e-9, 0.05, 0.1, 0.2, 0.7, 2])
    const leastUsd = this.#dice.next() < 0.4 ? amountUsd * this.#dice.next() : amountUsd
    const charges = subjects.map((subject): Charge => ({ subject, rates: [], ...this.#limits.get(subject)! }))
    const expected = this.#judge(id, charges, amountUsd, leastUsd)
    const verdict = await (again?.counter ?? counter).reserve({ id, now: this.#now, charges, amountUsd, leastUsd })
    expect(verdict).toMatchObject({ ok: 'grantedUsd' in expected, ...expected })
    if (!('grantedUsd' in expected)) return
    for (const { subject, budgets } of charges) if (budgets.length > 0) this.ledger.hold(subject, id, nanos(expected.grantedUsd) / 1e9)
    if (again === undefined) this.#open.push({ id, subjects, counter })
  }

  #judge(id: string, charges: readonly Charge[], amountUsd: number, leastUsd: number): Verdict {
    let granted = nanos(amountUsd)
    for (const { subject, budgets } of charges) {
      const left = budgets.map(({ interval, limitUsd }) => ({
        interval,
        unspent: nanos(limitUsd) - nanos(this.ledger.spent(subject, interval, this.#now)),
        held: nanos(this.ledger.heldByOthers(subject, id)),
      }))
      const over = left.filter(({ unspent, held }) => unspent <= 0 || unspent - held < nanos(leastUsd))
      if (over.length > 0) return { subject, intervals: over.map(({ interval }) => interval) }
      granted = Math.min(granted, ...left.map(({ unspent, held }) => unspent - held))
    }
    return { grantedUsd: granted / 1e9 }
  }

  async #settle(): Promise<void> {
    const [call] = this.#open.splice(this.#dice.below(this.#open.length), 1)
    if (call === undefined) return
    const spentUsd = this.#dice.pick([0, 0, 1e-9, 0.05, 0.1, 0.3, 0.123456789, 1.5])
    for (const subject of call.subjects) {
      this.ledger.release(subject, call.id)
      this.ledger.pay(subject, this.#now, spentUsd)
    }
    const payments = call.subjects.map((subject) => ({ subject, spentUsd, rates: [] }))
    await call.counter.settle({ id: call.id, now: this.#now, payments })
  }
}

const seeds = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i + 1)

it(verifies('H2', 'P30', 'a counter in memory agrees with a ledger, step by step, also where the clock goes back'), async () => {
  for (const seed of seeds(40)) {
    const scene = new Scene(seed)
    const counter = createMemoryCounter({ load: scene.load, whenUnknown: () => 'local' })
    for (let n = 0; n < STEPS; n++) await scene.step(counter)
  }
})

const redis = await findTestRedis('counters in Redis against a ledger')
describe.skipIf(!redis.available)('counters in Redis', () => {
  if (!redis.available) return
  let client: Redis
  beforeAll(async () => {
    client = connectRedis({ url: redis.url, logger: silentLogger })
    await firstContact(client)
  })
  afterAll(() => disconnectRedis(client))

  it(verifies('H2', 'P30', 'I2', 'agree with a ledger, two processes together, whatever figures Redis evicts'), async () => {
    for (const seed of seeds(12)) {
      const scene = new Scene(seed)
      const namespace = redis.namespace()
      const counters = [0, 1].map(() =>
        createRedisCounter({ redis: client, clock: systemClock, namespace, load: scene.load, whenUnknown: () => 'local' }),
      )
      const chance = dice(seed + 1_000)
      for (let n = 0; n < STEPS; n++) {
        await scene.step(chance.pick(counters))
        if (chance.next() < 0.1) await client.del(`{${namespace}}:${chance.pick(SUBJECTS)}`)
      }
      for (const counter of counters) await counter.close()
      await client.del(...SUBJECTS.flatMap((subject) => ['', ':open', ':held'].map((part) => `{${namespace}}:${subject}${part}`)))
    }
  })
})
