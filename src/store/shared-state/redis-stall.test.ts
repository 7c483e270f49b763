import type { Redis } from 'ioredis'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { NOTHING_SPENT, type Charge, type Counter } from '../../core/counter.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { startPrivateRedis, type PrivateRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis } from './redis-client.ts'
import { createRedisCounter } from './redis.ts'

const NOW = Date.UTC(2025, 0, 15, 12)
const SUBJECT = 'key:a'
const budget: Charge = { subject: SUBJECT, revision: 1, rates: [], budgets: [{ interval: 'daily', limitUsd: 10 }] }

let own: PrivateRedis | undefined = await startPrivateRedis('a Redis that stalls')
afterAll(async () => {
  await own?.close()
  own = undefined
})

describe.skipIf(own === undefined)('a counter whose Redis stalls and keeps its connections', () => {
  let redis: Redis
  let other: Redis
  let counter: Counter
  let closes = 0
  let stored = 0
  beforeEach(async () => {
    const url = new Secret(own!.url)
    ;[redis, other] = [connectRedis({ url, logger: silentLogger }), connectRedis({ url, logger: silentLogger })]
    await Promise.all([redis, other].map((one) => new Promise<void>((resolve) => one.once('ready', () => resolve()))))
    redis.on('close', () => closes++)
    await other.flushall()
    counter = createRedisCounter({
      redis,
      clock: systemClock,
      namespace: 'stall',
      whenUnknown: () => 'local',
      load: () => Promise.resolve({ lifetime: stored, monthly: stored, weekly: stored, daily: stored }),
    })
    ;[closes, stored] = [0, NOTHING_SPENT.daily]
  })
  afterEach(async () => {
    await counter.close()
    await disconnectRedis(redis)
    await disconnectRedis(other)
  })
  /** Commands are held up and served afterwards, in their order. */
  const stall = (ms: number) => other.call('CLIENT', 'PAUSE', String(ms), 'ALL')
  const reserve = (id: string, amountUsd = 1) => counter.reserve({ id, now: NOW, charges: [budget], amountUsd })
  const settle = (id: string, spentUsd = 1) => {
    stored += spentUsd
    return counter.settle({ id, now: NOW, payments: [{ subject: SUBJECT, spentUsd, rates: [] }] })
  }
  const figures = async () => {
    const state = await redis.hgetall(`{stall}:${SUBJECT}`)
    return [Number(state['daily']) / 1e9, Number(state['reserved']) / 1e9]
  }

  it(verifies('I2', 'counts every call that ended meanwhile, once, whether its settlement arrived or not'), async () => {
    const ids = Array.from({ length: 9 }, (_, i) => `call-${i}`)
    for (const id of ids) expect((await reserve(id)).ok).toBe(true)
    await stall(600)
    for (const id of ids) {
      void settle(id)
      await sleep(50)
    }
    await expect.poll(figures, { timeout: 5_000 }).toEqual([9, 0])
    // Nobody pays again for what arrived late.
    await sleep(600)
    expect(await figures()).toEqual([9, 0])
    expect(closes).toBe(0)
    expect((await reserve('fits')).ok).toBe(true)
    expect(await reserve('does not')).toMatchObject({ ok: false, reason: 'budget', availableUsd: 0 })
  })

  it('counts settlements that were never sent before it admits the next call', async () => {
    await reserve('first', 6)
    await stall(400)
    await settle('first', 6)
    await sleep(550)
    expect(await reserve('next', 5)).toMatchObject({ ok: false, availableUsd: 4 })
  })
})
