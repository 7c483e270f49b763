import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { startFakeUpstream, status, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startMcpServer, type McpKind, type TestMcpServer } from '../../src/testing/mcp-server.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway, calls, says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** Faults of servers, callers and addresses, and what never leaves the gateway. */
let upstream: FakeUpstream
let gateway: TestGateway
let server: TestMcpServer
let sink: FakeDestination

const TOKEN = 'canary-token-51c7'
const HEADER = 'canary-header-9fe2'
const PATH = 'canary-path-77aa'

beforeAll(async () => {
  upstream = await startFakeUpstream()
  server = await startMcpServer('sessions')
  sink = await startFakeDestination()
  gateway = await startGateway(
    chatConfig([upstream.url], { routing: { sticky: false, retries: false }, network: { allow_private: { tools: true } } }),
  )
  const made = await gateway.api('POST', '/api/v1/observability/destinations', { type: 'webhook', name: 'sink', config: { url: `${sink.url}/hook` } })
  expect(await made.json()).toMatchObject({ data: { enabled: true } })
})
afterAll(async () => {
  await gateway.close()
  await sink.close()
  await server.close()
  await upstream.close()
})
beforeEach(() => {
  server.forget()
  server.intercept(undefined)
  ;(upstream.requests as unknown[]).length = 0
})

type Json = Record<string, unknown>
const entry = (more: Json = {}): Json => ({ type: 'mcp', server_label: 'math', server_url: server.url, require_approval: 'never', ...more })
const heard = (n: number): Json[] => upstream.requests[n]!.body['messages'] as Json[]

async function until(holds: () => boolean, ms = 5_000): Promise<void> {
  const end = performance.now() + ms
  while (!holds()) {
    if (performance.now() > end) throw new Error('it never came to that')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

describe('a server whose tools cannot be listed', () => {
  it.each<[string, () => Json | Promise<Json>, string]>([
    [
      'for it refuses the credentials',
      () => {
        server.intercept((_request, response) => (response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(), true))
        return entry({ authorization: 'wrong' })
      },
      'refuses the credentials (401)',
    ],
    [
      'for it fails',
      () => {
        server.intercept((_request, response) => (response.writeHead(500).end(), true))
        return entry({ authorization: 'new session, please' })
      },
      'answered with status 500',
    ],
    ['for nobody is there', () => entry({ server_url: 'http://127.0.0.1:9/mcp' }), 'port 9 is not allowed'],
    ['for nobody listens', () => entry({ server_url: 'http://127.0.0.1:59999/mcp' }), 'cannot be reached'],
  ])('%s: the answer says so and continues without them', async (_name, tool, words) => {
    for (const streamed of [true, false]) {
      upstream.script(says('I have no tools.'))
      const answer = await askGateway(gateway, { tools: [await tool()], tool_choice: { type: 'mcp', server_label: 'math' } }, streamed)
      expect(answer).toMatchObject({
        status: 'completed',
        output: [
          { type: 'mcp_list_tools', server_label: 'math', tools: [], error: expect.stringContaining(words) },
          { type: 'message', content: [{ text: 'I have no tools.' }] },
        ],
      })
    }
  })

  it('is reported by its event in the stream', async () => {
    server.intercept((_request, response) => (response.writeHead(403).end(), true))
    upstream.script(says('ok'))
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [entry({ authorization: 'denied' })], stream: true })
    const { events } = checkWire(await response.text())
    expect(events.map(({ type }) => type).filter((type) => type.includes('mcp'))).toEqual([
      'response.mcp_list_tools.in_progress',
      'response.mcp_list_tools.failed',
    ])
  })

  it.each([true, false])('leaves the caller no calls that nobody can answer, though the model remembers its tools (stream: %s)', async (streamed) => {
    server.intercept((_request, response) => (response.writeHead(500).end(), true))
    const call = { type: 'mcp_call', id: 'mcp_1', server_label: 'math', name: 'add', arguments: '{}', output: '3' }
    const input = [{ role: 'user', content: 'hi' }, call, { role: 'user', content: 'again' }]
    for (const tools of [[entry({ authorization: 'yet another' })], []]) {
      ;(upstream.requests as unknown[]).length = 0
      upstream.script(calls(['math__add', {}]), says('I cannot.'))
      const answer = await askGateway(gateway, { tools, input }, streamed)
      expect(answer.output.at(-1)).toMatchObject({ type: 'message' })
      expect(answer.output.filter(({ type }) => type === 'function_call')).toEqual([])
      expect(heard(1).at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('There is no tool of this name') })
    }
  })

  it('is asked again in the next answer: a failed list does not count as a list', async () => {
    server.intercept((_request, response) => (response.writeHead(500).end(), true))
    upstream.script(says('ok'))
    const first = await askGateway(gateway, { tools: [entry({ authorization: 'once more' })] }, false)
    server.intercept(undefined)
    upstream.script(says('ok'))
    const input = [{ role: 'user', content: 'hi' }, ...first.output, { role: 'user', content: 'and now?' }]
    const second = await askGateway(gateway, { tools: [entry({ authorization: 'once more' })], input }, false)
    expect(second.output[0]).toMatchObject({ type: 'mcp_list_tools', tools: expect.arrayContaining([expect.objectContaining({ name: 'add' })]) })
  })
})

