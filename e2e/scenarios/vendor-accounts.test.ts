import { afterEach, beforeEach, expect, it } from 'vitest'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Two accounts of one vendor over real sockets, each with its own address and key, in the vendor's format. */
let first: FakeUpstream
let second: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  first = await startFakeUpstream(stream(chatText('from the first')))
  second = await startFakeUpstream(stream(chatText('from the second')))
  gateway = await startGateway({
    providers: [
      { slug: 'azure', api_keys: ['key-eu'], base_url: first.url },
      { slug: 'azure-us', vendor: 'azure', api_keys: ['key-us'], base_url: second.url },
    ],
    models: [
      {
        slug: 'acme/small',
        endpoints: ['azure', 'azure-us'].map((provider) => ({ provider, upstream_model: 'my-deployment', pricing: { input: 1, output: 1 } })),
      },
    ],
  })
})
afterEach(async () => {
  await gateway.close()
  await first.close()
  await second.close()
})

const ask = async (provider: object, model = 'acme/small'): Promise<unknown> => {
  const answer = (await (await gateway.respond({ model, input: 'hi', provider })).json()) as {
    readonly output_text?: string
    readonly error?: { readonly code: number }
  }
  return answer.output_text ?? answer.error?.code
}

it('an account is asked by its own slug, with its key in the header of the vendor', async () => {
  expect(await ask({ only: ['azure-us'] })).toBe('from the second')
  expect(second.requests[0]!.headers).toMatchObject({ 'api-key': 'key-us' })
  expect(second.requests[0]!.headers).not.toHaveProperty('authorization')
  expect(first.requests).toEqual([])
})

it('what one account refuses the other serves', async () => {
  first.script(status(429, { error: { message: 'slow down' } }, { 'retry-after': '60' }))
  expect(await ask({ order: ['azure', 'azure-us'] })).toMatch(/^from the/)
  expect(await ask({ order: ['azure-us'] })).toBe('from the second')
})

it('ignoring a vendor excludes all of its accounts, and ignoring an account only that one', async () => {
  expect(await ask({ ignore: ['azure'] })).toBe(404)
  expect(await ask({ ignore: ['azure-us'] })).toBe('from the first')
  const made = await gateway.api('POST', '/api/v1/guardrails', { name: 'nothing there', ignored_providers: ['azure'] })
  const { data } = (await made.json()) as { readonly data: { readonly id: string } }
  const keys = (await (await gateway.api('GET', '/api/v1/keys')).json()) as { readonly data: readonly { readonly hash: string }[] }
  await gateway.api('POST', `/api/v1/guardrails/${data.id}/assignments/keys`, { key_hashes: keys.data.map(({ hash }) => hash) })
  await expect.poll(() => ask({})).toBe(403)
})

it('the vendor can be named like its first account: by its name, as clients spell it, and with a tier', async () => {
  await gateway.close()
  const account = (slug: string, { url }: FakeUpstream, vendor?: string) => ({
    slug,
    api_keys: ['k'],
    base_url: url,
    ...(vendor === undefined ? {} : { vendor }),
  })
  const endpoint = (provider: string) => ({ provider, upstream_model: 'glm', pricing: { input: 1, output: 1 } })
  gateway = await startGateway({
    providers: [account('zai', first), account('zai-2', second, 'zai'), account('openai', first), account('openai-2', second, 'openai')],
    models: [
      { slug: 'acme/small', endpoints: [endpoint('zai'), endpoint('zai-2')] },
      { slug: 'acme/tiers', endpoints: [endpoint('openai/priority'), endpoint('openai-2/priority')] },
    ],
  })
  for (const name of ['z-ai', 'Z.AI', 'zai']) expect(await ask({ ignore: [name] })).toBe(404)
  expect(await ask({ ignore: ['zai'], only: ['zai-2'] })).toBe(404)
  expect(await ask({ order: ['z-ai'], ignore: ['zai-2'] })).toBe('from the first')
  expect(await ask({ only: ['Z.AI (zai-2)'] })).toBe('from the second')
  expect(await ask({ ignore: ['openai/priority'] }, 'acme/tiers')).toBe(404)
})
