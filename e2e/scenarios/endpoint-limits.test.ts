import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  chatEvents,
  chatText,
  reset,
  silence,
  startFakeUpstream,
  status,
  stream,
  type FakeUpstream,
  type Reply,
} from '../../src/testing/fake-upstream.ts'
import { findTestRedis } from '../../src/testing/redis.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** The operator's limits for a provider or an endpoint, over real sockets. The fake upstream reports 18 tokens for every answer. */
const CALL_TOKENS = 18

let acme: FakeUpstream
let backup: FakeUpstream
let gateway: TestGateway

type Json = { readonly [name: string]: unknown }
interface Sample {
  readonly providers: readonly Json[]
  readonly models: readonly { readonly endpoints: readonly Json[] }[]
}

/** Starts a gateway with limits for the first provider and for its endpoint. */
const open = async (provider: Json | undefined, endpoint?: Json, more: Json = {}, env: { readonly [name: string]: string } = {}): Promise<void> => {
  const sample = chatConfig([acme.url, backup.url]) as unknown as Sample
  const [first, ...others] = sample.providers
  const [model, ...models] = sample.models
  const [served, ...rest] = model!.endpoints
  const config = {
    ...sample,
    providers: [{ ...first, ...(provider === undefined ? {} : { rate_limits: provider }) }, ...others],
    models: [{ ...model, endpoints: [{ ...served, ...(endpoint === undefined ? {} : { rate_limits: endpoint }) }, ...rest] }, ...models],
    routing: { sticky: false },
    ...more,
  }
  gateway = await startGateway(config, env)
}
const ask = (extra: Json = {}, at: TestGateway = gateway) =>
  at.respond(
    { model: 'acme/small', input: 'hi', max_output_tokens: 16, provider: { order: ['acme', 'backup1'] }, ...extra },
    { headers: { 'x-gateway-experimental-metadata': 'enabled' } },
  )
const only = { provider: { order: ['acme'], allow_fallbacks: false } }
const answerOf = async (response: Promise<Response>): Promise<Json> => {
  const body = (await (await response).json()) as Json
  return { text: body['output_text'], params: (body['gateway_metadata'] as Json | undefined)?.['params'] }
}

beforeEach(async () => {
  acme = await startFakeUpstream(stream(chatText('from acme')))
  backup = await startFakeUpstream(stream(chatText('from the backup')))
})
afterEach(async () => {
  await gateway.close()
  await acme.close()
  await backup.close()
})

describe.each([
  ['a provider', (limits: Json) => open(limits)],
  ['an endpoint', (limits: Json) => open(undefined, limits)],
])('requests per minute of %s', (_of, limited) => {
  it('send calls elsewhere when they are used up, and the answer says so', async () => {
    await limited({ requests_per_minute: 2 })
    expect((await answerOf(ask()))['text']).toBe('from acme')
    expect((await answerOf(ask()))['text']).toBe('from acme')
    const third = await answerOf(ask())
    expect(third['text']).toBe('from the backup')
    expect(third['params']).toMatchObject({ endpoint_limits: expect.stringContaining('2 requests per minute') })
    expect(acme.requests).toHaveLength(2)
    expect(await (await gateway.api('GET', '/metrics')).text()).toContain('gateway_passed_over_total{provider="acme",limit="requests"} 1')
  })

  it('give a 429 that says when to retry, where no other endpoint may serve', async () => {
    await limited({ requests_per_minute: 2 })
    await Promise.all([ask(only), ask(only)])
    const refused = await ask(only)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(10)
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('2 requests per minute'), metadata: { error_type: 'rate_limit_exceeded', source: 'gateway' } },
    })
    expect(acme.requests).toHaveLength(2)
  })

  it('are enforced for simultaneous calls', async () => {
    await limited({ requests_per_minute: 5 })
    await Promise.all(Array.from({ length: 30 }, async () => (await ask()).text()))
    expect(acme.requests).toHaveLength(5)
    expect(backup.requests).toHaveLength(25)
  })
})

