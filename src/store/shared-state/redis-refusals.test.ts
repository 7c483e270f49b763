import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NOTHING_SPENT, type Charge } from '../../core/counter.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { startPrivateRedis, type PrivateRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis } from './redis-client.ts'
import { createRedisCounter } from './redis.ts'

const rated: Charge = { subject: 'key:a', revision: 1, rates: [{ name: 'requests', limit: 1_000, cost: 1 }], budgets: [] }

let own: PrivateRedis | undefined = await startPrivateRedis('a Redis that refuses writes')
afterAll(async () => {
  await own?.close()
  own = undefined
})

describe.skipIf(own === undefined)('a counter whose Redis is there and refuses writes', () => {
  let redis: Redis
  let other: Redis
  let connections = 0
  let troubles: (string | undefined)[] = []
  let counter: ReturnType<typeof createRedisCounter>
  let calls = 0
  beforeEach(async () => {
    ;[connections, troubles] = [0, []]
    const url = new Secret(own!.url)
    ;[redis, other] = [connectRedis({ url, logger: silentLogger }), connectRedis({ url, logger: silentLogger })]
    redis.on('ready', () => connections++)
    counter = createRedisCounter({
      redis,
      clock: systemClock,
      whenUnknown: () => 'local',
      load: () => Promise.resolve(NOTHING_SPENT),
      onTrouble: (error) => troubles.push(error?.message.split(' ', 1)[0]),
    })
    await expect.poll(() => [redis.status, other.status]).toEqual(['ready', 'ready'])
  })
  afterEach(async () => {
    await other.call('REPLICAOF', 'NO', 'ONE')
    await other.config('SET', 'maxmemory', '0')
    await counter.close()
    await disconnectRedis(redis)
    await disconnectRedis(other)
  })
  const reserve = async (): Promise<boolean> => (await counter.reserve({ id: `call-${calls++}`, now: systemClock.now(), charges: [rated] })).ok
  /** Calls are let in all the while. */
  const callUntil = (done: () => boolean) => expect.poll(async () => (await reserve()) && done(), { timeout: 15_000, interval: 50 }).toBe(true)

  it('reports it once, and its end', async () => {
    await callUntil(counter.answers)
    await other.config('SET', 'maxmemory', '1')
    await callUntil(() => !counter.answers())
    await callUntil(() => calls > 40)
    expect(troubles).toEqual(['OOM'])
    await other.config('SET', 'maxmemory', '0')
    await callUntil(counter.answers)
    expect(troubles).toEqual(['OOM', undefined])
    expect(connections).toBe(1)
  })

  it('notices without calls', async () => {
    // The other counter hears of it, too, where the machine is slow: its first beat is then one that is refused.
    const heard: (string | undefined)[] = []
    const idle = createRedisCounter({
      redis,
      clock: systemClock,
      leaseMs: 300,
      whenUnknown: () => 'local',
      load: () => Promise.resolve(NOTHING_SPENT),
      onTrouble: (error) => heard.push(error?.message.split(' ', 1)[0]),
    })
    try {
      await other.config('SET', 'maxmemory', '1')
      await expect.poll(idle.answers, { timeout: 5_000 }).toBe(false)
      await other.config('SET', 'maxmemory', '0')
      await expect.poll(idle.answers, { timeout: 5_000 }).toBe(true)
      await other.call('ACL', 'SETUSER', 'default', '-time')
      await expect.poll(idle.answers, { timeout: 5_000 }).toBe(false)
      await other.call('ACL', 'SETUSER', 'default', '+time')
      await expect.poll(idle.answers, { timeout: 5_000 }).toBe(true)
      expect(heard).toEqual(['OOM', undefined, 'NOPERM', undefined])
    } finally {
      await idle.close()
    }
  })

  it('notices the end after the connections that found it are gone', async () => {
    await callUntil(counter.answers)
    await other.config('SET', 'maxmemory', '1')
    await callUntil(() => troubles.length === 1)
    await other.config('SET', 'maxmemory', '0')
    await expect.poll(counter.answers, { timeout: 8_000 }).toBe(true)
    expect(troubles).toEqual(['OOM', undefined])
  })

  it('reconnects when its connection leads to a replica, as after a failover, and not with every call', async () => {
    await callUntil(counter.answers)
    await other.call('REPLICAOF', '127.0.0.1', '1')
    await callUntil(() => connections > 1)
    for (let i = 0; i < 20; i++) await reserve()
    expect(connections).toBe(2)
    await other.call('REPLICAOF', 'NO', 'ONE')
    await callUntil(counter.answers)
  })
})