describe('a list that no model gets', () => {
  it.each([['is too long', (base: TestMcpServer) => Array.from({ length: 130 }, (_, n) => base.addTool(`t${n}`)), 'at most 128 can be offered']])(
    '%s',
    async (_name, spoil, words) => {
      const own = await startMcpServer('modern')
      spoil(own)
      upstream.script(says('ok'))
      const answer = await askGateway(gateway, { tools: [entry({ server_url: own.url })] }, false)
      expect(answer.output[0]).toMatchObject({ tools: [], error: expect.stringContaining(words) })
      // Its advice works.
      const fewer = await askGateway(gateway, { tools: [entry({ server_url: own.url, allowed_tools: ['t1'] })] }, false)
      expect(fewer.output[0]).toMatchObject({ tools: [{ name: 't1' }] })
      await own.close()
    },
  )
})

describe('a list of which some tools cannot be offered', () => {
  const object = { type: 'object', properties: {} }
  const bad = [{ name: 'bad' }, { name: 'worse', inputSchema: { type: 'array' } }]
  const huge = { name: 'huge', inputSchema: { ...object, description: 'x'.repeat(70_000) } }
  const twin = { name: 'good', inputSchema: object, description: 'another' }

  it.each([true, false])('offers the others, says which are missing, and is not requested again (streamed: %s)', async (streamed) => {
    const own = await startMcpServer('modern')
    own.listAs(() => ({ tools: [{ name: 'good', inputSchema: object }, ...bad, huge, twin] }))
    const tools = [entry({ server_url: own.url })]
    upstream.script(says('ok'))
    const answer = await askGateway(gateway, { tools }, streamed)
    expect(answer.output[0]).toMatchObject({
      type: 'mcp_list_tools',
      tools: [{ name: 'good' }],
      error:
        'Some tools of the MCP server "math" cannot be used: "bad" is left out, for it has no inputSchema; "worse" is left out, for its inputSchema is not of type "object"; ' +
        '"huge" is left out, for its schema is larger than 65536 characters; "good" is left out, for it is listed before',
    })
    expect(upstream.requests[0]!.body['tools']).toMatchObject([{ function: { name: 'math__good' } }])
    own.forget()
    upstream.script(says('ok'))
    const again = await askGateway(
      gateway,
      { tools, input: [{ role: 'user', content: 'hi' }, ...answer.output, { role: 'user', content: 'and now?' }] },
      streamed,
    )
    expect(again.output).toMatchObject([{ type: 'message' }])
    expect(upstream.requests[1]!.body['tools']).toMatchObject([{ function: { name: 'math__good' } }])
    expect(own.requests).toEqual([])
    await own.close()
  })

  it('does not report tools that the caller did not allow', async () => {
    const own = await startMcpServer('modern')
    own.listAs(() => ({ tools: [{ name: 'good', inputSchema: object }, ...bad] }))
    upstream.script(says('ok'))
    const answer = await askGateway(gateway, { tools: [entry({ server_url: own.url, allowed_tools: ['good'] })] }, false)
    expect(answer.output[0]).toMatchObject({ type: 'mcp_list_tools', tools: [{ name: 'good' }] })
    expect(answer.output[0]!['error'] ?? null).toBeNull()
    await own.close()
  })
})