describe('requests per minute', () => {
  it('are waited for where the pause is short and no other endpoint may serve', async () => {
    await open({ requests_per_minute: 60 })
    const answers = await Promise.all(Array.from({ length: 62 }, async () => (await answerOf(ask(only)))['text']))
    expect(new Set(answers)).toEqual(new Set(['from acme']))
  })

  it('do not apply to callers with a provider key of their own', async () => {
    await open({ requests_per_minute: 1 })
    const made = await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-own-key-of-somebody' })
    expect(made.status).toBe(201)
    for (let n = 0; n < 3; n++) expect((await answerOf(ask(only)))['text']).toBe('from acme')
    expect(acme.requests.every(({ headers }) => headers.authorization === 'Bearer sk-own-key-of-somebody')).toBe(true)
  })

  it('do not send callers with a provider key of their own elsewhere when they are used up', async () => {
    await open({ requests_per_minute: 1 })
    const texts: unknown[] = []
    for (let n = 0; n < 2; n++) texts.push((await answerOf(ask()))['text'])
    expect(texts).toEqual(['from acme', 'from the backup'])
    expect((await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-own-key-of-somebody' })).status).toBe(201)
    expect((await answerOf(ask()))['text']).toBe('from acme')
    expect(acme.requests.at(-1)!.headers.authorization).toBe('Bearer sk-own-key-of-somebody')
  })

  it('are not used up by attempts that are skipped', async () => {
    await open({ requests_per_minute: 1 })
    await answerOf(ask())
    for (let n = 0; n < 5; n++) await answerOf(ask())
    // Each was skipped without a request to the provider.
    expect(acme.requests).toHaveLength(1)
  })

  it('of a provider are shared by its endpoints, of an endpoint are its own', async () => {
    await open({ requests_per_minute: 3 }, { requests_per_minute: 1 })
    await answerOf(ask())
    expect((await answerOf(ask()))['text']).toBe('from the backup')
    expect(acme.requests).toHaveLength(1)
  })
})

describe('an attempt that was not sent', () => {
  it('uses up no request: there was no key to ask with', async () => {
    await open({ requests_per_minute: 2 })
    acme.script(status(401, { error: { message: 'who are you' } }))
    const codes: unknown[] = []
    for (let n = 0; n < 4; n++) codes.push((await ask(only)).status)
    expect(codes).toEqual([502, 502, 502, 502])
  })
})

describe('vectors that are asked for in several requests', () => {
  const endpoint = { provider: 'acme', upstream_model: 'embed-1', pricing: { input: 1 }, options: { most_inputs: 1 } }
  const embed = async (inputs: number): Promise<number> => {
    const input = Array.from({ length: inputs }, (_, n) => String(n))
    return (await gateway.api('POST', '/api/v1/embeddings', { model: 'acme/embedder', input }, gateway.key)).status
  }
  let atOnce = 0
  beforeEach(() => {
    atOnce = 0
    let running = 0
    acme.script(({ body }, response) => {
      atOnce = Math.max(atOnce, ++running)
      const data = (body['input'] as readonly string[]).map((_, index) => ({ object: 'embedding', index, embedding: [1] }))
      setTimeout(() => {
        running--
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, model: 'm', usage: { prompt_tokens: 1 } }))
      }, 20)
    })
  })

  it('count as that many requests per minute', async () => {
    await open({ requests_per_minute: 5 }, undefined, { models: [{ slug: 'acme/embedder', endpoints: [endpoint] }] })
    expect([await embed(4), await embed(4)]).toEqual([200, 429])
    expect(acme.requests).toHaveLength(4)
  })

  it('are sent one by one where the number of simultaneous requests is limited', async () => {
    await open({ concurrent_requests: 2 }, undefined, { models: [{ slug: 'acme/embedder', endpoints: [endpoint] }] })
    expect(await Promise.all([embed(6), embed(6)])).toEqual([200, 200])
    expect([acme.requests.length, atOnce]).toEqual([12, 2])
  })
})

