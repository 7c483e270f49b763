import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startFakeDestination } from '../../src/testing/fake-destination.ts'
import { chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { foldChat } from '../../src/testing/fold-chat.ts'
import { generationSpans } from '../../src/testing/received-spans.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** What does not depend on a format is the same for callers of chat completions and of Responses. */
type Json = { readonly [field: string]: unknown }

let first: FakeUpstream
let second: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  first = await startFakeUpstream()
  second = await startFakeUpstream()
  const config = chatConfig([first.url, second.url], { routing: { retries: false, cooldown: false, sticky: false } }) as {
    models: Json[]
    providers: Json[]
  }
  const [small] = config.models
  const strict = { slug: 'strict', name: 'Strict', dialect: 'anthropic-messages', base_url: first.url, api_keys: ['k'] }
  const picky = { ...small, slug: 'acme/picky', endpoints: [{ provider: 'strict', upstream_model: 'picky-1' }] }
  gateway = await startGateway({ ...config, providers: [...config.providers, strict], models: [small, { ...small, slug: 'acme/large' }, picky] })
  const preset = { slug: 'house', system_prompt: 'Be brief.', config: { model: 'acme/large', temperature: 0.3, reasoning: { effort: 'low' } } }
  expect((await gateway.api('POST', '/api/v1/presets', preset)).status).toBe(201)
})
const rehearse = (): void => {
  first.script(stream(chatText('one', ' two')))
  second.script(stream(chatText('three')))
}
beforeEach(rehearse)
afterAll(async () => {
  await gateway.close()
  await Promise.all([first.close(), second.close()])
})

const METADATA = { 'x-gateway-experimental-metadata': 'enabled' }
const order = { provider: { order: ['acme', 'backup1'] } }

