import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { NOTHING_SPENT, type Charge } from '../../core/counter.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/logger.ts'
import { findTestRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis, firstContact } from './redis-client.ts'
import { createRedisCounter, type RedisCounter } from './redis.ts'

const NOW = Date.UTC(2025, 0, 15, 12)
const SUBJECT = 'key:a'
const budget: Charge = { subject: SUBJECT, revision: 1, rates: [], budgets: [{ interval: 'daily', limitUsd: 1 }] }
const onePlace: Charge = { subject: SUBJECT, revision: 1, rates: [], budgets: [], maxOpen: 1 }
/** Longer than any test, so that nothing is put back by chance: signs of life come every third of it. */
const RARE_MS = 120_000
const OFTEN_MS = 150

const found = await findTestRedis('counters whose Redis is emptied while calls run')

describe.skipIf(!found.available)('calls under way while Redis loses what it holds', () => {
  if (!found.available) return
  const connections: Redis[] = []
  const counters: RedisCounter[] = []
  let namespace = ''
  const connect = async (): Promise<Redis> => {
    const redis = connectRedis({ url: found.url, logger: silentLogger })
    connections.push(redis)
    await firstContact(redis)
    return redis
  }
  let client: Redis
  beforeAll(async () => void (client = await connect()))
  beforeEach(() => void (namespace = found.namespace()))
  afterEach(() => Promise.all(counters.splice(0).map((counter) => counter.close())))
  afterAll(() => Promise.all(connections.map(disconnectRedis)))

  const open = async (leaseMs: number): Promise<RedisCounter> => {
    const load = () => Promise.resolve(NOTHING_SPENT)
    const counter = createRedisCounter({ redis: await connect(), clock: systemClock, namespace, leaseMs, load, whenUnknown: () => 'local' })
    counters.push(counter)
    return counter
  }
  const reserve = (counter: RedisCounter, id: string, charge: Charge, amountUsd?: number) =>
    counter.reserve({ id, now: NOW, charges: [charge], ...(amountUsd === undefined ? {} : { amountUsd }) })
  const settle = (counter: RedisCounter, id: string, spentUsd = 0) =>
    counter.settle({ id, now: NOW, payments: [{ subject: SUBJECT, spentUsd, rates: [] }] })
  const key = (kind: '' | ':open' | ':held'): string => `{${namespace}}:${SUBJECT}${kind}`
  const empty = async (): Promise<void> => void (await client.del(...(await client.keys(`{${namespace}}*`))))
  const reserved = async (): Promise<number> => Number(await client.hget(key(''), 'reserved')) / 1e9

  it(verifies('H2', 'still hold what they reserved when the next call asks the same process'), async () => {
    const counter = await open(RARE_MS)
    expect(await reserve(counter, 'long', budget, 0.6)).toMatchObject({ ok: true })
    await empty()
    expect(await reserve(counter, 'next', budget, 0.6)).toMatchObject({ ok: false, reason: 'budget', availableUsd: 0.4 })
    await settle(counter, 'long', 0.1)
    expect(await reserve(counter, 'next', budget, 0.6)).toMatchObject({ ok: true })
  })

  it(verifies('H2', 'hold it against other processes from the next sign of life on'), async () => {
    const [mine, other] = [await open(OFTEN_MS), await open(RARE_MS)]
    await reserve(mine, 'a', budget, 0.2)
    await reserve(mine, 'b', budget, 0.4)
    await empty()
    await expect.poll(reserved).toBeCloseTo(0.6, 9)
    expect(await reserve(other, 'c', budget, 0.6)).toMatchObject({ ok: false, availableUsd: 0.4 })
    await settle(mine, 'a')
    await settle(mine, 'b')
    expect(await reserved()).toBe(0)
  })

  it('hold the amount that was reserved last', async () => {
    const counter = await open(OFTEN_MS)
    await reserve(counter, 'a', budget, 0.2)
    await reserve(counter, 'a', budget, 0.7)
    // Of an account of the caller's own, whose budget is not asked.
    await reserve(counter, 'a', { ...budget, budgets: [] }, 0.1)
    await empty()
    await expect.poll(reserved).toBeCloseTo(0.7, 9)
  })

  it('keep their places', async () => {
    const [mine, other] = [await open(OFTEN_MS), await open(RARE_MS)]
    expect(await reserve(mine, 'a', onePlace)).toMatchObject({ ok: true })
    await empty()
    await expect.poll(() => client.zcard(key(':open'))).toBe(1)
    expect(await reserve(other, 'b', onePlace)).toMatchObject({ ok: false, reason: 'open' })
    await settle(mine, 'a')
    expect(await reserve(other, 'b', onePlace)).toMatchObject({ ok: true })
  })

  it('are put back after they were ended by others, because their process was stopped for longer than a lease', async () => {
    const counter = await open(OFTEN_MS)
    await reserve(counter, 'a', budget, 0.3)
    await client.multi().zrem(key(':open'), 'a').hdel(key(':held'), 'a').hset(key(''), 'reserved', '0').exec()
    await expect.poll(reserved).toBeCloseTo(0.3, 9)
  })

  it.each([':open', ':held', ''] as const)('count once where only a part was evicted: “%s”', async (kind) => {
    const [mine, other] = [await open(OFTEN_MS), await open(RARE_MS)]
    await reserve(mine, 'a', budget, 0.3)
    await reserve(mine, 'b', budget, 0.1)
    await client.del(key(kind))
    await expect.poll(async () => [await client.zcard(key(':open')), await client.hlen(key(':held'))]).toEqual([2, 2])
    expect(await reserve(other, 'c', budget, 1)).toMatchObject({ ok: false, availableUsd: 0.6 })
    await settle(mine, 'a')
    await settle(mine, 'b')
    expect(await reserved()).toBe(0)
  })

  it('do not come back after they have ended', async () => {
    const counter = await open(OFTEN_MS)
    for (let i = 0; i < 20; i++) await reserve(counter, `call-${i}`, budget, 0.01)
    await empty()
    for (let i = 0; i < 20; i++) await settle(counter, `call-${i}`)
    await new Promise((resolve) => setTimeout(resolve, OFTEN_MS))
    expect([await client.zcard(key(':open')), await client.hlen(key(':held'))]).toEqual([0, 0])
  })
})
