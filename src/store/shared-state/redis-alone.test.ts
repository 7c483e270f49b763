import type { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { verifies } from '../../../e2e/requirements.ts'
import { NOTHING_SPENT, type Rate } from '../../core/counter.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { startPrivateRedis, type PrivateRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis, firstContact } from './redis-client.ts'
import { createRedisCounter } from './redis.ts'

const NOW = Date.UTC(2025, 0, 15, 12)

/** Answers one sign of life with how many processes there are, and is gone from then on. */
function redisOf(processes: number): { readonly redis: Redis; readonly heard: Promise<void> } {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  const commands = { zremrangebyscore: () => commands, zadd: () => commands, zcard: () => commands, pexpire: () => commands, exec: () => answer() }
  const redis = { status: 'ready', on: () => redis, off: () => redis, time: () => Promise.resolve(['1', '0']), pipeline: () => commands }
  const answer = (): Promise<unknown> => {
    redis.status = 'end'
    setImmediate(resolve)
    return Promise.resolve([0, 1, processes, 1].map((reply) => [null, reply]))
  }
  return { redis: redis as unknown as Redis, heard }
}

it.each([1, 2, 4])('unused tokens are returned at the share they were taken at, among %i processes', async (processes) => {
  const { redis, heard } = redisOf(processes)
  const counter = createRedisCounter({ redis, clock: systemClock, load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local' })
  await heard
  const share = 1_000
  const tokens = (cost: number): Rate => ({ name: 'tokens', limit: share * processes, cost })
  let n = 0
  /** Takes half of a minute's share and uses a twentieth. */
  const call = async (): Promise<boolean> => {
    const id = `call-${n++}`
    const verdict = await counter.reserve({ id, now: NOW, charges: [{ subject: 'key:a', revision: 1, rates: [tokens(share / 2)], budgets: [] }] })
    await counter.settle({ id, now: NOW, payments: [{ subject: 'key:a', spentUsd: 0, rates: [tokens(share / 20 - share / 2)] }] })
    return verdict.ok
  }
  for (let i = 0; i < 11; i++) expect(await call()).toBe(true)
  expect(await call()).toBe(false)
  await counter.close()
})

it.each([
  { places: 8, share: 2 },
  { places: 2, share: 1 },
])('the share of $places places among four processes is at least one: $share', async ({ places, share }) => {
  const { redis, heard } = redisOf(4)
  const counter = createRedisCounter({ redis, clock: systemClock, load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: () => 'local' })
  await heard
  const open = async (id: string): Promise<boolean> => {
    const charges = [
      { subject: 'key:a', revision: 1, rates: [], budgets: [], maxOpen: places },
      { subject: 'workspace:b', revision: 1, rates: [], budgets: [] },
    ]
    return (await counter.reserve({ id, now: NOW, charges })).ok
  }
  for (let i = 0; i < share; i++) expect(await open(`call-${i}`)).toBe(true)
  expect(await open('one too many')).toBe(false)
  await counter.settle({ id: 'call-0', now: NOW, payments: [{ subject: 'key:a', spentUsd: 0, rates: [] }] })
  expect(await open('in its place')).toBe(true)
  await counter.close()
})

let own: PrivateRedis | undefined = await startPrivateRedis('a Redis that is back before a call ends')
afterAll(async () => {
  await own?.close()
  own = undefined
})
describe.skipIf(own === undefined)('a call that began while Redis was away and ends when it is back', () => {
  const SUBJECT = 'key:a'
  const budget = { subject: SUBJECT, revision: 1, budgets: [{ interval: 'daily' as const, limitUsd: 1 }] }
  const tokens = (cost: number): readonly Rate[] => [{ name: 'tokens', limit: 1_000, cost }]
  const open = async (spentUsd: () => number, clock: Clock = systemClock) => {
    const client = connectRedis({ url: new Secret(own!.url), logger: silentLogger })
    await firstContact(client)
    await client.flushall()
    const link = { isUp: true }
    const redis = new Proxy(client, {
      get(target, property) {
        if (property === 'status' && !link.isUp) return 'reconnecting'
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const load = () => Promise.resolve({ ...NOTHING_SPENT, daily: spentUsd() })
    const counter = createRedisCounter({ redis, clock, load, whenUnknown: () => 'local' })
    const close = async (): Promise<void> => {
      await counter.close()
      await disconnectRedis(client)
    }
    return { link, counter, close }
  }

  it(verifies('I2', 'reads the spending from the database again at each outage of Redis, so that spending in between counts at once'), async () => {
    let spent = 0
    const { link, counter, close } = await open(() => spent)
    const call = async (id: string): Promise<boolean> => {
      const { ok } = await counter.reserve({ id, now: NOW, charges: [{ ...budget, rates: [] }], amountUsd: 0.1 })
      if (ok) await counter.settle({ id, now: NOW, payments: [{ subject: SUBJECT, spentUsd: 0.1, rates: [] }] })
      return ok
    }
    link.isUp = false
    expect(await call('away')).toBe(true)
    link.isUp = true
    expect(await call('there')).toBe(true)
    spent = 1
    link.isUp = false
    expect(await call('away again')).toBe(false)
    await close()
  })

  it(verifies('I2', 'asks the database again later: other processes had not written yet what they counted alone'), async () => {
    let spent = 0
    let passedMs = 0
    const { link, counter, close } = await open(() => spent, { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs })
    const call = async (id: string): Promise<boolean> => {
      const { ok } = await counter.reserve({ id, now: NOW, charges: [{ ...budget, rates: [] }], amountUsd: 0.001 })
      if (ok) await counter.settle({ id, now: NOW, payments: [{ subject: SUBJECT, spentUsd: 0.001, rates: [] }] })
      return ok
    }
    link.isUp = false
    expect(await call('away')).toBe(true)
    link.isUp = true
    expect(await call('there')).toBe(true)
    spent = 1
    passedMs = 29_000
    expect(await call('soon')).toBe(true)
    expect(await call('not yet')).toBe(true)
    passedMs = 31_000
    // This one does not wait for the database.
    expect(await call('asks')).toBe(true)
    await expect.poll(() => call(`later ${++passedMs}`)).toBe(false)
    await close()
  })

  it('does not return tokens there that it has not taken there', async () => {
    const { link, counter, close } = await open(() => 0)
    const call = async (id: string) => (await counter.reserve({ id, now: NOW, charges: [{ ...budget, budgets: [], rates: tokens(900) }] })).ok
    link.isUp = false
    expect(await call('long')).toBe(true)
    link.isUp = true
    expect(await call('others')).toBe(true)
    await counter.settle({ id: 'long', now: NOW, payments: [{ subject: SUBJECT, spentUsd: 0, rates: tokens(-850) }] })
    expect(await call('too many')).toBe(false)
    await close()
  })

  it('counts its cost once', async () => {
    let stored = 0
    const { link, counter, close } = await open(() => stored)
    const reserve = (id: string, amountUsd: number) => counter.reserve({ id, now: NOW, charges: [{ ...budget, rates: [] }], amountUsd })
    link.isUp = false
    expect((await reserve('long', 0.5)).ok).toBe(true)
    link.isUp = true
    expect((await reserve('others', 0.1)).ok).toBe(true)
    for (const [id, spentUsd] of [['long', 0.4] as const, ['others', 0.1] as const]) {
      stored += spentUsd
      await counter.settle({ id, now: NOW, payments: [{ subject: SUBJECT, spentUsd, rates: [] }] })
    }
    expect(await reserve('next', 0.6)).toMatchObject({ ok: false, availableUsd: 0.5 })
    expect((await reserve('last', 0.5)).ok).toBe(true)
    await close()
  })
})