describe('two gateways that share Redis', () => {
  it('send no more together than the limit of one', async (context) => {
    const redis = await findTestRedis('limits of endpoints in Redis')
    const env: { readonly [name: string]: string } = redis.available ? { SIGNALBOX_REDIS_URL: redis.url.reveal() } : {}
    const storage = redis.available ? { storage: { redis_namespace: redis.namespace() } } : {}
    await open({ requests_per_minute: 10 }, undefined, storage, env)
    if (!redis.available) return context.skip()
    const other = gateway
    await open({ requests_per_minute: 10 }, undefined, storage, env)
    try {
      await Promise.all(Array.from({ length: 40 }, async (_, n) => (await ask({}, n % 2 === 0 ? gateway : other)).text()))
    } finally {
      await other.close()
    }
    expect(acme.requests).toHaveLength(10)
    expect(backup.requests).toHaveLength(30)
  })
})

describe('tokens per minute', () => {
  it('count the tokens that were used, not those that were reserved', async () => {
    await open({ tokens_per_minute: 2_000 })
    // Each expects 900 tokens of output and uses 18 in all.
    for (let n = 0; n < 10; n++) expect((await answerOf(ask({ max_output_tokens: 900 })))['text']).toBe('from acme')
    expect(acme.requests).toHaveLength(10)
  })

  it('send calls elsewhere when they are used up', async () => {
    await open({ tokens_per_minute: CALL_TOKENS * 3 })
    const texts: unknown[] = []
    for (let n = 0; n < 6; n++) texts.push((await answerOf(ask()))['text'])
    expect(texts[0]).toBe('from acme')
    expect(texts.at(-1)).toBe('from the backup')
    expect(acme.requests.length).toBeLessThanOrEqual(4)
  })

  it('are given back by an attempt that failed', async () => {
    await open({ tokens_per_minute: 1_000 })
    const busy = status(503, { error: { message: 'busy' } })
    acme.script(busy, busy, stream(chatText('from acme')))
    await answerOf(ask({ max_output_tokens: 900 }))
    const again = await answerOf(ask({ max_output_tokens: 900, ...only }))
    expect(again['text']).toBe('from acme')
  })
})

describe('tokens per minute of an answer whose caller leaves', () => {
  const begun = (text: string): Reply => {
    const start = { type: 'message_start', message: { id: 'msg_1', model: 'small-1', usage: { input_tokens: 3, output_tokens: 1 } } }
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
    return stream(
      [start, block, delta].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      { then: 'hang' },
    )
  }

  it('are those that were written, where the vendor reports usage only at the end', async () => {
    const endpoint = { provider: 'acme', upstream_model: 'small-1', pricing: { input: 1, output: 1 } }
    const provider = { slug: 'acme', dialect: 'anthropic-messages', base_url: acme.url, api_keys: ['k'], rate_limits: { tokens_per_minute: 2_000 } }
    gateway = await startGateway({ providers: [provider], models: [{ slug: 'acme/small', endpoints: [endpoint] }] })
    acme.script(begun('word '.repeat(1_200)), status(400, { error: { message: 'it was asked' } }))
    const leave = new AbortController()
    const first = await gateway.respond({ model: 'acme/small', input: 'hi', stream: true, max_output_tokens: 1_900 }, { signal: leave.signal })
    const reader = first.body!.getReader()
    for (let text = ''; !text.includes('word word');) text += Buffer.from((await reader.read()).value).toString()
    leave.abort()
    await expect.poll(() => acme.requests[0]!.abortedAt).toBeDefined()
    // 1,500 tokens were written.
    expect((await ask({ max_output_tokens: 1_000, ...only })).status).toBe(429)
    expect((await ask({ max_output_tokens: 300, ...only })).status).toBe(400)
  })
})

