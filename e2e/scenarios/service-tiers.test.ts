import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/**
 * A tier is charged at its own price, so it is requested explicitly. One vendor has three endpoints of a model, in default, flex and priority. Each is
 * sent the tier that it stands for, whatever the caller wrote, and the answer names the tier that served.
 */
const forward = ['service_tier']
const KNOWS_TIERS = { 'openai-chat': { forward }, 'openai-responses': {}, gemini: { service_tier: true } }
const FACTORS = [
  { tier: 'priority', match: '^other', factor: 3 },
  { tier: 'priority', match: '^m$', factor: 2.5 },
  { tier: 'priority', factor: 7 },
  { tier: 'flex', factor: 0.5 },
]
let upstream: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream()
  const priced = (price: number, more: object = {}): object => ({
    provider: 'gamma',
    upstream_model: 'm',
    pricing: { input: price, output: price },
    ...more,
  })
  gateway = await startGateway({
    providers: [
      ...['gamma', 'plain'].map((slug) => ({
        slug,
        name: slug,
        dialect: 'openai-chat',
        base_url: upstream.url,
        api_keys: ['k'],
        options: { forward },
      })),
      ...Object.entries(KNOWS_TIERS).map(([dialect, options]) => ({
        slug: dialect,
        dialect,
        base_url: upstream.url,
        api_keys: ['k'],
        options: { ...options, tier_factors: FACTORS },
      })),
    ],
    models: [
      { slug: 'acme/tiered', endpoints: [priced(2), priced(1, { tier: 'flex' }), priced(4, { tier: 'priority' })] },
      { slug: 'acme/plain', endpoints: [priced(3, { provider: 'plain' })] },
      ...Object.keys(KNOWS_TIERS).map((dialect) => ({ slug: `acme/${dialect}`, endpoints: [priced(4, { provider: dialect })] })),
      { slug: 'acme/own', endpoints: [priced(8, { provider: 'openai-chat', tier: 'priority' })] },
    ],
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const says = (tier?: string): Reply =>
  stream(chatText('hi').map((event) => (tier === undefined || typeof event === 'string' ? event : { ...(event as object), service_tier: tier })))
beforeEach(() => upstream.script(says()))

interface Answer {
  readonly id: string
  readonly service_tier: string
  readonly usage: { readonly cost: number }
}

/** The tier sent to the upstream, the price that the caller paid per million tokens, and the tier in answer and record. */
async function ask(body: object): Promise<{ sent: unknown; price: number; reported: string; recorded: unknown }> {
  const answer = (await (await gateway.respond({ input: 'hi', ...body })).json()) as Answer
  const record = (await (await gateway.api('GET', `/api/v1/generation?id=${answer.id}`)).json()) as { data: { service_tier: unknown } }
  // The scripted answer counts 18 tokens.
  return {
    sent: upstream.requests.at(-1)!.body['service_tier'],
    price: Math.round((answer.usage.cost / 18) * 1e6),
    reported: answer.service_tier,
    recorded: record.data.service_tier,
  }
}

describe('the service tier requested upstream is the one whose price is charged', () => {
  it.each<[string, object, { sent: string | undefined; price: number; reported: string }]>([
    ['nothing asked', {}, { sent: 'default', price: 2, reported: 'default' }],
    ['auto', { service_tier: 'auto' }, { sent: 'default', price: 2, reported: 'default' }],
    ['flex', { service_tier: 'flex' }, { sent: 'flex', price: 1, reported: 'flex' }],
    ['priority', { service_tier: 'priority' }, { sent: 'priority', price: 4, reported: 'priority' }],
    ['fast, which is priority', { service_tier: 'fast' }, { sent: 'priority', price: 4, reported: 'priority' }],
    ['scale, which is capacity bought in advance', { service_tier: 'scale' }, { sent: 'scale', price: 2, reported: 'default' }],
    [':floor', { model: 'acme/tiered:floor' }, { sent: 'flex', price: 1, reported: 'flex' }],
    ['the endpoint by its name', { provider: { only: ['gamma/priority'] } }, { sent: 'priority', price: 4, reported: 'priority' }],
    [
      'flex, of an endpoint named by its name',
      { service_tier: 'flex', provider: { only: ['gamma/priority'] } },
      { sent: 'priority', price: 4, reported: 'priority' },
    ],
    ['nothing, of a vendor without tiers', { model: 'acme/plain' }, { sent: undefined, price: 3, reported: 'default' }],
    ['priority, of a vendor without tiers', { model: 'acme/plain', service_tier: 'priority' }, { sent: 'priority', price: 3, reported: 'priority' }],
  ])('%s', async (_name, body, { sent, price, reported }) => {
    expect(await ask({ model: 'acme/tiered', ...body })).toEqual({ sent, price, reported, recorded: reported })
  })

  it('after a fallback from a priority endpoint to the default one, too', async () => {
    upstream.script(status(503, { error: { message: 'busy' } }), status(503, { error: { message: 'busy' } }), says())
    expect(await ask({ model: 'acme/tiered', service_tier: 'priority', provider: { order: ['gamma/priority', 'gamma'] } })).toEqual({
      sent: 'default',
      price: 2,
      reported: 'default',
      recorded: 'default',
    })
  })
})

describe('the tier an answer names', () => {
  it('is the one the upstream reports, if the contract knows it', async () => {
    upstream.script(says('default'))
    expect(await ask({ model: 'acme/tiered', service_tier: 'priority' })).toMatchObject({ reported: 'default', recorded: 'default' })
    upstream.script(says('platinum'))
    expect(await ask({ model: 'acme/tiered', service_tier: 'priority' })).toMatchObject({ reported: 'priority', recorded: 'priority' })
    upstream.script(says('auto'))
    expect(await ask({ model: 'acme/tiered' })).toMatchObject({ reported: 'default', recorded: 'default' })
  })

  it('in the first event of a stream is the one known by then', async () => {
    upstream.script(says('priority'))
    const text = await (await gateway.respond({ model: 'acme/tiered:floor', input: 'hi', stream: true })).text()
    const tiers = [...text.matchAll(/^data: (\{.*"response":.*\})$/gm)].map(
      ([, data]) => (JSON.parse(data!) as { response: { service_tier: string } }).response.service_tier,
    )
    expect(tiers).toEqual(['priority', 'priority', 'priority'])
  })
})

const completed = (service_tier?: string): Reply => {
  const output = [
    { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'hi', annotations: [] }] },
  ]
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }
  return stream([{ type: 'response.completed', response: { id: 'r', status: 'completed', model: 'm', output, usage, service_tier } }])
}