describe('a call that goes wrong', () => {
  it.each<[string, readonly [string, unknown], string]>([
    ['fails in its tool', ['math__fail', {}], 'the disk is full'],
    ['has arguments the server refuses', ['math__add', { a: 'one' }], 'a'],
    ['has arguments that are not JSON', ['math__add', '{"a" 1}'], 'not valid JSON'],
    ['has arguments that break off', ['math__add', '{"a":'], 'cut off'],
  ])('%s: the model gets the error and continues', async (_name, call, words) => {
    upstream.script(calls(call), says('I give up.'))
    const answer = await askGateway(gateway, { tools: [entry()] }, true)
    expect(answer.output[1]).toMatchObject({ type: 'mcp_call', status: 'failed', output: null, error: expect.stringContaining(words) })
    expect(heard(1).at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('"status":"error"') })
    expect(answer).toMatchObject({ status: 'completed', output_text: 'I give up.' })
  })

  it('has its result cut where it is too long', async () => {
    upstream.script(calls(['math__big', { chars: 200_000 }]), says('ok'))
    const answer = await askGateway(gateway, { tools: [entry()] }, false)
    const output = String(answer.output[1]!['output'])
    expect(output.length).toBeLessThan(100_100)
    expect(output).toContain('[cut')
    expect(String(heard(1).at(-1)!['content']).length).toBeLessThan(100_100)
  })

  it('fails if the result is larger than the gateway reads', async () => {
    upstream.script(calls(['math__big', { chars: 9_000_000 }]), says('ok'))
    const answer = await askGateway(gateway, { tools: [entry()] }, false)
    expect(answer.output[1]).toMatchObject({ status: 'failed', error: expect.stringContaining('more than 8388608 bytes') })
  })

  it.each<McpKind>(['modern', 'sessions', 'sse'])('loses its server during the call (%s)', async (kind) => {
    const own = await startMcpServer(kind)
    upstream.script(calls(['math__die', {}]), says('It is gone.'))
    const begun = performance.now()
    const answer = await askGateway(gateway, { tools: [entry({ server_url: own.url })] }, true)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(answer).toMatchObject({ status: 'completed', output: [{}, { type: 'mcp_call', status: 'failed', error: expect.any(String) }, {}] })
    // The next answer can reach the server again.
    upstream.script(calls(['math__add', { a: 1, b: 1 }]), says('Two.'))
    expect((await askGateway(gateway, { tools: [entry({ server_url: own.url })] }, true)).output[1]).toMatchObject({ output: '2' })
    await own.close()
  })

  it('opens a new session if the server has forgotten its own', async () => {
    upstream.script(calls(['math__add', { a: 1, b: 1 }]), says('Two.'))
    const own = entry({ authorization: 'forgotten' })
    const { output } = await askGateway(gateway, { tools: [own] }, false)
    let forgotten = 0
    const session = server.requests.findLast(({ rpc }) => rpc === 'tools/call')!.headers['mcp-session-id']
    server.intercept((request, response) => {
      if (request.headers['mcp-session-id'] !== session) return false
      forgotten++
      response.writeHead(404).end()
      return true
    })
    const input = [{ role: 'user', content: 'hi' }, ...output, { role: 'user', content: 'again' }]
    upstream.script(calls(['math__add', { a: 2, b: 2 }]), says('Four.'))
    const answer = await askGateway(gateway, { tools: [own], input }, false)
    expect(answer.output[0]).toMatchObject({ type: 'mcp_call', output: '4' })
    expect(forgotten).toBeGreaterThan(0)
  })
})

describe('a caller who leaves', () => {
  it.each<McpKind>(['modern', 'sessions', 'sse'])(
    verifies('D1', 'in the middle of a tool call is disconnected from the server within 100 ms (%s)'),
    async (kind) => {
      const own = await startMcpServer(kind)
      for (const streamed of [true, false]) {
        own.forget()
        upstream.script(calls(['math__wait', {}]), says('never'))
        const leaver = httpRequest(`${gateway.url}/api/v1/responses`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        })
        leaver.on('error', () => undefined)
        leaver.end(JSON.stringify({ model: 'acme/small', input: 'hi', stream: streamed, tools: [entry({ server_url: own.url })] }))
        await until(() => own.calls.length === 1)
        const left = performance.now()
        leaver.destroy()
        await until(() => own.cancelled.length === 1)
        expect(own.cancelled[0]! - left).toBeLessThan(100)
      }
      await own.close()
    },
  )

  it('while the tools are listed ends that request', async () => {
    const own = await startMcpServer('modern')
    let gone = 0
    own.intercept((_request, response) => {
      response.on('close', () => gone++)
      return true
    })
    const leaver = new AbortController()
    const pending = gateway.respond({ model: 'acme/small', input: 'hi', tools: [entry({ server_url: own.url })] }, { signal: leaver.signal })
    await until(() => own.requests.length === 1)
    leaver.abort()
    await expect(pending).rejects.toThrow()
    await until(() => gateway.app.calls.size === 0, 500)
    await until(() => gone === 1, 500)
    expect(upstream.requests).toHaveLength(0)
    await own.close()
  })
})

it('a failure before the first content of the model is an HTTP error, whatever connections were open', async () => {
  upstream.script(status(429, { error: { message: 'slow down' } }))
  const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [entry()], stream: true })
  expect(response.status).toBe(429)
})

