import type { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { NOTHING_SPENT, periodEnd, periodStart, type Charge, type Counter, type SpentLoader } from '../../core/counter.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { describeCounterContract } from '../../testing/counter-contract.ts'
import type { FakeStore } from '../../testing/counter-stage.ts'
import { manualClock } from '../../testing/deterministic.ts'
import { findTestRedis, startPrivateRedis, type PrivateRedis } from '../../testing/redis.ts'
import { createMemoryCounter } from './memory.ts'
import { createRedisCounter, type RedisCounterOptions } from './redis.ts'
import { connectRedis, disconnectRedis } from './redis-client.ts'
import { createRedisCooldowns, createRedisPins } from './redis-routing.ts'

const loaderOf =
  (store: FakeStore): SpentLoader =>
  (_subject, _now) => {
    store.asked++
    return store.fails ? Promise.reject(new Error('away')) : Promise.resolve(store.spent)
  }

describe('periods', () => {
  it('begin at midnight, on Monday and on the first, UTC', () => {
    const at = Date.UTC(2024, 1, 29, 13, 30)
    expect(new Date(periodStart('daily', at)).toISOString()).toBe('2024-02-29T00:00:00.000Z')
    expect(new Date(periodStart('weekly', at)).toISOString()).toBe('2024-02-26T00:00:00.000Z')
    expect(new Date(periodStart('monthly', at)).toISOString()).toBe('2024-02-01T00:00:00.000Z')
    expect(periodStart('lifetime', at)).toBe(0)
  })
  it('end where the next begins', () => {
    for (const interval of ['daily', 'weekly', 'monthly'] as const) {
      for (let at = Date.UTC(2023, 11, 1, 5); at < Date.UTC(2024, 3, 1); at += 7 * 3_600_000) {
        const end = periodEnd(interval, at)!
        expect(periodStart(interval, end)).toBe(end)
        expect(periodStart(interval, end - 1)).toBe(periodStart(interval, at))
      }
    }
    expect(periodEnd('lifetime', 0)).toBeUndefined()
  })
})

describeCounterContract(verifies('H2', 'P30', 'a counter in memory'), (store, whenUnknown) => {
  const counter = createMemoryCounter({ load: loaderOf(store), whenUnknown: () => whenUnknown })
  return Promise.resolve({ counter, dispose: () => counter.close() })
})

const NOW = Date.UTC(2025, 0, 15, 12)
it('a counter in memory reports in a refusal what remains, and when there is enough', async () => {
  const counter = createMemoryCounter({ load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local' })
  const take = (id: string, cost: number, now = NOW) =>
    counter.reserve({ id, now, charges: [{ subject: 'key:a', revision: 1, rates: [{ name: 'tokens', limit: 1_000, cost }], budgets: [] }] })
  expect((await take('first', 600)).ok).toBe(true)
  // 400 are left, and the 100 that are missing are there after six seconds; nothing is owed any more after thirty-six.
  expect(await take('second', 500)).toMatchObject({ ok: false, state: { limit: 1_000, remaining: 400, resetAt: NOW + 36_000 }, retryAfterMs: 6_000 })
  expect(await take('larger than the limit', 1_200)).toMatchObject({ ok: false, state: { remaining: 400 }, retryAfterMs: 36_000 })
  expect((await take('second', 500, NOW + 5_999)).ok).toBe(false)
  expect((await take('second', 500, NOW + 6_000)).ok).toBe(true)
})

const budget: Charge = { subject: 'key:a', revision: 1, rates: [], budgets: [{ interval: 'daily', limitUsd: 1 }] }
const ready = (redis: Redis): Promise<void> => new Promise((resolve) => (redis.status === 'ready' ? resolve() : redis.once('ready', () => resolve())))
const until = async (what: () => boolean, limitMs = 5_000): Promise<void> => {
  for (const end = performance.now() + limitMs; !what() && performance.now() < end;) await new Promise((resolve) => setTimeout(resolve, 10))
}

it('a full counter in memory evicts idle subjects, and none with open calls', async () => {
  const counter = createMemoryCounter({ load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local', maxSubjects: 3 })
  const take = async (subject: string, id: string) =>
    (await counter.reserve({ id, now: NOW, charges: [{ subject, revision: 1, rates: [], budgets: [], maxOpen: 1 }] })).ok
  expect(await take('key:busy', 'long')).toBe(true)
  for (let i = 0; i < 10; i++) {
    expect(await take(`key:${i}`, `short ${i}`)).toBe(true)
    await counter.settle({ id: `short ${i}`, now: NOW, payments: [{ subject: `key:${i}`, spentUsd: 0, rates: [] }] })
  }
  expect(await take('key:busy', 'one too many')).toBe(false)
  await counter.settle({ id: 'long', now: NOW, payments: [{ subject: 'key:busy', spentUsd: 0, rates: [] }] })
  expect(await take('key:busy', 'next')).toBe(true)
})

describe('a counter in memory, when the clock is set back', () => {
  const rated: Charge = { subject: 'key:a', revision: 1, rates: [{ name: 'requests', limit: 2, cost: 1 }], budgets: [] }
  let n = 0
  const at = (now: number) => counter.reserve({ id: `call ${n++}`, now, charges: [rated] })
  const counter = createMemoryCounter({ load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local' })

  it(verifies('I7', 'keeps rates unchanged: no subject waits for the old time, and none gets more'), async () => {
    for (const ok of [true, true, false]) expect((await at(NOW)).ok).toBe(ok)
    const back = NOW - 86_400_000
    const refused = await at(back)
    expect(refused).toMatchObject({ ok: false, reason: 'rate', retryAfterMs: 30_000 })
    expect((refused as { state: { resetAt: number } }).state.resetAt - back).toBe(60_000)
    expect((await at(back + 30_000)).ok).toBe(true)
    expect((await at(back + 30_001)).ok).toBe(false)
  })

  it('judges calls that come a moment late correctly', async () => {
    const late = createMemoryCounter({ load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local' })
    let admitted = 0
    for (let i = 0; i < 1_000; i++) {
      const verdict = await late.reserve({ id: `${i}`, now: NOW + i - (i % 2) * 500, charges: [rated] })
      if (verdict.ok) admitted++
    }
    expect(admitted).toBe(2)
  })
})

describe('a counter in memory, beside other processes on one database', () => {
  it('sees what they spent when its figures are old', async () => {
    let spent = NOTHING_SPENT
    const counter = createMemoryCounter({ load: () => Promise.resolve(spent), whenUnknown: () => 'local', refreshMs: 1_000 })
    await counter.reserve({ id: 'a', now: NOW, charges: [budget], amountUsd: 0.1 })
    spent = { ...NOTHING_SPENT, daily: 0.95 }
    expect((await counter.reserve({ id: 'b', now: NOW + 500, charges: [budget], amountUsd: 0.1 })).ok).toBe(true)
    await counter.reserve({ id: 'c', now: NOW + 1_500, charges: [budget], amountUsd: 0 })
    await Promise.resolve()
    expect((await counter.reserve({ id: 'd', now: NOW + 1_600, charges: [budget], amountUsd: 0.1 })).ok).toBe(false)
  })
})

describe('a counter in memory whose clock was set back by an hour', () => {
  const HOUR = 3_600_000

  it('compares with the store as often as before', async () => {
    let asked = 0
    const load: SpentLoader = () => Promise.resolve((asked++, NOTHING_SPENT))
    const counter = createMemoryCounter({ load, whenUnknown: () => 'local', refreshMs: 1_000 })
    for (const [n, now] of [NOW, NOW - HOUR, NOW - HOUR + 2_000].entries()) {
      await counter.reserve({ id: `${n}`, now, charges: [budget], amountUsd: 0.1 })
      await Promise.resolve()
      expect(asked).toBe(n + 1)
    }
  })

  it('asks a store again after a failure', async () => {
    let asked = 0
    const load: SpentLoader = () => (asked++ === 0 ? Promise.reject(new Error('away')) : Promise.resolve(NOTHING_SPENT))
    const counter = createMemoryCounter({ load, whenUnknown: () => 'refuse' })
    expect((await counter.reserve({ id: 'a', now: NOW, charges: [budget], amountUsd: 0.1 })).ok).toBe(false)
    expect((await counter.reserve({ id: 'b', now: NOW - HOUR, charges: [budget], amountUsd: 0.1 })).ok).toBe(true)
  })
})

describe('a counter in memory whose store was away for a moment', () => {
  const subjects = ['key:first', 'key:meanwhile', 'key:later']
  let away = true
  let asked = 0
  const load: SpentLoader = () => (asked++, away ? Promise.reject(new Error('away')) : Promise.resolve({ ...NOTHING_SPENT, daily: 1 }))
  const admits = async (counter: Counter, subject: string, now: number): Promise<boolean | string> => {
    const verdict = await counter.reserve({ id: `${subject} ${now}`, now, charges: [{ ...budget, subject }], amountUsd: 0.1 })
    return verdict.ok || verdict.reason
  }

  it.each([
    ['local', true],
    ['refuse', 'unknown'],
  ] as const)('reads the spending of all subjects that came meanwhile, once it answers (%s until then)', async (whenUnknown, untilThen) => {
    const counter = createMemoryCounter({ load, whenUnknown: () => whenUnknown })
    away = true
    asked = 0
    for (const [n, subject] of subjects.entries()) expect(await admits(counter, subject, NOW + n * 100)).toBe(untilThen)
    expect(asked).toBe(1)
    away = false
    for (const subject of subjects) {
      await admits(counter, subject, NOW + 60_000)
      expect(await admits(counter, subject, NOW + 60_001)).toBe('budget')
    }
  })

  it('delays one call while it does not answer, not each', async () => {
    const silent: SpentLoader = () => (asked++, new Promise(() => undefined))
    const counter = createMemoryCounter({ load: silent, whenUnknown: () => 'local', limitMs: 5 })
    asked = 0
    for (const [n, subject] of subjects.entries()) expect(await admits(counter, subject, NOW + n * 100)).toBe(true)
    expect(asked).toBe(1)
    expect(await admits(counter, 'key:after', NOW + 2_000)).toBe(true)
    expect(asked).toBe(2)
  })
})

it(verifies('I1', 'a counter in memory waits for a slow store once per call, however many limits the call has'), async () => {
  let under = 0
  let most = 0
  const load: SpentLoader = async () => {
    most = Math.max(most, ++under)
    await new Promise((resolve) => setTimeout(resolve, 20))
    under--
    return NOTHING_SPENT
  }
  const counter = createMemoryCounter({ load, whenUnknown: () => 'local', refreshMs: 30_000 })
  const charges = ['key:a', 'workspace:w', 'guardrail:g'].map((subject): Charge => ({ ...budget, subject }))
  for (const [id, now] of [
    ['first', NOW],
    ['after an hour', NOW + 3_600_000],
  ] as const) {
    most = 0
    expect((await counter.reserve({ id, now, charges, amountUsd: 0.1 })).ok).toBe(true)
    expect(most).toBe(3)
  }
})

it(
  verifies('P30', 'a counter in memory asks the store before it admits a subject with old figures, because other processes may have spent the rest'),
  async () => {
    let daily = 0
    const load: SpentLoader = () => Promise.resolve({ ...NOTHING_SPENT, daily })
    const counter = createMemoryCounter({ load, whenUnknown: () => 'local', refreshMs: 30_000 })
    const call = async (id: string, now: number): Promise<boolean> => {
      const { ok } = await counter.reserve({ id, now, charges: [budget], amountUsd: 0.1 })
      if (ok) await counter.settle({ id, now, payments: [{ subject: budget.subject, spentUsd: 0.1, rates: [] }] })
      return ok
    }
    expect(await call('first', NOW)).toBe(true)
    daily = 1
    // The documented half minute, and the look that ends it.
    expect(await call('between two looks', NOW + 29_000)).toBe(true)
    const burst = Array.from({ length: 5 }, (_, n) => call(`after an hour ${n}`, NOW + 3_600_000))
    expect(await Promise.all(burst)).toEqual([false, false, false, false, false])
  },
)

const redis = await findTestRedis('counters, pins and cooldowns in Redis')
describe.skipIf(!redis.available)('Redis', () => {
  if (!redis.available) return
  const clients: Redis[] = []
  const connect = async (): Promise<Redis> => {
    const client = connectRedis({ url: redis.url, logger: silentLogger })
    clients.push(client)
    await ready(client)
    return client
  }
  let client: Redis
  beforeAll(async () => {
    client = await connect()
  })
  afterAll(async () => {
    const left = await client.keys('{signalbox-test-*')
    if (left.length > 0) await client.del(...left)
    for (const one of clients) await disconnectRedis(one)
  })
  const plainCounter = (namespace: string, more: Partial<RedisCounterOptions> = {}) =>
    createRedisCounter({
      redis: client,
      clock: systemClock,
      namespace,
      load: () => Promise.resolve(NOTHING_SPENT),
      whenUnknown: () => 'local',
      ...more,
    })

  describeCounterContract('a counter in Redis', (store, whenUnknown) => {
    const counter = createRedisCounter({
      redis: client,
      clock: systemClock,
      namespace: redis.namespace(),
      load: loaderOf(store),
      whenUnknown: () => whenUnknown,
    })
    return Promise.resolve({ counter, dispose: () => counter.close() })
  })

  it('is one budget for several processes', async () => {
    const namespace = redis.namespace()
    const load: SpentLoader = () => Promise.resolve(NOTHING_SPENT)
    const counters = await Promise.all(
      [0, 1, 2, 3].map(async () => createRedisCounter({ redis: await connect(), clock: systemClock, namespace, load, whenUnknown: () => 'local' })),
    )
    const verdicts = await Promise.all(
      Array.from({ length: 100 }, (_, i) => counters[i % 4]!.reserve({ id: `call-${i}`, now: NOW, charges: [budget], amountUsd: 0.02 })),
    )
    expect(verdicts.filter(({ ok }) => ok)).toHaveLength(50)
    for (const counter of counters) await counter.close()
  })

  it(verifies('I7', 'a used-up rate frees itself although the clock was set back and every call is refused'), async () => {
    const HOUR = 3_600_000
    const namespace = redis.namespace()
    const counter = plainCounter(namespace)
    let n = 0
    const at = async (now: number): Promise<boolean | number> => {
      const verdict = await counter.reserve({
        id: `call ${n++}`,
        now,
        charges: [{ ...budget, budgets: [], rates: [{ name: 'requests', limit: 2, cost: 1 }] }],
      })
      return verdict.ok || (verdict as { retryAfterMs: number }).retryAfterMs
    }
    for (const expected of [true, true, 30_000]) expect(await at(NOW)).toBe(expected)
    const back = NOW - HOUR
    expect(await at(back)).toBe(30_000)
    expect(await at(back + 10_000)).toBe(20_000)
    // Where the clock is right the limit is what it was.
    expect(await at(NOW + 15_000)).toBe(15_000)
    expect(await at(back + 30_000)).toBe(true)
    expect(await at(back + 30_001)).toBe(29_999)
    await counter.close()
  })

  describe('a reservation of a process', () => {
    const LEASE = 60_000
    const HOUR = 3_600_000
    const charges = [{ ...budget, maxOpen: 1 }]
    const openIn = (namespace: string): string => `{${namespace}}:${budget.subject}:open`
    const serverNow = async (): Promise<number> => Number((await client.time())[0]) * 1_000
    const counterOf = (namespace: string, clock: Clock = systemClock) => plainCounter(namespace, { clock, leaseMs: LEASE })

    it('is released when the process died', async () => {
      const namespace = redis.namespace()
      const [died, counter] = [counterOf(namespace), counterOf(namespace)]
      await died.reserve({ id: 'dead', now: NOW, charges, amountUsd: 1 })
      await died.close()
      // As if this time had gone by.
      await client.zincrby(openIn(namespace), -LEASE + 1_000, 'dead')
      expect((await counter.reserve({ id: 'next', now: NOW, charges, amountUsd: 1 })).ok).toBe(false)
      await client.zincrby(openIn(namespace), -1_000, 'dead')
      expect((await counter.reserve({ id: 'next', now: NOW, charges, amountUsd: 1 })).ok).toBe(true)
      await counter.close()
    })

    it.each([HOUR, -HOUR])('expires by the clock of Redis, even if that of the process is off by %i ms', async (off) => {
      const namespace = redis.namespace()
      const clock = manualClock(Date.now() + off)
      const [wrong, right] = [counterOf(namespace, clock), counterOf(namespace)]
      const leaseEnd = async (id: string): Promise<number> => Number(await client.zscore(openIn(namespace), id)) - (await serverNow())
      await wrong.reserve({ id: 'mistaken', now: clock.now(), charges, amountUsd: 1 })
      expect(Math.abs((await leaseEnd('mistaken')) - LEASE)).toBeLessThan(5_000)
      // Its sign of life renews it by the same clock.
      await client.zincrby(openIn(namespace), -30_000, 'mistaken')
      client.emit('ready')
      await until(() => false, 100)
      expect(Math.abs((await leaseEnd('mistaken')) - LEASE)).toBeLessThan(5_000)
      await wrong.settle({ id: 'mistaken', now: clock.now(), payments: [{ subject: budget.subject, spentUsd: 0, rates: [] }] })
      expect((await right.reserve({ id: 'living', now: Date.now(), charges, amountUsd: 1 })).ok).toBe(true)
      expect((await wrong.reserve({ id: 'second', now: clock.now(), charges, amountUsd: 0 })).ok).toBe(false)
      expect(await client.zrange(openIn(namespace), '0', '-1')).toEqual(['living'])
      await wrong.close()
      await right.close()
    })

    it('is renewed while its call runs, and not kept after a call that ended or was refused', async () => {
      const renewed: unknown[] = []
      const ids = new Set(['ended', 'running', 'refused'])
      const spied = new Proxy(client, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (property !== 'pipeline') return typeof value === 'function' ? value.bind(target) : value
          return () => {
            const pipeline = target.pipeline()
            const zadd = pipeline.zadd.bind(pipeline) as (...parts: unknown[]) => typeof pipeline
            const spy = (...parts: unknown[]): typeof pipeline => {
              if (parts[1] === 'XX') renewed.push(...parts.filter((part) => typeof part === 'string' && ids.has(part)))
              return zadd(...parts)
            }
            return Object.assign(pipeline, { zadd: spy })
          }
        },
      })
      const load: SpentLoader = () => Promise.resolve(NOTHING_SPENT)
      const counter = createRedisCounter({ redis: spied, clock: systemClock, namespace: redis.namespace(), load, whenUnknown: () => 'local' })
      const reserve = async (id: string) => (await counter.reserve({ id, now: NOW, charges, amountUsd: 0 })).ok
      expect(await reserve('ended')).toBe(true)
      await counter.settle({ id: 'ended', now: NOW, payments: [{ subject: budget.subject, spentUsd: 0, rates: [] }] })
      expect(await reserve('running')).toBe(true)
      expect(await reserve('refused')).toBe(false)
      client.emit('ready')
      await until(() => renewed.length > 0)
      expect(renewed).toEqual(['running'])
      await counter.close()
    })

    it('is released when the process died while the clock of Redis ran ahead', async () => {
      const namespace = redis.namespace()
      const [died, counter] = [counterOf(namespace), counterOf(namespace)]
      await died.reserve({ id: 'dead', now: NOW, charges, amountUsd: 1 })
      await died.close()
      await client.zincrby(openIn(namespace), HOUR, 'dead')
      expect((await counter.reserve({ id: 'next', now: NOW, charges, amountUsd: 1 })).ok).toBe(false)
      expect(Number(await client.zscore(openIn(namespace), 'dead')) - (await serverNow())).toBeLessThan(LEASE + 5_000)
      await client.zincrby(openIn(namespace), -LEASE, 'dead')
      expect((await counter.reserve({ id: 'next', now: NOW, charges, amountUsd: 1 })).ok).toBe(true)
      await counter.close()
    })
  })

  it.each(['open', 'held'])('keeps no reservation forever where Redis evicts only the key %s', async (part) => {
    const namespace = redis.namespace()
    const counter = plainCounter(namespace)
    await counter.reserve({ id: 'first', now: NOW, charges: [budget], amountUsd: 1 })
    await client.del(`{${namespace}}:${budget.subject}:${part}`)
    await counter.settle({ id: 'first', now: NOW, payments: [{ subject: budget.subject, spentUsd: 0, rates: [] }] })
    expect(await counter.reserve({ id: 'second', now: NOW, charges: [budget], amountUsd: 1 })).toEqual({ ok: true, grantedUsd: 1 })
    // That of a process that died.
    await client.del(`{${namespace}}:${budget.subject}:${part}`)
    expect(await counter.reserve({ id: 'third', now: NOW, charges: [budget], amountUsd: 1 })).toEqual({ ok: true, grantedUsd: 1 })
    await counter.close()
  })

  it(verifies('I2', 'keeps reservations of calls where Redis evicts only the figures of a subject'), async () => {
    const namespace = redis.namespace()
    const state = `{${namespace}}:${budget.subject}`
    const counter = plainCounter(namespace)
    const reserve = (id: string, amountUsd: number) => counter.reserve({ id, now: NOW, charges: [budget], amountUsd })
    const settle = (id: string) => counter.settle({ id, now: NOW, payments: [{ subject: budget.subject, spentUsd: 0, rates: [] }] })
    await reserve('first', 0.5)
    await reserve('second', 0.25)
    await client.del(state)
    expect(await reserve('third', 0.5)).toMatchObject({ ok: false, availableUsd: 0.25 })
    await client.del(state)
    await settle('first')
    expect(await reserve('third', 0.75)).toEqual({ ok: true, grantedUsd: 0.75 })
    await settle('second')
    await settle('third')
    // Nothing is held, and nothing less than that.
    expect(await reserve('fourth', 1.5)).toMatchObject({ ok: false, availableUsd: 1 })
    await counter.close()
  })

  it('needs one round trip per step once a subject is known, with scripts by hash', async () => {
    const counter = createRedisCounter({
      redis: client,
      clock: systemClock,
      namespace: redis.namespace(),
      load: () => Promise.resolve(NOTHING_SPENT),
      whenUnknown: () => 'local',
    })
    await counter.reserve({ id: 'warm', now: NOW, charges: [budget], amountUsd: 0 })
    await counter.settle({ id: 'warm', now: NOW, payments: [{ subject: budget.subject, spentUsd: 0, rates: [] }] })
    const send = vi.spyOn(client, 'sendCommand')
    await counter.reserve({ id: 'one-trip', now: NOW, charges: [budget], amountUsd: 0.1 })
    await counter.settle({ id: 'one-trip', now: NOW, payments: [{ subject: budget.subject, spentUsd: 0.1, rates: [] }] })
    const sent = send.mock.calls.filter(([{ args }]) => args.some((arg) => String(arg).includes('"one-trip"'))).map(([{ name }]) => name)
    expect(send.mock.calls.filter(([{ name }]) => name !== 'evalsha')).toEqual([])
    send.mockRestore()
    expect(sent).toEqual(['evalsha', 'evalsha'])
    await counter.close()
  })

  it('retries once after a late answer, and pauses for longer and longer while Redis fails', async () => {
    let failing = 1
    let asked = 0
    const late = new Proxy(client, {
      get(target, property) {
        if (property !== 'evalsha') {
          const value: unknown = Reflect.get(target, property, target)
          return typeof value === 'function' ? value.bind(target) : value
        }
        return (...args: Parameters<typeof client.evalsha>) => {
          asked++
          return failing-- > 0 ? Promise.reject(new Error('Command timed out')) : target.evalsha(...args)
        }
      },
    })
    const clock = manualClock(NOW)
    const counter = createRedisCounter({
      redis: late,
      clock,
      namespace: redis.namespace(),
      load: () => Promise.resolve(NOTHING_SPENT),
      whenUnknown: () => 'refuse',
    })
    const reserve = (id: string) => counter.reserve({ id, now: NOW, charges: [budget], amountUsd: 0.1 })
    expect(await reserve('late')).toMatchObject({ ok: true })
    failing = Infinity
    asked = 0
    for (const pauseMs of [500, 1_000, 2_000, 4_000, 4_000]) {
      expect(await reserve('refused')).toMatchObject({ ok: false, reason: 'unknown' })
      expect(asked).toBe(2)
      clock.advance(pauseMs - 1)
      await reserve('not asked')
      expect(asked).toBe(2)
      clock.advance(1)
      asked = 0
    }
    failing = 0
    expect(await reserve('back')).toMatchObject({ ok: true })
    await counter.close()
  })

  it('does not blame Redis when the process itself was busy', async () => {
    const counter = createRedisCounter({
      redis: client,
      clock: systemClock,
      namespace: redis.namespace(),
      load: () => Promise.resolve(NOTHING_SPENT),
      whenUnknown: () => 'refuse',
    })
    await counter.reserve({ id: 'warm', now: NOW, charges: [budget], amountUsd: 0 })
    const send = vi.spyOn(client, 'sendCommand')
    const verdict = counter.reserve({ id: 'busy', now: NOW, charges: [budget], amountUsd: 0.1 })
    // The command is on its way; then one long turn.
    await new Promise((resolve) => setImmediate(resolve))
    for (const end = performance.now() + 400; performance.now() < end;);
    expect(await verdict).toMatchObject({ ok: true })
    expect(send.mock.calls.filter(([{ name }]) => name === 'evalsha')).toHaveLength(1)
    send.mockRestore()
    await counter.close()
  })

  it('survives a flush: scripts and figures are sent again', async () => {
    const namespace = redis.namespace()
    let daily = 0
    const counter = createRedisCounter({
      redis: client,
      clock: systemClock,
      namespace,
      load: () => Promise.resolve({ ...NOTHING_SPENT, daily }),
      whenUnknown: () => 'local',
    })
    await counter.reserve({ id: 'a', now: NOW, charges: [budget], amountUsd: 0.1 })
    await client.del(...(await client.keys(`{${namespace}}*`)))
    await client.script('FLUSH')
    daily = 0.7
    expect(await counter.reserve({ id: 'b', now: NOW, charges: [budget], amountUsd: 0.25 })).toMatchObject({ ok: false, availableUsd: 0.2 })
    await counter.close()
  })

  it('shares pins with their lifetime', async () => {
    const namespace = redis.namespace()
    const [mine, other] = [createRedisPins(client, await connect(), namespace), createRedisPins(await connect(), await connect(), namespace)]
    mine.set('session/acme/small', 'acme/small@acme#small-1', 200, false)
    await client.ping()
    expect(await other.get('session/acme/small', new AbortController().signal)).toBe('acme/small@acme#small-1')
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(await other.get('session/acme/small', new AbortController().signal)).toBeUndefined()
  })

  it('notifies others of pins that move, and of no others', async () => {
    const namespace = redis.namespace()
    const [mine, other] = [createRedisPins(client, await connect(), namespace), createRedisPins(await connect(), await connect(), namespace)]
    const heard: { mine: unknown[]; other: unknown[] } = { mine: [], other: [] }
    mine.listen((pin) => heard.mine.push(pin))
    other.listen((pin) => heard.other.push(pin))
    await until(() => false, 100)
    for (const nonsense of ['not json', '7', 'null', '{"key":1,"endpointId":"e"}']) await client.publish(`${namespace}:pins`, nonsense)
    mine.set('session/m', 'a', 1_000, false)
    mine.set('session/m', 'b', 1_000, true)
    await until(() => heard.other.length > 0)
    expect(heard).toEqual({ mine: [], other: [{ key: 'session/m', endpointId: 'b' }] })
  })

  it('sends cooldowns to others and not to itself, and ignores invalid messages', async () => {
    const namespace = redis.namespace()
    const a = createRedisCooldowns(client, await connect(), namespace)
    const b = createRedisCooldowns(await connect(), await connect(), namespace)
    const heard: { a: unknown[]; b: unknown[] } = { a: [], b: [] }
    const stops = [a.listen((cooldown) => heard.a.push(cooldown)), b.listen((cooldown) => heard.b.push(cooldown))]
    await until(() => false, 100)
    await client.publish(`${namespace}:cooldowns`, 'not json')
    await client.publish(`${namespace}:cooldowns`, '{"endpointId":1}')
    a.announce({ endpointId: 'e', until: 42 })
    await until(() => heard.b.length > 0)
    expect(heard).toEqual({ a: [], b: [{ endpointId: 'e', until: 42 }] })
    for (const stop of stops) stop()
  })
})

let own: PrivateRedis | undefined = await startPrivateRedis('a Redis that is killed and comes back')
afterAll(async () => {
  await own?.close()
  own = undefined
})
describe.skipIf(own === undefined)('a counter whose Redis is killed', () => {
  it('continues alone with its share, and with the store’s figures when Redis is back', async () => {
    const url = new Secret(own!.url)
    let daily = 0
    const load: SpentLoader = () => Promise.resolve({ ...NOTHING_SPENT, daily })
    const clients = [connectRedis({ url, logger: silentLogger }), connectRedis({ url, logger: silentLogger })]
    await Promise.all(clients.map(ready))
    const [counter, peer] = clients.map((client) => createRedisCounter({ redis: client, clock: systemClock, load, whenUnknown: () => 'local' }))
    // Both processes have said that they are there.
    await until(() => false, 100)
    const rate: Charge = { ...budget, rates: [{ name: 'requests', limit: 4, cost: 1 }] }
    expect((await counter!.reserve({ id: 'before', now: NOW, charges: [budget], amountUsd: 0.5 })).ok).toBe(true)
    // The second process joined after the first had counted: let it count again.
    clients[0]!.emit('ready')
    await until(() => false, 50)
    await own!.kill()
    await until(() => clients.every(({ status }) => status !== 'ready'))
    const started = performance.now()
    expect((await counter!.reserve({ id: 'r1', now: NOW, charges: [rate], amountUsd: 0.1 })).ok).toBe(true)
    expect((await counter!.reserve({ id: 'r2', now: NOW, charges: [rate], amountUsd: 0.1 })).ok).toBe(true)
    expect(await counter!.reserve({ id: 'r3', now: NOW, charges: [rate], amountUsd: 0.1 })).toMatchObject({ ok: false, reason: 'rate' })
    expect(performance.now() - started).toBeLessThan(1_000)
    for (const id of ['before', 'r1', 'r2'])
      await counter!.settle({ id, now: NOW, payments: [{ subject: budget.subject, spentUsd: 0.3, rates: [] }] })
    daily = 0.9
    await own!.start()
    await Promise.all(clients.map(ready))
    expect(await counter!.reserve({ id: 'after', now: NOW, charges: [budget], amountUsd: 0.2 })).toMatchObject({
      ok: false,
      reason: 'budget',
      availableUsd: 0.1,
    })
    expect(await peer!.reserve({ id: 'after', now: NOW, charges: [budget], amountUsd: 0.05 })).toMatchObject({ ok: true })
    await counter!.close()
    await peer!.close()
    for (const client of clients) await disconnectRedis(client)
  })

  it('admits no call with a budget while Redis is down, if so configured; rates continue', async () => {
    const client = connectRedis({ url: new Secret('redis://127.0.0.1:1'), logger: silentLogger })
    const counter = createRedisCounter({ redis: client, clock: systemClock, load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'refuse' })
    expect(await counter.reserve({ id: 'a', now: NOW, charges: [budget], amountUsd: 0.1 })).toMatchObject({ ok: false, reason: 'unknown' })
    const rate: Charge = { ...budget, budgets: [], rates: [{ name: 'requests', limit: 4, cost: 1 }] }
    expect((await counter.reserve({ id: 'a', now: NOW, charges: [rate], amountUsd: 0.1 })).ok).toBe(true)
    await counter.close()
    await disconnectRedis(client)
  })
})