async function post(path: string, body: Json, headers: { readonly [name: string]: string } = {}): Promise<Response> {
  return fetch(`${gateway.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...METADATA, ...headers },
    body: JSON.stringify({ model: 'acme/small', ...order, ...body }),
  })
}
const asItems = (body: Json): Json => ({ input: 'hi', ...body })
const asMessages = (body: Json): Json => ({ messages: [{ role: 'user', content: 'hi' }], ...body })

/** What each upstream received meanwhile, except for the time of day. */
async function sent(action: () => Promise<unknown>): Promise<readonly unknown[]> {
  const before = [first.requests.length, second.requests.length]
  await action()
  return [first.requests.slice(before[0]), second.requests.slice(before[1])]
    .flat()
    .map(({ body }) => JSON.parse(JSON.stringify(body).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now')) as unknown)
}

/** From an answer in either format, whole or streamed: who served it, how it was routed, and its text. */
async function seen(response: Response): Promise<Json> {
  const text = await response.text()
  if (response.status !== 200) {
    const { error, gateway_metadata: metadata } = JSON.parse(text) as { readonly error: Json; readonly gateway_metadata?: Json }
    const { path: _, ...told } = error['metadata'] as Json
    return { status: response.status, message: error['message'], told, metadata }
  }
  if (text.startsWith('{')) {
    const answer = JSON.parse(text) as Json & { readonly choices?: readonly [{ readonly message: Json }]; readonly usage: Json }
    const { model, gateway_metadata: metadata, service_tier: tier, usage } = answer
    return {
      model,
      metadata,
      tier,
      text: answer.choices?.[0].message['content'] ?? answer['output_text'],
      cost: usage['cost'],
      tokens: usage['total_tokens'],
    }
  }
  if (text.startsWith('event:')) {
    const { terminal, text: said } = checkWire(text)
    const { model, gateway_metadata: metadata, service_tier: tier, usage, error_type: errorType } = terminal['response'] as Json
    return { model, metadata, tier, text: said, ...counts(usage), errorType }
  }
  const { model, message, usage, error, chunks } = foldChat(text)
  const last = chunks.findLast(({ choices }) => choices.length > 0)!
  const errorType = (error?.['metadata'] as Json | undefined)?.['error_type']
  return { model, metadata: last['gateway_metadata'], tier: last['service_tier'], text: message.content, ...counts(usage), errorType }
}
const counts = (usage: unknown): Json => ({
  cost: (usage as Json | null | undefined)?.['cost'],
  tokens: (usage as Json | null | undefined)?.['total_tokens'],
})

interface Case extends Json {
  readonly body: Json
  readonly headers?: { readonly [name: string]: string }
  readonly script?: () => void
}
const CASES: { readonly [what: string]: Case } = {
  'a plain call': { body: {} },
  'a preset as the model': { body: { model: '@preset/house' } },
  'a preset behind a model': { body: { model: 'acme/small@preset/house', temperature: 0.9 } },
  'a preset by its field': { body: { preset: 'house', reasoning: { effort: 'high' } } },
  'a preset nobody knows': { body: { preset: 'nobody' } },
  'the next endpoint': { body: {}, script: () => first.script(status(503, { error: { message: 'busy' } })) },
  'the next model': {
    body: { models: ['acme/large'], provider: { order: ['acme'], allow_fallbacks: false } },
    script: () => first.script(status(500, { error: { message: 'broken' } }), stream(chatText('large'))),
  },
  'a router of the gateway': { body: { model: 'gateway/auto', provider: undefined } },
  'a search before the call': { body: { model: 'acme/small:online' } },
  'the cheapest first': { body: { model: 'acme/small:floor', provider: undefined } },
  'a tool the gateway runs': {
    body: { tools: [{ type: 'gateway:datetime' }] },
    script: () => {
      const { role, call, finish, usage, done } = chatEvents
      first.script(stream([role(), call(0, 'call_0', 'datetime', '{}'), finish('tool_calls'), usage(), done()]), stream(chatText('noon')))
    },
  },
  'a limit, a format and a number': {
    body: { service_tier: 'flex', user: 'u', metadata: { a: 'b' }, temperature: 0.1, seed: 7, stop: ['x'], top_k: 3 },
  },
  'a model nobody serves': { body: { model: 'acme/none' } },
  'preferences nobody meets': { body: { provider: { only: ['nobody'] } } },
  'a session': { body: {}, headers: { 'x-session-id': 'session-1' } },
  'a session that is too long': { body: {}, headers: { 'x-session-id': 's'.repeat(300) } },
  'a plugin nobody knows': { body: { plugins: [{ id: 'nobody' }] } },
  'a plugin': {
    body: { plugins: [{ id: 'response-healing' }], response_format: { type: 'json_object' }, text: { format: { type: 'json_object' } } },
  },
  'an upstream that refuses': {
    body: {},
    script: () => {
      for (const upstream of [first, second]) upstream.script(status(400, { error: { message: 'temperature: not with this model' } }))
    },
  },
  'a break after the first words': { body: {}, script: () => first.script(stream([chatEvents.role(), chatEvents.text('on')], { then: 'reset' })) },
  'a break that another endpoint mends': {
    body: {},
    headers: { 'x-gateway-stream-failure': 'continue' },
    script: () => first.script(stream([chatEvents.role(), chatEvents.text('on')], { then: 'reset' })),
  },
  'a break that is held back': {
    body: {},
    headers: { 'x-gateway-stream-failure': 'buffer' },
    script: () => first.script(stream([chatEvents.role(), chatEvents.text('on')], { then: 'reset' })),
  },
}

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('a call answered %s', (_how, streamed) => {
  it.each(Object.entries(CASES))('is the same in both formats: %s', async (_what, { body, headers, script }) => {
    const { response_format: format, text, ...shared } = body
    const play = async (path: string, whole: Json): Promise<readonly unknown[]> => {
      script?.()
      let told: Json = {}
      const bodies = await sent(async () => {
        told = await seen(await post(path, { ...whole, stream: streamed }, headers))
      })
      return [bodies, told]
    }
    const one = await play('responses', asItems({ ...shared, ...(text === undefined ? {} : { text }) }))
    rehearse()
    const other = await play('chat/completions', asMessages({ ...shared, ...(format === undefined ? {} : { response_format: format }) }))
    expect(other).toEqual(one)
  })
})

describe('a call of chat completions', () => {
  const streamOf = async (body: Json, headers?: { readonly [name: string]: string }) => {
    const response = await post('chat/completions', asMessages({ ...body, stream: true }), headers)
    return { id: response.headers.get('x-generation-id'), ...foldChat(await response.text()) }
  }

  it('contains the body that each upstream was sent, after the role and before the first text', async () => {
    first.script(status(503, { error: { message: 'busy' } }))
    const { chunks, message } = await streamOf({ debug: { echo_upstream_body: true } })
    const told = chunks.flatMap(({ debug }) => (debug === undefined ? [] : [(debug as Json)['echo_upstream_body']]))
    expect(told).toEqual([first.requests.at(-1)!.body, second.requests.at(-1)!.body])
    expect(chunks.slice(1, 3).map(({ choices }) => choices)).toEqual([[], []])
    expect(message.content).toBe('three')
  })

  it('is a generation like any other, by the id its answer has', async () => {
    const { id, chunks } = await streamOf({ session_id: 's-7', user: 'u-7' }, { 'x-session-id': 'another' })
    expect(chunks.map((chunk) => chunk.id)).toEqual(chunks.map(() => id))
    await gateway.app.sink.flush()
    const { data } = (await (await gateway.api('GET', `/api/v1/generation?id=${id}`)).json()) as { readonly data: Json }
    expect(data).toMatchObject({ id, model: 'acme/small', session_id: 's-7', external_user: 'u-7', streamed: true, finish_reason: 'stop' })
  })

  it('reaches destinations with prompt and answer, in the same format as Responses', async () => {
    const receiver = await startFakeDestination()
    const base = '/api/v1/observability/destinations'
    const made = await gateway.api('POST', base, { type: 'webhook', name: 'hook', config: { url: `${receiver.url}/hook` } })
    const { data } = (await made.json()) as { readonly data: { readonly id: string } }
    await (await post('responses', asItems({}))).text()
    await (await post('chat/completions', asMessages({}))).text()
    await expect.poll(() => generationSpans(receiver.accepted).length, { timeout: 10_000, interval: 50 }).toBe(2)
    const facts = generationSpans(receiver.accepted).map(({ span }) => {
      const attributes = span['attributes'] as readonly { readonly key: string; readonly value: Json }[]
      return Object.fromEntries(
        attributes
          .filter(({ key }) => !/\.id$|time|latency|duration|per_second|_ms$|provider_responses/.test(key))
          .map(({ key, value }) => [key, value]),
      )
    })
    const sources = facts.map((all) => Object.entries(all).flatMap(([key, value]) => (key.endsWith('gateway.source') ? [value['stringValue']] : [])))
    expect(sources.flat().toSorted()).toEqual(['chat_completions', 'responses'])
    const [one, other] = facts.map((all) => Object.fromEntries(Object.entries(all).filter(([key]) => !key.endsWith('gateway.source'))))
    expect(other).toEqual(one)
    await gateway.api('DELETE', `${base}/${data.id}`)
    await receiver.close()
  })

  it('is paid by the own provider key of its workspace, and its usage says so', async () => {
    const made = await gateway.api('POST', '/api/v1/byok', { provider: 'acme', key: 'sk-own-0123456789' })
    const { data } = (await made.json()) as { readonly data: { readonly id: string } }
    const { usage } = await streamOf({})
    expect(first.requests.at(-1)!.headers.authorization).toBe('Bearer sk-own-0123456789')
    expect(usage).toMatchObject({ is_byok: true, cost: 0 })
    await gateway.api('DELETE', `/api/v1/byok/${data.id}`)
  })

  it('is held to the guardrails of its key', async () => {
    const filters = { content_filters: [{ pattern: 'secret', action: 'block', label: null }] }
    const made = await gateway.api('POST', '/api/v1/guardrails', { name: 'g', ...filters })
    const { data } = (await made.json()) as { readonly data: { readonly id: string } }
    const keys = (await (await gateway.api('GET', '/api/v1/key', undefined, gateway.key)).json()) as { readonly data: Json }
    const listed = (await (await gateway.api('GET', '/api/v1/keys')).json()) as { readonly data: readonly Json[] }
    const hashes = [keys.data['hash'], ...listed.data.map(({ hash }) => hash)].filter((hash) => typeof hash === 'string')
    await gateway.api('POST', `/api/v1/guardrails/${data.id}/assignments/keys`, { key_hashes: hashes })
    const refused = async (path: string, body: Json): Promise<unknown> => seen(await post(path, body))
    const one = await refused('responses', { input: 'my secret' })
    const other = await refused('chat/completions', { messages: [{ role: 'user', content: 'my secret' }] })
    expect(other).toEqual(one)
    expect(other).toMatchObject({ status: 403, told: { error_type: 'permission_denied' } })
    await gateway.api('DELETE', `/api/v1/guardrails/${data.id}`)
  })

  it('gets errors with paths of its own format where no upstream could be sent a field', async () => {
    const picture = { type: 'image_url', image_url: { url: 'a.png' } }
    const response = await post('chat/completions', { model: 'acme/picky', provider: undefined, messages: [{ role: 'user', content: [picture] }] })
    const { error } = (await response.json()) as { readonly error: { readonly metadata: Json } }
    expect([response.status, error.metadata]).toMatchObject([400, { error_type: 'invalid_image', path: 'messages' }])
  })
})

it.each([
  ['Responses', 'responses', asItems({})],
  ['Chat Completions', 'chat/completions', asMessages({})],
  ['Messages', 'messages', { ...asMessages({}), max_tokens: 100 }],
  ['generateContent', '../v1beta/models/acme%2Fsmall:generateContent', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
])('those who run tools say which there are, in %s, too', async (_format, path, body) => {
  const ask = async (tool: Json): Promise<readonly unknown[]> => {
    const response = await post(path, { ...body, tools: [tool] })
    return [response.status, await response.text()]
  }
  expect(await ask({ type: 'gateway:dice', parameters: { sides: 6 } })).toEqual([
    400,
    expect.stringMatching(/no server tool .{1,2}dice.{1,2}; known are datetime/),
  ])
  expect(await ask({ type: 'gateway:datetime', parameters: { timezone: 1 } })).toEqual([400, expect.stringContaining('timezone')])
})
