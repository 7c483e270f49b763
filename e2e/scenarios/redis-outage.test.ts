import { Pool } from 'undici'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CHAT_USAGE, chatJson, startFakeUpstream, status, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startPrivateRedis } from '../../src/testing/redis.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A Redis that is killed and restarted under constant load: 200 requests a second, whether they are answered or not. */
const PER_SECOND = 200
const CALL_USD = (8 * 1 + 3 * 0.1 + CHAT_USAGE.completion_tokens * 2) / 1e6

const redis = await startPrivateRedis('a Redis that is killed and started again under load')
let upstream: FakeUpstream
let gateway: TestGateway
let pool: Pool

beforeEach(async () => {
  upstream = await startFakeUpstream(status(200, chatJson('hello')))
})
afterEach(async () => {
  await pool.close()
  await gateway.close()
  await upstream.close()
})

async function open(limits: object = {}): Promise<void> {
  const config = { routing: { sticky: false }, storage: { redis_namespace: 'outage' }, limits }
  gateway = await startGateway(chatConfig([upstream.url], config), { SIGNALBOX_REDIS_URL: redis!.url })
  pool = new Pool(gateway.url, { connections: 64, pipelining: 1 })
}

const createKey = async (limits: object): Promise<{ readonly hash: string; readonly key: string }> => {
  const { data, key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'limited', ...limits })).json()) as {
    data: { hash: string }
    key: string
  }
  return { hash: data.hash, key }
}
const usageOf = async (hash: string): Promise<number> =>
  ((await (await gateway.api('GET', `/api/v1/keys/${hash}`)).json()) as { data: { usage: number } }).data.usage

interface Asked {
  /** 0: no answer at all. */
  readonly status: number
  /** Milliseconds on the clock of this process. */
  readonly sentAt: number
  readonly answeredAt: number
}

async function ask(key: string): Promise<Asked> {
  const sentAt = performance.now()
  const status = await post(key).catch(() => 0)
  return { status, sentAt, answeredAt: performance.now() }
}

async function post(key: string): Promise<number> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api/v1/responses',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/small', input: 'hi', max_output_tokens: 16 }),
  })
  await body.dump()
  return statusCode
}

interface Traffic {
  /** By key, in the order the calls were made. */
  readonly calls: ReadonlyMap<string, readonly Promise<Asked>[]>
  stop(): void
}

/** Sends at a fixed rate, with the keys in turns; a slow answer delays no other request. */
function startTraffic(keys: readonly string[]): Traffic {
  const calls = new Map<string, Promise<Asked>[]>(keys.map((key) => [key, []]))
  const began = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    for (const due = ((performance.now() - began) * PER_SECOND) / 1_000; sent < due; sent++) {
      const key = keys[sent % keys.length]!
      calls.get(key)!.push(ask(key))
    }
  }, 5)
  return { calls, stop: () => clearInterval(timer) }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const settled = (traffic: Traffic, key: string): Promise<readonly Asked[]> => Promise.all(traffic.calls.get(key)!)
const distinct = (calls: readonly Asked[]): readonly number[] => [...new Set(calls.map(({ status }) => status))].toSorted((a, b) => a - b)

afterAll(async () => {
  await redis?.close()
})

describe.skipIf(redis === undefined)('Redis killed and started again during 200 requests a second', () => {
  afterEach(async () => {
    await redis!.kill()
    await redis!.start()
  })

  it(verifies('S4-redis', 'I2', 'fails no inference, and no budget is exceeded'), { timeout: 60_000 }, async () => {
    await open()
    const rich = await createKey({
      limit: 1_000,
      rate_limits: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrent_requests: 1_000 },
    })
    // Used for every fourth call, so it is used up some time after the outage.
    const poor = await createKey({ limit: 420 * CALL_USD })
    const traffic = startTraffic([rich.key, rich.key, rich.key, poor.key])
    await wait(3_000)
    await redis!.kill()
    await wait(3_000)
    await redis!.start()
    await wait(6_000)
    traffic.stop()
    const served = await settled(traffic, rich.key)
    expect(served.length).toBeGreaterThan(0.9 * 12 * PER_SECOND * 0.75)
    expect(distinct(served)).toEqual([200])
    expect(await usageOf(rich.hash)).toBeCloseTo(served.length * CALL_USD, 9)

    const limited = await settled(traffic, poor.key)
    expect(distinct(limited)).toEqual([200, 402])
    const paid = limited.filter(({ status }) => status === 200).length
    expect(paid).toBeLessThanOrEqual(420)
    expect(paid).toBeGreaterThan(380)
    expect(await usageOf(poor.hash)).toBeCloseTo(paid * CALL_USD, 9)
    expect(distinct(limited.slice(-20))).toEqual([402])
  })

  it(verifies('S4-redis', 'I2', 'refuses only calls with budgets meanwhile, if so configured'), { timeout: 60_000 }, async () => {
    await open({ when_unknown: 'refuse' })
    const limited = await createKey({ limit: 1_000 })
    const traffic = startTraffic([gateway.key, limited.key])
    await wait(1_000)
    // Some calls are answered before the end, however busy the machine is.
    await settled(traffic, limited.key)
    const killedAt = performance.now()
    await redis!.kill()
    const goneAt = performance.now()
    await wait(2_000)
    const startedAt = performance.now()
    await redis!.start()
    await wait(3_000)
    traffic.stop()
    expect(distinct(await settled(traffic, gateway.key))).toEqual([200])
    const calls = await settled(traffic, limited.key)
    expect(distinct(calls)).toEqual([200, 503])
    expect(distinct(calls.filter(({ answeredAt }) => answeredAt < killedAt))).toEqual([200])
    expect(distinct(calls.filter(({ sentAt, answeredAt }) => sentAt > goneAt && answeredAt < startedAt))).toEqual([503])
    expect(distinct(calls.slice(-50))).toEqual([200])
  })
})
