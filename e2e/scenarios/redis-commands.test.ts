import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startPrivateRedis } from '../../src/testing/redis.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** The Redis commands of a call with a limited key, counted by Redis itself. */
const redis = await startPrivateRedis('the commands a call sends to Redis')
let upstream: FakeUpstream
let gateway: TestGateway
let observer: Redis
/** The commands that Redis had executed when the upstream was asked, per call. */
let whenAsked: { readonly [command: string]: number }[] = []

const reply: Reply = async (request, response) => {
  whenAsked.push(await counts())
  return stream(chatText('hello'))(request, response)
}

beforeEach(async () => {
  whenAsked = []
  upstream = await startFakeUpstream(reply)
  if (redis === undefined) return
  observer = new Redis(redis.url)
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
  if (redis === undefined) return
  observer.disconnect()
})

afterAll(async () => {
  await redis?.close()
})

/** Executions per command since the last reset, without those of the observer and the heartbeat. */
async function counts(): Promise<{ readonly [command: string]: number }> {
  const found: Record<string, number> = {}
  for (const [, command = '', calls = ''] of (await observer.info('commandstats')).matchAll(/^cmdstat_([a-z|]+):calls=(\d+)/gm))
    if (COUNTED.has(command)) found[command] = Number(calls)
  return found
}
/** Scripts, pins and announcements. Commands that scripts execute inside Redis are no round trips. */
const COUNTED: ReadonlySet<string> = new Set(['evalsha', 'eval', 'get', 'set', 'publish', 'mget', 'script|load'])
const INSIDE_SCRIPTS = ['hmget', 'hset']

async function ask(key: string, body: object = {}): Promise<void> {
  const response = await gateway.respond({ model: 'acme/small', input: 'hi', max_output_tokens: 16, ...body }, { key })
  expect(response.status).toBe(200)
  await response.arrayBuffer()
}
/** Nobody waits for the second step. */
const executed = async (command: string, times: number, looks = 500): Promise<void> => {
  for (let n = 0; n < looks && ((await counts())[command] ?? 0) < times; n++) await new Promise((resolve) => setTimeout(resolve, 10))
}

it.skipIf(redis === undefined)('a call costs one round trip before and one after it, whatever limits it has', async () => {
  gateway = await startGateway(chatConfig([upstream.url], { limits: { credits: 100 }, routing: { sticky: false } }), {
    SIGNALBOX_REDIS_URL: redis!.url,
  })
  const rate_limits = { requests_per_minute: 1_000, tokens_per_minute: 1_000_000, concurrent_requests: 10 }
  const { key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'a', limit: 10, rate_limits })).json()) as { key: string }
  await gateway.api('PUT', '/api/v1/workspaces/00000000-0000-4000-8000-000000000001/budgets/monthly', { limit_usd: 50 })
  // Both scripts are sent as text once, as soon as the connection is open.
  for (let n = 0; n < 20 && ((await counts())['eval'] ?? 0) < 2; n++) {
    await ask(key, { input: `first ${n}` })
    await executed('eval', 2, 50)
  }
  await observer.config('RESETSTAT')
  whenAsked = []
  for (let n = 1; n <= 5; n++) {
    await ask(key, { input: `question ${n}` })
    await executed('evalsha', 2 * n)
  }
  expect(whenAsked.map(({ evalsha }) => evalsha)).toEqual([1, 3, 5, 7, 9])
  expect(await counts()).toEqual({ evalsha: 10 })
  const stats = await observer.info('commandstats')
  for (const command of INSIDE_SCRIPTS) expect(stats).toContain(`cmdstat_${command}:`)
})

it.skipIf(redis === undefined)('a call reads the pin of its session once, and publishes it only when it moves', async () => {
  gateway = await startGateway(chatConfig([upstream.url]), { SIGNALBOX_REDIS_URL: redis!.url })
  await ask(gateway.key)
  await observer.config('RESETSTAT')
  for (let n = 0; n < 4; n++) await ask(gateway.key, { session_id: 'session-1' })
  expect(await counts()).toEqual({ get: 1, set: 4 })
})

it.skipIf(redis === undefined)('an explained plan shows the pin that another process has set', async () => {
  const backup = await startFakeUpstream(reply)
  const config = chatConfig([upstream.url, backup.url], { storage: { redis_namespace: 'pins-explained' } })
  gateway = await startGateway(config, { SIGNALBOX_REDIS_URL: redis!.url })
  const other = await startGateway(config, { SIGNALBOX_REDIS_URL: redis!.url })
  try {
    await observer.config('RESETSTAT')
    // The more expensive endpoint, so that only the pin leads there.
    await ask(gateway.key, { session_id: 'session-2', provider: { ignore: ['acme'] } })
    await executed('set', 1)
    const body = { model: 'acme/small', input: 'hi', session_id: 'session-2' }
    type Plan = { readonly attempts: readonly { readonly tag: string; readonly notes: readonly string[] }[] }
    const planned = async (): Promise<Plan['attempts']> =>
      ((await (await other.api('POST', '/api/v1/route/explain', body, other.key)).json()) as Plan).attempts
    // A plan waits for Redis only a moment, which passes on a busy machine.
    await expect.poll(async () => (await planned()).map(({ tag }) => tag), { timeout: 10_000 }).toEqual(['backup1', 'acme'])
    await expect.poll(async () => (await planned())[0]?.notes, { timeout: 10_000 }).toEqual(['the session is pinned here'])
  } finally {
    await other.close()
    await backup.close()
  }
})

it.skipIf(redis === undefined)('the first call knows the state of other processes, even if Redis answers slowly at the start', async () => {
  const backup = await startFakeUpstream(reply)
  const config = chatConfig([upstream.url, backup.url], { storage: { redis_namespace: 'first-contact' } })
  gateway = await startGateway(config, { SIGNALBOX_REDIS_URL: redis!.url })
  await observer.config('RESETSTAT')
  await ask(gateway.key, { session_id: 'session-3', provider: { ignore: ['acme'] } })
  await executed('set', 1)
  // Longer than a start takes: without waiting, the first call would come before the connection.
  await observer.call('CLIENT', 'PAUSE', '600', 'ALL')
  const other = await startGateway(config, { SIGNALBOX_REDIS_URL: redis!.url })
  try {
    const response = await other.respond({ model: 'acme/small', input: 'hi', session_id: 'session-3' }, { key: other.key })
    await response.arrayBuffer()
    expect([upstream.requests.length, backup.requests.length]).toEqual([0, 2])
  } finally {
    await other.close()
    await backup.close()
  }
})

it.skipIf(redis === undefined)(verifies('P48', 'an endpoint that asked another process for a pause is avoided'), async () => {
  const backup = await startFakeUpstream(reply)
  const config = chatConfig([upstream.url, backup.url], { storage: { redis_namespace: 'cooldowns-told' }, routing: { sticky: false } })
  gateway = await startGateway(config, { SIGNALBOX_REDIS_URL: redis!.url })
  const other = await startGateway(config, { SIGNALBOX_REDIS_URL: redis!.url })
  const first = async (): Promise<unknown> => {
    const response = await other.api('POST', '/api/v1/route/explain', { model: 'acme/small', input: 'hi' }, other.key)
    return ((await response.json()) as { attempts: { tag: string }[] }).attempts[0]?.tag
  }
  try {
    expect(await first()).toBe('acme')
    upstream.script(status(429, { error: { message: 'slow down' } }, { 'retry-after': '60' }))
    await ask(gateway.key)
    await expect.poll(first, { timeout: 5_000 }).toBe('backup1')
  } finally {
    await other.close()
    await backup.close()
  }
})
