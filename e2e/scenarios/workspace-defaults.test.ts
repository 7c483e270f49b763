import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** A workspace's defaults for requests that do not set them: the model, the model for images, the sort of endpoints. */
const DEFAULT = '/api/v1/workspaces/00000000-0000-4000-8000-000000000001'

let upstreams: readonly FakeUpstream[]
let gateway: TestGateway

beforeEach(async () => {
  upstreams = await Promise.all(['cheap', 'dear', 'painter'].map((name) => startFakeUpstream(stream(chatText(`from ${name}`)))))
  const endpoint = (provider: string, price: number) => ({ provider, upstream_model: 'm', pricing: { input: price, output: price } })
  gateway = await startGateway({
    providers: ['cheap', 'dear', 'painter'].map((slug, n) => ({
      slug,
      name: slug,
      dialect: 'openai-chat',
      base_url: upstreams[n]!.url,
      api_keys: ['k'],
    })),
    models: [
      // So similar in price that the balance would send some calls to either.
      { slug: 'acme/small', context_length: 8_000, endpoints: [endpoint('dear', 1.01), endpoint('cheap', 1)] },
      { slug: 'acme/paint', context_length: 8_000, endpoints: [endpoint('painter', 1)] },
    ],
    routing: { sticky: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await Promise.all(upstreams.map((upstream) => upstream.close()))
})

const set = async (defaults: object): Promise<number> => (await gateway.api('PATCH', DEFAULT, defaults)).status
const textOf = async (response: Response): Promise<unknown> => ((await response.json()) as { readonly output_text?: string }).output_text

it('a default model applies to calls without a model, as soon as it is set', async () => {
  expect((await gateway.respond({ input: 'hi' })).status).toBe(400)
  expect(await set({ default_text_model: 'acme/paint' })).toBe(200)
  expect(await textOf(await gateway.respond({ input: 'hi' }))).toBe('from painter')
  expect(await textOf(await gateway.respond({ input: 'hi', model: 'acme/small', provider: { only: ['dear'] } }))).toBe('from dear')
  expect(await set({ default_text_model: null })).toBe(200)
  expect((await gateway.respond({ input: 'hi' })).status).toBe(400)
})

it('a default model cannot be a preset', async () => {
  const response = await gateway.api('PATCH', DEFAULT, { default_text_model: '@preset/mine' })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('default_text_model: a preset cannot be a default')
  expect(await set({ default_image_model: 'acme/paint@preset/mine' })).toBe(400)
})

it('metadata, errors and records show the default model as the requested one', async () => {
  await set({ default_text_model: 'acme/paint' })
  const ask = async (): Promise<unknown> =>
    (await gateway.respond({ input: 'hi' }, { headers: { 'x-gateway-experimental-metadata': 'enabled' } })).json()
  expect(await ask()).toMatchObject({ model: 'acme/paint', gateway_metadata: { requested: 'acme/paint' } })
  upstreams[2]!.script(status(500, {}))
  expect(await ask()).toMatchObject({ error: { code: 502 }, gateway_metadata: { requested: 'acme/paint' } })
  const refused = await gateway.respond({ input: 'hi', provider: { only: ['cheap'] } })
  expect(refused.status).toBe(404)
  const record = `/api/v1/generation?id=${refused.headers.get('x-generation-id')}`
  await vi.waitFor(async () =>
    expect(await (await gateway.api('GET', record, undefined, gateway.key)).json()).toMatchObject({ data: { model: 'acme/paint' } }),
  )
})

it('a default model applies to its workspace only', async () => {
  const { data } = (await (
    await gateway.api('POST', '/api/v1/workspaces', { name: 'Other', slug: 'other', default_text_model: 'acme/paint' })
  ).json()) as {
    data: { id: string }
  }
  const { key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'theirs', workspace_id: data.id })).json()) as { key: string }
  expect(await textOf(await gateway.respond({ input: 'hi' }, { key }))).toBe('from painter')
  expect((await gateway.respond({ input: 'hi' })).status).toBe(400)
})

const explain = async (body: object) => (await gateway.api('POST', '/api/v1/route/explain', { input: 'hi', ...body }, gateway.key)).json()

it('calls for images have a default model of their own', async () => {
  await set({ default_text_model: 'acme/small', default_image_model: 'acme/paint' })
  expect(await explain({ modalities: ['image', 'text'] })).toMatchObject({ requested: 'acme/paint' })
  expect(await explain({})).toMatchObject({ requested: 'acme/small' })
})

it('a default sort applies unless the call has its own', async () => {
  expect(await set({ default_provider_sort: 'price' })).toBe(200)
  expect(await explain({ model: 'acme/small' })).toMatchObject({ order: 'price' })
  expect(await explain({ model: 'acme/small', provider: { sort: 'latency' } })).toMatchObject({ order: 'latency' })
  for (let n = 0; n < 6; n++) expect(await textOf(await gateway.respond({ input: 'hi', model: 'acme/small' }))).toBe('from cheap')
  expect(upstreams[1]!.requests).toHaveLength(0)
  expect(await set({ default_provider_sort: 'luck' })).toBe(400)
  expect(await set({ default_provider_sort: null })).toBe(200)
  expect(await explain({ model: 'acme/small' })).toMatchObject({ order: 'balanced' })
})

it('budgets are checked with the default model before the call', async () => {
  await set({ default_text_model: 'acme/paint' })
  const { key } = (await (await gateway.api('POST', '/api/v1/keys', { name: 'poor', limit: 0.000_000_1 })).json()) as { key: string }
  expect((await gateway.respond({ input: 'hi', max_output_tokens: 16 }, { key })).status).toBe(402)
  expect(upstreams.flatMap(({ requests }) => requests)).toEqual([])
})

it('a default model may be a router or a name with variants, with the same meaning as in the request', async () => {
  await set({ default_text_model: 'gateway/auto' })
  expect(await explain({})).toMatchObject({ requested: 'gateway/auto', strategy: 'auto', error: null })
  expect((await (await gateway.respond({ input: 'hi' })).json()) as object).toMatchObject({ status: 'completed' })
  await set({ default_text_model: 'acme/small:online' })
  const refused = await gateway.respond({ input: 'hi' })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('The plugin web needs a search engine') } })
})
