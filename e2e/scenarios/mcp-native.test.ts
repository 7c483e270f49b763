import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startMcpServer, type TestMcpServer } from '../../src/testing/mcp-server.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Who runs a remote server's tools: the gateway, unless the caller prefers the provider and every endpoint supports it, or only the provider can. */
let upstream: FakeUpstream
let server: TestMcpServer
let gateway: TestGateway

const call = { id: 'mcp_up', type: 'mcp_call', server_label: 'math', name: 'add', arguments: '{}', output: '5', error: null, status: 'completed' }
const usage = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 7,
}
const resource = { id: 'resp_up', object: 'response', created_at: 1, model: 'm', output: [call], status: 'completed', usage }
const events = [
  { type: 'response.created', sequence_number: 0, response: { ...resource, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...call, status: 'in_progress' } },
  { type: 'response.mcp_call.in_progress', sequence_number: 2, output_index: 0, item_id: 'mcp_up' },
  { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: call },
  { type: 'response.completed', sequence_number: 4, response: resource },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(events))
  server = await startMcpServer('modern')
  const provider = (slug: string, options: object = {}) => ({ slug, dialect: 'openai-responses', base_url: upstream.url, api_keys: ['k'], options })
  const model = (slug: string, ...providers: string[]) => ({
    slug,
    context_length: 64_000,
    endpoints: providers.map((name) => ({ provider: name, upstream_model: 'm' })),
  })
  gateway = await startGateway({
    providers: [provider('able'), provider('unable', { builtin_tools: false })],
    models: [model('acme/able', 'able'), model('acme/unable', 'unable'), model('acme/mixed', 'able', 'unable')],
    routing: { sticky: false },
    network: { allow_private: { tools: true } },
  })
})
afterAll(async () => {
  await gateway.close()
  await server.close()
  await upstream.close()
})
beforeEach(() => {
  server.forget()
  ;(upstream.requests as unknown[]).length = 0
})

const entry = (more: object = {}) => ({ type: 'mcp', server_label: 'math', server_url: server.url, authorization: 'token-of-alice', ...more })
const ask = (model: string, tool: object, input: unknown = 'hi') => gateway.respond({ model, input, tools: [tool] })
const toolsSent = (): { type: string }[] => upstream.requests[0]!.body['tools'] as { type: string }[]

describe('the gateway', () => {
  it.each([
    ['by default', 'acme/able', {}],
    ['where it is asked to', 'acme/able', { engine: 'gateway' }],
    ['where not every endpoint can', 'acme/mixed', { engine: 'native' }],
    ['where no endpoint can', 'acme/unable', { engine: 'native' }],
  ])('runs remote tools %s, and the provider gets no credential', async (_name, model, more) => {
    expect((await ask(model, entry(more))).status).toBe(200)
    expect(toolsSent().every(({ type }) => type === 'function')).toBe(true)
    expect(JSON.stringify(upstream.requests[0]!.body)).not.toContain('token-of-alice')
    expect(server.requests.length).toBeGreaterThan(0)
  })
})

describe('the provider', () => {
  it('runs remote tools where the caller prefers that, and gets the tool as it came', async () => {
    const response = await ask('acme/able', entry({ engine: 'native' }))
    const { output, tools } = (await response.json()) as { output: object[]; tools: object[] }
    expect(output).toMatchObject([{ type: 'mcp_call', name: 'add', output: '5' }])
    expect(toolsSent()).toEqual([entry()])
    expect(server.requests).toEqual([])
    // The caller's credentials are in no answer, whoever used them.
    expect(JSON.stringify(tools)).not.toContain('token-of-alice')
  })

  it('gets its own earlier calls unchanged', async () => {
    await ask('acme/able', entry({ engine: 'native' }), [
      { type: 'message', role: 'user', content: 'hi' },
      call,
      { type: 'message', role: 'user', content: 'so?' },
    ])
    expect((upstream.requests[0]!.body['input'] as { type: string }[]).map(({ type }) => type)).toContain('mcp_call')
  })

  it.each([
    ['connectors', { connector_id: 'connector_gmail' }],
    ['tunnels', { tunnel_id: 'tunnel_1' }],
  ])('alone can use its %s', async (_what, own) => {
    const tool = { type: 'mcp', server_label: 'mail', ...own, authorization: 'token-of-alice' }
    expect((await ask('acme/able', tool)).status).toBe(200)
    expect(toolsSent()).toEqual([tool])
    const refused = await ask('acme/unable', tool)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(Object.keys(own)[0])
  })
})

describe('credentials of a tool that a provider was sent', () => {
  it('are removed when the provider repeats them in an error, because a preset may have set them', async () => {
    const tool = entry({ engine: 'native', server_url: 'https://mcp.example/s/path-of-alice?k=1', headers: { 'x-key': 'header of-alice' } })
    await gateway.api('POST', '/api/v1/presets', { slug: 'remote', config: { model: 'acme/able', tools: [tool] } })
    upstream.script((request, response) => status(400, { error: { message: `bad request: ${JSON.stringify(request.body)}` } })(request, response))
    const response = await gateway.respond({ preset: 'remote', input: 'hi' })
    upstream.script(stream(events))
    const answer = await response.text()
    const record = await gateway.api('GET', `/api/v1/generation?id=${response.headers.get('x-generation-id')}`)
    expect(JSON.stringify(upstream.requests[0]!.body)).toMatch(/token-of-alice.*header of-alice|header of-alice.*token-of-alice/)
    expect(answer).toContain('bad request')
    for (const text of [answer, await record.text()]) expect(text).not.toMatch(/token-of-alice|path-of-alice|of-alice/)
  })
})
