import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { findTestRedis } from '../../src/testing/redis.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Limits that are set while calls run, over real sockets: the cost of those calls counts against them. */
let upstream: FakeUpstream
let gateway: TestGateway

const WORKSPACE = '/api/v1/workspaces/00000000-0000-4000-8000-000000000001'
/** Ten thousand tokens of output: 0.02 USD. */
const DEAR = [
  chatEvents.role(),
  chatEvents.text('on and on'),
  chatEvents.finish(),
  chatEvents.usage({ prompt_tokens: 10, completion_tokens: 10_000, total_tokens: 10_010 }),
  chatEvents.done(),
]

const open = async (env: { readonly [name: string]: string } = {}, config: object = {}): Promise<void> => {
  gateway = await startGateway(chatConfig([upstream.url], { routing: { sticky: false, cooldown: false, retries: false }, ...config }), env)
}
const ask = (key: string): Promise<Response> => gateway.respond({ model: 'acme/small', input: 'hi', max_output_tokens: 16, stream: true }, { key })
const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const response = await asked
  await response.arrayBuffer()
  return response.status
}

beforeEach(async () => {
  upstream = await startFakeUpstream(stream(DEAR, { everyMs: 150 }), stream(chatText('short')))
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

/** A long call without limits, the limit, a call that is subject to it, the end of the long one, and another call. */
async function limitAmidCall(limit: (hash: string) => Promise<Response>): Promise<readonly number[]> {
  const { data, key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'runaway' })).json()) as { data: { hash: string }; key: string }
  const long = await ask(key)
  expect((await limit(data.hash)).status).toBe(200)
  const during = await statusOf(ask(key))
  await long.text()
  return [during, await statusOf(ask(key))]
}

const ofKey = (hash: string) => gateway.api('PATCH', `/api/v1/keys/${hash}`, { limit: 0.01 })
const ofWorkspace = () => gateway.api('PUT', `${WORKSPACE}/budgets/daily`, { limit_usd: 0.01 })

describe('a limit that is set while a call runs', () => {
  it.each([
    ['of its key', ofKey],
    ['of its workspace', ofWorkspace],
  ] as const)(verifies('P30', 'counts the final cost of that call: %s'), async (_whose, limit) => {
    await open()
    expect(await limitAmidCall(limit)).toEqual([200, limit === ofKey ? 402 : 403])
  })

  it(verifies('P30', 'counts it in Redis, too'), async (context) => {
    const redis = await findTestRedis('changed limits')
    if (redis.available) await open({ SIGNALBOX_REDIS_URL: redis.url.reveal() }, { storage: { redis_namespace: redis.namespace() } })
    else await open()
    if (!redis.available) return context.skip()
    expect(await limitAmidCall(ofKey)).toEqual([200, 402])
  })
})