const generated = (serviceTier?: string): Reply =>
  stream([
    {
      candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18, serviceTier },
    },
  ])

/** Answers that break off in the middle. */
const BROKEN: { readonly [dialect: string]: Reply } = {
  'openai-chat': stream([chatEvents.role(), chatEvents.text('hello there')], { then: 'reset' }),
  'openai-responses': stream(
    [
      { type: 'response.created', response: { id: 'r', status: 'in_progress', model: 'm', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', role: 'assistant', content: [] } },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm', delta: 'hello there' },
    ],
    { then: 'reset' },
  ),
  gemini: stream(
    [
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'hello there' }] } }],
        usageMetadata: { promptTokenCount: 11, totalTokenCount: 11 },
      },
    ],
    { then: 'reset' },
  ),
}

/** What is recorded for a stream that does not end. */
async function costOfBroken(body: object, reply: Reply): Promise<number> {
  upstream.script(reply)
  const text = await (await gateway.respond({ input: 'hi', stream: true, ...body })).text()
  const id = /"id":"(gen-[^"]+)"/.exec(text)![1]!
  const { data } = (await (await gateway.api('GET', `/api/v1/generation?id=${id}`)).json()) as { data: { total_cost: number } }
  return data.total_cost
}

describe.each([
  ['openai-chat', says],
  ['openai-responses', completed],
  ['gemini', generated],
] as const)('a tier whose multiple of the list price is declared, in the format %s', (dialect, reported) => {
  it.each([
    ['priority', 'priority', 10],
    ['priority', 'default', 4],
    ['flex', 'flex', 2],
    ['auto', 'priority', 10],
    ['default', 'default', 4],
  ])('%s, answered as %s', async (service_tier, served, price) => {
    upstream.script(reported(served))
    expect(await ask({ model: `acme/${dialect}`, service_tier })).toMatchObject({ price, reported: served, recorded: served })
  })

  it('is the requested one if the answer names none', async () => {
    upstream.script(reported())
    expect(await ask({ model: `acme/${dialect}`, service_tier: 'priority' })).toMatchObject({ price: 10, reported: 'priority', recorded: 'priority' })
  })

  it('is charged for an answer that nobody counted, too', async () => {
    const costIn = async (tier: object): Promise<number> => costOfBroken({ model: `acme/${dialect}`, ...tier }, BROKEN[dialect]!)
    const list = await costIn({})
    expect(list).toBeGreaterThan(0)
    expect((await costIn({ service_tier: 'priority' })) / list).toBeCloseTo(2.5, 6)
    expect((await costIn({ service_tier: 'flex' })) / list).toBeCloseTo(0.5, 6)
  })

  it('is reserved at that multiple, and at no less than the list price', async () => {
    upstream.script(reported('default'))
    // 4 USD per million tokens: 0.004 USD at the list price, 0.01 in priority.
    const made = await gateway.api('POST', '/api/v1/keys', { name: 'poor', limit: 0.006 })
    const { key } = (await made.json()) as { key: string }
    const statusOf = async (body: object) =>
      (await gateway.respond({ input: 'hi', model: `acme/${dialect}`, max_output_tokens: 1_000, ...body }, { key })).status
    expect(await statusOf({ service_tier: 'priority' })).toBe(402)
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ service_tier: 'flex', max_output_tokens: 2_000 })).toBe(402)
  })
})

