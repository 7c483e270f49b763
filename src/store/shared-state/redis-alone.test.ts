import type { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { NOTHING_SPENT, type Rate } from '../../core/counter.ts'
import { systemClock } from '../../lib/clock.ts'
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
    return Promise.resolve([null, null, [null, processes]])
  }
  return { redis: redis as unknown as Redis, heard }
}

it.each([1, 2, 4])('gives tokens that a call did not use back at the share they were taken at, among %i processes', async (processes) => {
  const { redis, heard } = redisOf(processes)
  const counter = createRedisCounter({ redis, clock: systemClock, load: () => Promise.resolve(NOTHING_SPENT), whenUnknown: 'local' })
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