describe('what is refused before anything is sent', () => {
  it.each<[Json[], string]>([
    [[{ server_url: undefined }], 'server_url is required'],
    [[{ server_url: 'ftp://a.example' }], 'must be an https or http URL'],
    [[{ server_url: 'https://user:pass@a.example' }], 'must not carry credentials'],
    [[{ connector_id: 'connector_gmail', server_url: undefined }], 'connector_id names a connector of one provider'],
    [[{ authorization: 'a', headers: { authorization: 'b' } }], 'given twice'],
    [[{}, {}], 'is used by two MCP servers'],
    [[{ headers: { 'x-a': 'b\nc' } }], 'headers are refused'],
  ])('%j', async (fields, words) => {
    const tools = fields.map(entry)
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools, stream: true })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { message: string } }
    expect(error.message).toContain(words)
    expect(upstream.requests).toHaveLength(0)
  })
})

it(verifies('P34', 'credentials for a server are in no answer, no request to a model, no record and no destination'), async () => {
  const secrets = [TOKEN, HEADER, PATH]
  const own = await startMcpServer('sessions', { path: `/${PATH}/mcp` })
  own.addTool('greet', `Greets whoever holds ${TOKEN} and ${HEADER}.`)
  const tool = entry({ server_url: own.url, authorization: TOKEN, headers: { 'x-api-key': HEADER } })
  const seen: string[] = []
  for (const streamed of [true, false]) {
    upstream.script(calls(['math__add', { a: 1, b: 1 }]), says('Two.'))
    const response = await gateway.respond(
      { model: 'acme/small', input: 'hi', tools: [tool], stream: streamed, metadata: { story: 'secrets' } },
      { headers: { 'x-gateway-experimental-metadata': 'enabled' } },
    )
    seen.push(await response.text(), JSON.stringify([...response.headers]))
    const id = response.headers.get('x-generation-id')
    seen.push(await (await gateway.api('GET', `/api/v1/generation?id=${id}`)).text())
    seen.push(await (await gateway.api('GET', `/api/v1/generation/content?id=${id}`)).text())
  }
  // A server that returns what it received.
  own.intercept((request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: request.headers }))
    return true
  })
  upstream.script(says('ok'))
  seen.push(
    JSON.stringify(
      await askGateway(
        gateway,
        { tools: [{ ...tool, server_label: 'echo', headers: { 'x-api-key': HEADER, 'x-new': '1' } }], metadata: { story: 'echoed' } },
        false,
      ),
    ),
  )
  seen.push(JSON.stringify(upstream.requests.map(({ body, headers }) => [body, headers])))
  const delivered = (): string => JSON.stringify(sink.requests.map((request) => ({ ...request, body: String(request.body) })))
  await until(() => delivered().split('secrets').length > 2 && delivered().includes('echoed'), 10_000)
  seen.push(delivered())
  expect(own.requests.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}` && headers['x-api-key'] === HEADER)).toBe(true)
  expect(JSON.stringify(upstream.requests[0]!.body['tools'])).toContain('Greets whoever holds [redacted] and [redacted].')
  for (const secret of secrets) expect(seen.filter((text) => text.includes(secret))).toEqual([])
  await own.close()
})

describe('addresses of servers', () => {
  let strict: TestGateway
  beforeAll(async () => {
    strict = await startGateway(chatConfig([upstream.url], { routing: { sticky: false } }))
  })
  afterAll(() => strict.close())

  it.each([
    'http://127.0.0.1:PORT/mcp',
    'http://localhost:PORT/mcp',
    'http://2130706433:PORT/mcp',
    'http://0x7f000001:PORT/mcp',
    'http://0177.0.0.1:PORT/mcp',
    'http://127.1:PORT/mcp',
    'http://[::1]:PORT/mcp',
    'http://[::ffff:127.0.0.1]:PORT/mcp',
    'http://[64:ff9b::7f00:1]:PORT/mcp',
    'http://[2002:7f00:1::]:PORT/mcp',
    'http://10.0.0.1/mcp',
    'http://192.168.1.1/mcp',
    'http://100.64.0.1/mcp',
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00:ec2::254]/latest/meta-data',
    'http://0.0.0.0:PORT/mcp',
    'https://93.184.216.34:25/mcp',
    'http://93.184.216.34/mcp',
  ])(verifies('E5', 'obey the rules for all addresses that callers choose: %s'), async (url) => {
    upstream.script(says('ok'))
    const answer = await askGateway(strict, { tools: [entry({ server_url: url.replace('PORT', String(server.port)), authorization: TOKEN })] }, false)
    expect(answer.output).toMatchObject([
      { type: 'mcp_list_tools', error: expect.stringMatching(/private address|never allowed|not allowed|only https/) },
      { type: 'message' },
    ])
    expect(server.requests).toEqual([])
  })
})
