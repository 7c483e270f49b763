import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { HOSTILE_ADDRESSES, NEVER_ALLOWED } from '../../src/testing/hostile-addresses.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'
import { verifies, type RequirementId } from '../requirements.ts'

/**
 * Tests everything that accepts addresses from others with one table: nothing reaches the listener on the loopback, and the requester gets an error. A new
 * consumer of addresses is added with a line in CONSUMERS.
 */
let upstream: FakeUpstream
let listener: Server
let port: number
let reached: string[] = []
/** One gateway without access to private addresses, and one with access to all of them. */
let closed: TestGateway
let opened: TestGateway

const gemini = stream([{ candidates: [{ content: { parts: [{ text: 'seen' }] }, finishReason: 'STOP' }] }])

async function start(allow: boolean): Promise<TestGateway> {
  return startGateway({
    providers: [
      { slug: 'chat', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['key'] },
      { slug: 'eyes', dialect: 'gemini', base_url: upstream.url, api_keys: ['key'] },
    ],
    models: [
      { slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'chat', upstream_model: 'm' }] },
      { slug: 'acme/blind', context_length: 100_000, endpoints: [{ provider: 'chat', upstream_model: 'm', supports: ['tools'] }] },
      { slug: 'acme/eyes', context_length: 100_000, endpoints: [{ provider: 'eyes', upstream_model: 'gemini-3-flash-preview' }] },
    ],
    routing: { sticky: false, cooldown: false, retries: false },
    network: { allow_private: { destinations: allow, tools: allow, media: allow } },
    tools: { web_fetch: { robots: false } },
  })
}

beforeAll(async () => {
  listener = createServer((socket) => {
    reached.push(`${socket.remoteAddress}`)
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\ncontent-type: text/plain\r\n\r\nsecret')
  })
  // Both families, so that any address that gets through is noticed.
  listener.listen(0, '::')
  await once(listener, 'listening')
  port = (listener.address() as AddressInfo).port
  upstream = await startFakeUpstream()
  closed = await start(false)
  opened = await start(true)
})
beforeEach(() => {
  reached = []
})
afterAll(async () => {
  await closed.close()
  await opened.close()
  await upstream.close()
  listener.close()
})

interface Consumer {
  readonly id: RequirementId
  readonly name: string
  /** Makes the gateway request an address; true if the requester gets an error. */
  attempt(gateway: TestGateway, url: string): Promise<boolean>
}

const DESTINATIONS = '/api/v1/observability/destinations'
const destination =
  (type: string, config: (url: string) => object): Consumer['attempt'] =>
  async (gateway, url) => {
    const made = await gateway.api('POST', DESTINATIONS, { type, name: 'x', config: config(url) })
    if (made.status === 400) return true
    const { data } = (await made.json()) as { data: { id: string } }
    const tested = await (await gateway.api('POST', `${DESTINATIONS}/${data.id}/test`)).text()
    await gateway.api('DELETE', `${DESTINATIONS}/${data.id}`)
    return /"(ok|success|passed)":false/.test(tested)
  }

const input = (part: object): object => ({
  model: 'acme/eyes',
  input: [{ role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, part] }],
})
const media =
  (part: (url: string) => object): Consumer['attempt'] =>
  async (gateway, url) => {
    upstream.script(gemini)
    const response = await gateway.respond(input(part(url)))
    const text = await response.text()
    return !text.includes('secret') && !JSON.stringify(upstream.requests.at(-1)?.body ?? {}).includes(Buffer.from('secret').toString('base64'))
  }

/** What plugins read becomes text in the model's request, or the answer is a refusal. */
const plugin =
  (body: (url: string) => object): Consumer['attempt'] =>
  async (gateway, url) => {
    upstream.script(says('done'))
    const seen = upstream.requests.length
    const text = await (await gateway.respond(body(url))).text()
    return !text.includes('secret') && !JSON.stringify(upstream.requests.slice(seen).map((request) => request.body)).includes('secret')
  }

const CONSUMERS: readonly Consumer[] = [
  { id: 'E2', name: 'a webhook', attempt: destination('webhook', (url) => ({ url })) },
  { id: 'E2', name: 'an OpenTelemetry collector', attempt: destination('otel-collector', (url) => ({ endpoint: url })) },
  {
    id: 'E2',
    name: 'a warehouse',
    attempt: destination('clickhouse', (url) => ({ host: url, database: 'd', username: 'u', password: 'p' })),
  },
  {
    id: 'E3',
    name: 'a page that a model fetches',
    async attempt(gateway, url) {
      upstream.script(calls(['web_fetch', { url }]), says('done'))
      const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [{ type: 'gateway:web_fetch' }] })
      const { output } = (await response.json()) as { output: { type: string; status: string; content?: string }[] }
      return output[0]!.type === 'gateway:web_fetch' && output[0]!.status === 'incomplete' && output[0]!.content === undefined
    },
  },
  {
    id: 'E3',
    name: 'a page that a user writes of',
    attempt: plugin((url) => ({ model: 'acme/small', input: `What does ${url} say?`, plugins: [{ id: 'web-fetch' }] })),
  },
  {
    id: 'E4',
    name: 'a file that is made text',
    attempt: plugin((url) => ({ ...input({ type: 'input_file', file_url: url, filename: 'a.txt' }), model: 'acme/blind' })),
  },
  { id: 'E4', name: 'an image', attempt: media((url) => ({ type: 'input_image', image_url: url, detail: 'auto' })) },
  { id: 'E4', name: 'a file', attempt: media((url) => ({ type: 'input_file', file_url: url, filename: 'a.pdf' })) },
  {
    id: 'E5',
    name: 'an MCP server',
    async attempt(gateway, url) {
      upstream.script(says('done'))
      const response = await gateway.respond({
        model: 'acme/small',
        input: 'hi',
        tools: [{ type: 'mcp', server_label: 'x', server_url: url, require_approval: 'never' }],
      })
      const text = await response.text()
      return response.status >= 400 ? response.status < 500 || response.status === 502 : /"error":/.test(text)
    },
  },
]

describe.each(CONSUMERS)('the address of $name', ({ id, attempt }) => {
  it(verifies('E2', 'E3', 'E4', 'E5', 'reaches no forbidden address, and reports an error'), { timeout: 60_000 }, async () => {
    expect(id).toMatch(/^E[2-5]$/)
    const failures: string[] = []
    for (const [name, url] of HOSTILE_ADDRESSES) {
      const before = reached.length
      const told = await attempt(closed, url.replaceAll('PORT', String(port)))
      if (reached.length > before) failures.push(`${name}: reached`)
      else if (!told) failures.push(`${name}: not told`)
    }
    expect(failures).toEqual([])
  })

  it(
    verifies('E2', 'E3', 'E4', 'E5', 'reaches none that is never allowed, even if the operator allows private networks'),
    { timeout: 60_000 },
    async () => {
      for (const [name, url] of HOSTILE_ADDRESSES) {
        if (!NEVER_ALLOWED.includes(name)) continue
        expect([name, await attempt(opened, url.replaceAll('PORT', String(port))), reached]).toEqual([name, true, []])
      }
    },
  )
})

it.each(CONSUMERS)('the test can fail: $name reaches the listener where it is allowed', async ({ attempt }) => {
  await attempt(opened, `http://127.0.0.1:${port}/`)
  expect(reached).not.toEqual([])
})