it('an endpoint that stands for a tier has its price without any multiple', async () => {
  upstream.script(says('priority'))
  expect(await ask({ model: 'acme/own', service_tier: 'priority' })).toMatchObject({ price: 8, reported: 'priority' })
})

it.each([
  ['a filter stopped', ['Let me see.'], 'content_filter', true],
  ['the model ended', [], 'stop', true],
  ['the model ended after tools of its caller', [], 'stop', false],
])('a last turn without words that %s costs the multiple once', async (_name, said, reason, hasTools) => {
  const turn = (...events: readonly object[]): Reply => stream([chatEvents.role(), ...events, chatEvents.usage(), chatEvents.done()])
  const calls = turn(...said.map((word) => chatEvents.text(word)), chatEvents.call(0, 'c', 'datetime', '{}'), chatEvents.finish('tool_calls'))
  upstream.script(...(hasTools ? [calls] : []), turn(chatEvents.finish(reason)))
  const given = [
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'done' },
  ]
  const body = hasTools ? { tools: [{ type: 'gateway:datetime' }] } : { input: given }
  expect(await ask({ model: 'acme/openai-chat', service_tier: 'priority', ...body })).toMatchObject({ price: hasTools ? 20 : 10 })
})

it('an answer that breaks off has the price of the tier that it had named by then', async () => {
  const costIn = (service_tier: string, served: string): Promise<number> => {
    const events = [chatEvents.role(), chatEvents.text('hello there')].map((event) => ({ ...event, service_tier: served }))
    return costOfBroken({ model: 'acme/openai-chat', service_tier }, stream(events, { then: 'reset' }))
  }
  const list = await costIn('default', 'default')
  expect(await costIn('priority', 'default')).toBe(list)
  expect((await costIn('auto', 'priority')) / list).toBeCloseTo(2.5, 6)
  expect((await costIn('priority', 'auto')) / list).toBeCloseTo(2.5, 6)
})

it('an answer without counts has the price of the tier it names, too', async () => {
  const uncounted = [chatEvents.role(), chatEvents.text('hello '.repeat(200)), chatEvents.finish()]
  const priceOf = async (service_tier: string, served: string): Promise<number> => {
    upstream.script(stream([...uncounted.map((event) => ({ ...event, service_tier: served })), chatEvents.done()]))
    return (await ask({ model: 'acme/openai-chat', service_tier })).price
  }
  const list = await priceOf('default', 'default')
  expect(list).toBeGreaterThan(0)
  expect(await priceOf('priority', 'default')).toBe(list)
  expect((await priceOf('auto', 'priority')) / list).toBeCloseTo(2.5, 1)
})