describe('requests at a time', () => {
  const slow = stream([chatEvents.role(), chatEvents.text('slowly')], { then: 'hang' })

  it('send calls elsewhere while all places are taken, and use the endpoint again when one is free', async () => {
    await open({ concurrent_requests: 1 })
    acme.script(slow, stream(chatText('from acme')))
    const leave = new AbortController()
    const first = await gateway.respond({ model: 'acme/small', input: 'hi', stream: true, provider: { order: ['acme'] } }, { signal: leave.signal })
    await first.body!.getReader().read()
    const second = await answerOf(ask())
    expect(second['text']).toBe('from the backup')
    expect(second['params']).toMatchObject({ endpoint_limits: expect.stringContaining('1 requests are running') })
    leave.abort()
    await expect.poll(async () => (await answerOf(ask()))['text']).toBe('from acme')
  })

  it('are waited for where no other endpoint may serve', async () => {
    await open({ concurrent_requests: 1 })
    const answers = await Promise.all(Array.from({ length: 3 }, async () => (await answerOf(ask(only)))['text']))
    expect(answers).toEqual(['from acme', 'from acme', 'from acme'])
  })

  it('are waited for even if another endpoint of the provider was tried with the same key before', async () => {
    const [second] = (chatConfig([acme.url]) as unknown as Sample).models[0]!.endpoints
    await open(undefined, undefined, {
      models: [
        {
          slug: 'acme/small',
          context_length: 128_000,
          endpoints: [second, { ...second, provider: 'acme/turbo', upstream_model: 'turbo', rate_limits: { concurrent_requests: 1 } }],
        },
      ],
    })
    acme.script(slow)
    const leave = new AbortController()
    const holding = { model: 'acme/small', input: 'hi', stream: true, provider: { only: ['acme/turbo'] } }
    await (await gateway.respond(holding, { signal: leave.signal })).body!.getReader().read()
    const down = status(503, { error: { message: 'down' } })
    acme.script(down, down, stream(chatText('from turbo')))
    const waiting = answerOf(ask({ provider: { order: ['acme', 'acme/turbo'] } }))
    await expect.poll(() => acme.requests.length).toBe(3)
    leave.abort()
    expect((await waiting)['text']).toBe('from turbo')
  })

  it('are released however the calls that had them end', async () => {
    await open({ concurrent_requests: 3 }, undefined, { routing: { sticky: false, cooldown: false } })
    const fates: readonly Reply[] = [
      stream(chatText('well')),
      status(503, { error: { message: 'down' } }),
      status(400, { error: { message: 'no' } }),
      reset(),
      silence(),
      slow,
      stream([chatEvents.role(), chatEvents.text('a part')], { then: 'reset' }),
      stream([]),
    ]
    let nth = 0
    acme.script((request, response) => fates[nth++ % fates.length]!(request, response))
    const call = async (n: number): Promise<void> => {
      const fields = { model: 'acme/small', input: 'hi', stream: n % 3 > 0, provider: { order: ['acme', 'backup1'] } }
      await gateway
        .respond(fields, { signal: AbortSignal.timeout(20 + n * 15) })
        .then((response) => response.text())
        .catch(() => undefined)
    }
    await Promise.all(Array.from({ length: 40 }, (_, n) => call(n)))
    acme.script(slow)
    const leave = new AbortController()
    const holding = (): Promise<Response> => gateway.respond({ model: 'acme/small', input: 'hi', stream: true, ...only }, { signal: leave.signal })
    const held = await Promise.all([holding(), holding(), holding()])
    expect(held.map(({ status: code }) => code)).toEqual([200, 200, 200])
    for (const response of held) await response.body!.getReader().read()
    expect((await answerOf(ask()))['text']).toBe('from the backup')
    leave.abort()
  })
})
