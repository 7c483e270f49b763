import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { startFakeDestination } from '../../src/testing/fake-destination.ts'
import { startFakeProxy } from '../../src/testing/fake-proxy.ts'
import { chatText, startFakeUpstream, stream } from '../../src/testing/fake-upstream.ts'
import { startGatewayProcess } from '../../src/testing/processes.ts'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const call = async (url: string, path: string, key: string, body: object): Promise<unknown> => {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.json()
}

it('providers and destinations are reached through the proxy of the environment, by names that only the proxy knows', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-proxy-'))
  cleanups.push(() => rm(directory, { recursive: true, force: true }))
  const upstream = await startFakeUpstream(stream(chatText('behind ', 'a proxy')))
  const backend = await startFakeDestination()
  cleanups.push(() => Promise.all([upstream.close(), backend.close()]))
  const leads = new Map([
    ['models.invalid:80', Number(new URL(upstream.url).port)],
    ['hooks.internal:8080', Number(new URL(backend.url).port)],
  ])
  const proxy = await startFakeProxy({ leadsTo: (authority) => leads.get(authority) ?? 0 })
  cleanups.push(() => proxy.close())
  const config = join(directory, 'signalbox.json')
  const provider = { slug: 'acme', dialect: 'openai-chat', base_url: 'http://models.invalid/v1', api_keys: ['sk-upstream'] }
  const model = { slug: 'acme/small', endpoints: [{ provider: 'acme', upstream_model: 'small-1', pricing: { input: 1, output: 2 } }] }
  await writeFile(config, JSON.stringify({ providers: [provider], models: [model] }))

  const gateway = await startGatewayProcess({
    directory,
    env: { SIGNALBOX_CONFIG: config, HTTP_PROXY: `http://gate:secret@127.0.0.1:${proxy.port}` },
  })
  cleanups.push(() => gateway.end())
  await call(gateway.url, 'observability/destinations', TEST_MANAGEMENT_KEY, {
    type: 'webhook',
    name: 'hook',
    config: { url: 'http://hooks.internal:8080/in' },
  })
  const answer = await call(gateway.url, 'responses', TEST_KEY, { model: 'acme/small', input: 'hello' })
  expect(answer).toMatchObject({ status: 'completed', output_text: 'behind a proxy' })
  await expect.poll(() => backend.requests.length, { timeout: 15_000 }).toBeGreaterThan(0)
  expect(new Set(proxy.asked.map(({ authority }) => authority))).toEqual(new Set(leads.keys()))
  expect(gateway.output()).toContain(`http through http://127.0.0.1:${proxy.port}`)
  expect(gateway.output()).not.toContain('secret')
})
