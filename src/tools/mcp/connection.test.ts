import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createEgress, type Egress, type EgressOptions } from '../../lib/egress.ts'
import { startMcpServer, type McpKind, type TestMcpServer } from '../../testing/mcp-server.ts'
import { systemClock } from '../../lib/clock.ts'
import { McpConnection } from './connection.ts'
import { McpPool } from './pool.ts'

const ways: Egress[] = []
const wayOut = (options: Partial<EgressOptions> = {}): Egress => {
  const egress = createEgress({ allowPrivate: true, ...options })
  ways.push(egress)
  return egress
}
afterEach(async () => {
  await Promise.all(ways.splice(0).map((egress) => egress.close()))
})

const soon = (ms = 5_000): AbortSignal => AbortSignal.timeout(ms)
const connect = (url: string, { headers = {}, egress = wayOut(), signal = soon() } = {}): Promise<McpConnection> =>
  McpConnection.open({ url, headers }, { egress, version: '1.0.0' }, signal)

describe.each<McpKind>(['modern', 'sessions', 'sse'])('a server of kind %s', (kind) => {
  let server: TestMcpServer
  beforeAll(async () => {
    server = await startMcpServer(kind)
  })
  afterAll(() => server.close())
  beforeEach(() => server.forget())

  it('lists its tools and runs them', async () => {
    const connection = await connect(server.url)
    const { tools } = await connection.listTools(soon())
    expect(tools.find(({ name }) => name === 'add')).toMatchObject({
      description: 'Adds two numbers.',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] },
      annotations: { readOnlyHint: true },
    })
    expect(await connection.callTool('add', { a: 1, b: 2 }, soon())).toMatchObject({ isError: false, content: [{ type: 'text', text: '3' }] })
    expect(await connection.callTool('fail', {}, soon())).toMatchObject({ isError: true, content: [{ text: 'the disk is full' }] })
    await connection.close()
  })

  it('gets the caller’s headers with every request', async () => {
    const connection = await connect(server.url, { headers: { authorization: 'Bearer t', 'x-team': 'blue' } })
    await connection.callTool('add', { a: 1, b: 2 }, soon())
    expect(server.requests.length).toBeGreaterThan(1)
    for (const { headers } of server.requests) expect(headers).toMatchObject({ authorization: 'Bearer t', 'x-team': 'blue' })
    await connection.close()
  })

  it('refuses what it does not know, in its own words', async () => {
    const connection = await connect(server.url)
    const refused = await connection.callTool('nothing', {}, soon()).then(
      ({ isError, content }) => (isError ? String(content[0]!['text']) : 'no error'),
      (error: Error) => error.message,
    )
    expect(refused).toContain('nothing')
    expect(connection.broken).toBe(false)
    await connection.close()
  })

  it('learns at once that a call was cancelled, and continues', async () => {
    const connection = await connect(server.url)
    const caller = new AbortController()
    const waiting = connection.callTool('wait', {}, caller.signal)
    waiting.catch(() => undefined)
    await until(() => server.calls.length === 1)
    const left = performance.now()
    caller.abort()
    await expect(waiting).rejects.toThrow()
    await until(() => server.cancelled.length === 1)
    expect(server.cancelled[0]! - left).toBeLessThan(100)
    expect(connection.broken).toBe(false)
    expect(await connection.callTool('add', { a: 1, b: 1 }, soon())).toMatchObject({ content: [{ text: '2' }] })
    await connection.close()
  })

  it('that dies in the middle of a call is noticed long before any limit', async () => {
    const connection = await connect(server.url)
    const begun = performance.now()
    await expect(connection.callTool('die', {}, soon(20_000))).rejects.toMatchObject({ name: 'McpFailure' })
    expect(performance.now() - begun).toBeLessThan(3_000)
    expect(connection.broken).toBe(true)
    await connection.close()
  })

  it('runs several calls of one connection at once', async () => {
    const connection = await connect(server.url)
    const sums = await Promise.all([1, 2, 3, 4].map((a) => connection.callTool('add', { a, b: 0 }, soon())))
    expect(sums.map(({ content }) => content[0]!['text'])).toEqual(['1', '2', '3', '4'])
    await connection.close()
  })
})

describe.each<McpKind>(['modern', 'sessions'])('a list of a server of kind %s', (kind) => {
  const schema = { type: 'object', properties: {} }
  const tool = (name: unknown, more: object = {}): object => ({ name, inputSchema: schema, ...more })
  let server: TestMcpServer
  beforeAll(async () => {
    server = await startMcpServer(kind)
  })
  afterAll(() => server.close())

  it('is read tool by tool: an invalid one does not affect the others', async () => {
    let deep: unknown = {}
    for (let n = 0; n < 300; n++) deep = { items: deep }
    const page = {
      tools: [
        tool('good', { description: 7, annotations: 'none', outputSchema: [] }),
        tool('titled', { annotations: { title: 'long '.repeat(100_000), readOnlyHint: true } }),
        { name: 'bare' },
        tool('list', { inputSchema: { type: 'array' } }),
        tool('words', { inputSchema: 'none' }),
        tool('properties', { inputSchema: { type: 'object', properties: [] } }),
        tool('required', { inputSchema: { type: 'object', required: 'all' } }),
        tool('deep', { inputSchema: deep }),
        tool('', {}),
        tool(undefined),
        null,
        tool('untyped', { inputSchema: {} }),
        tool('nulls', { inputSchema: { type: null, properties: null, required: null, title: null } }),
      ],
    }
    server.listAs(() => page)
    const connection = await connect(server.url)
    const { tools, leftOut, endless } = await connection.listTools(soon())
    expect(tools).toEqual([
      { name: 'good', inputSchema: schema },
      { name: 'titled', inputSchema: schema, annotations: { title: 'long '.repeat(52).slice(0, 256), readOnlyHint: true } },
      { name: 'untyped', inputSchema: { type: 'object' } },
      { name: 'nulls', inputSchema: { type: 'object', title: null } },
    ])
    expect(leftOut.map(({ tool: { name }, reason }) => [name, reason])).toEqual([
      ['bare', 'it has no inputSchema'],
      ['list', 'its inputSchema is not of type "object"'],
      ['words', 'its inputSchema is no object'],
      ['properties', 'the properties of its inputSchema are no object'],
      ['required', 'what its inputSchema requires is no list of names'],
      ['deep', 'its inputSchema is nested more than 256 deep'],
      ['', 'it has no name'],
      ['', 'it has no name'],
      ['', 'it is no object'],
    ])
    expect(endless).toBe(false)
    await connection.close()
  })

  it('without an end is read as far as needed', async () => {
    server.forget()
    let pages = 0
    server.listAs(() => ({ tools: [tool(`t${++pages}`)], nextCursor: `page ${pages}` }))
    const connection = await connect(server.url)
    const { tools, endless } = await connection.listTools(soon())
    expect([tools.length, pages, endless]).toEqual([16, 16, true])
    server.listAs(() => ({ tools: Array.from({ length: 5_000 }, (_, n) => tool(`t${n}`)) }))
    const long = await connection.listTools(soon())
    expect([long.tools.length, long.endless]).toEqual([4_096, true])
    await connection.close()
  })

  it('that is malformed is an error', async () => {
    server.listAs(() => ({ tools: 'all' }))
    const connection = await connect(server.url)
    await expect(connection.listTools(soon())).rejects.toMatchObject({ name: 'McpFailure' })
    await connection.close()
  })
})

describe.each<McpKind>(['modern', 'sessions'])('a result of a server of kind %s', (kind) => {
  let server: TestMcpServer
  beforeAll(async () => {
    server = await startMcpServer(kind)
  })
  afterAll(() => server.close())
  const text = (words: string): object => ({ type: 'text', text: words })

  it.each<[string, object, object]>([
    [
      'of parts nobody knows',
      { content: [text('good'), { type: 'video', mimeType: 'video/mp4', data: 'AAAA' }, null, { type: 'text', text: 5 }, 'words'] },
      {
        content: [
          text('good'),
          text('[video video/mp4, 3 bytes]'),
          text('[a part that cannot be read]'),
          text(''),
          text('[a part that cannot be read]'),
        ],
      },
    ],
    [
      'with a damaged image',
      {
        content: [
          { type: 'image', data: '!', mimeType: 'image/png' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      },
      { content: [text('[image image/png, 0 bytes]'), { type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
    ],
    ['that is a string', { content: 'words' }, { content: [text('words')], isError: false }],
    ['without content', { content: null, isError: 'no' }, { content: [], isError: false }],
    ['of structure that is no object', { content: [], structuredContent: [1, 2] }, { content: [text('[1,2]')] }],
    ['of structure beside words', { content: [text('a')], structuredContent: { b: 1 } }, { content: [text('a')], structuredContent: { b: 1 } }],
  ])('%s is read part by part', async (_what, given, read) => {
    server.resultAs(given)
    const connection = await connect(server.url)
    expect(await connection.callTool('add', { a: 1, b: 2 }, soon())).toMatchObject(read)
    await connection.close()
  })

  it.each<[string, object, object]>([
    ['words alone', { content: [text('done')] }, { content: [text('done')] }],
    ['a list', { content: [], structuredContent: [1, 2] }, { content: [text('[1,2]')] }],
  ])('with %s is read although the tool declares an object, because the tool has run', async (_what, given, read) => {
    const schema = { type: 'object', properties: {} }
    server.listAs(() => ({ tools: [{ name: 'add', inputSchema: schema, outputSchema: { ...schema, required: ['sum'] } }] }))
    server.resultAs(given)
    const connection = await connect(server.url)
    expect((await connection.listTools(soon())).tools).toMatchObject([{ name: 'add' }])
    expect(await connection.callTool('add', { a: 1, b: 2 }, soon())).toMatchObject(read)
    await connection.close()
  })

  it('that is malformed is an error in plain words', async () => {
    server.resultAs(null)
    const connection = await connect(server.url)
    await expect(connection.callTool('add', { a: 1, b: 2 }, soon())).rejects.toMatchObject({
      name: 'McpFailure',
      message: 'the server gave an answer that the protocol does not know',
    })
    await connection.close()
  })
})

it('a connection that has transferred much is replaced before its bound ends a call', async () => {
  const server = await startMcpServer('sse')
  const options = { egress: wayOut(), version: '1.0.0', maxStandingBytes: 1024 * 1024 }
  let connects = 0
  const pool = new McpPool({
    clock: systemClock,
    max: 4,
    ttlMs: 60_000,
    connectMs: 5_000,
    connect: (address, signal) => {
      connects++
      return McpConnection.open(address, options, signal)
    },
  })
  const say = (chars: number): Promise<unknown> =>
    pool.use('w', { url: server.url, headers: {} }, soon(), (connection) => connection.callTool('big', { chars }, soon()))
  for (let n = 0; n < 8; n++) expect(await say(300 * 1024)).toMatchObject({ isError: false })
  expect(connects).toBe(4)
  await pool.close()
  await server.close()
})

it('a connection ends its session when it is closed', async () => {
  const server = await startMcpServer('sessions')
  const connection = await connect(server.url)
  await connection.close()
  expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': expect.any(String) } })
  await server.close()
})

describe('a server that refuses the gateway', () => {
  let server: Server
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let url: string
  const asked: string[] = []
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      answer(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    asked.length = 0
  })

  it.each([
    [401, 'unauthorized', 'refuses the credentials (401)'],
    [403, 'unauthorized', 'denies access (403)'],
    [404, 'gone', 'no MCP endpoint or session at this address (404)'],
    [429, 'protocol', 'fewer requests (429)'],
    [500, 'protocol', 'answered with status 500'],
    [503, 'protocol', 'answered with status 503'],
  ])('and says so with %i', async (status, kind, words) => {
    answer = (_request, response) =>
      response.writeHead(status, { 'www-authenticate': 'Bearer resource_metadata="http://169.254.169.254/x"' }).end('{"leak":"Bearer t"}')
    await expect(connect(url, { headers: { authorization: 'Bearer t' } })).rejects.toMatchObject({ kind, message: expect.stringContaining(words) })
    // Where to get credentials is up to the caller: nothing that a server names is looked up.
    expect(asked.every((line) => line.endsWith('/mcp'))).toBe(true)
  })

  it('and never answers is given up', async () => {
    answer = () => undefined
    await expect(connect(url, { signal: soon(100) })).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('and answers something else is not an MCP server', async () => {
    answer = (_request, response) => response.setHeader('content-type', 'text/html').end('<html>')
    await expect(connect(url)).rejects.toMatchObject({ name: 'McpFailure' })
  })

  it('and sends too much is cut off', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): boolean => response.write(`: ${'x'.repeat(256 * 1024)}\n`)
      response.on('drain', more)
      while (more());
    }
    await expect(connect(url)).rejects.toMatchObject({ message: expect.stringContaining('more than 8388608 bytes') })
  })

  it('with an error of the protocol is reported with that, although it has a stream for us', async () => {
    const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unknown tenant"}}'
    answer = (request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
      else response.writeHead(400, { 'content-type': 'application/json' }).end(error)
    }
    await expect(connect(url, { signal: soon(300) })).rejects.toThrow('the server answered with status 400: Unknown tenant')
  })

  it('by ending the stream of the older transport before it names an address is reported with that', async () => {
    answer = (request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
      else response.writeHead(405).end()
    }
    await expect(connect(url)).rejects.toThrow('the server ended its stream before it named an address for requests')
  })

  it('is not followed to another origin, and no credential goes there', async () => {
    const other = createServer((request, response) => {
      asked.push(`stolen ${request.headers.authorization}`)
      response.end()
    })
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const target = `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`
    for (const status of [301, 302, 303, 307, 308]) {
      answer = (_request, response) => response.writeHead(status, { location: target }).end()
      const message = `the server redirects to ${target} (${status}), which is not followed: use that as server_url if it is meant`
      await expect(connect(url, { headers: { authorization: 'Bearer t' } })).rejects.toMatchObject({ name: 'McpFailure', message })
    }
    // The older transport names the address for requests in its stream.
    answer = (request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`event: endpoint\ndata: ${target}\n\n`)
      else response.writeHead(405).end()
    }
    await expect(connect(url, { headers: { authorization: 'Bearer t' }, signal: soon(1_000) })).rejects.toMatchObject({
      name: 'McpFailure',
      message: expect.stringContaining(new URL(target).origin),
    })
    expect(asked.filter((line) => line.startsWith('stolen'))).toEqual([])
    other.close()
  })
})

describe('addresses that are refused', () => {
  let server: TestMcpServer
  beforeAll(async () => {
    server = await startMcpServer('modern')
  })
  afterAll(() => server.close())
  beforeEach(() => server.forget())

  it.each([
    'http://127.0.0.1:PORT/mcp',
    'http://localhost:PORT/mcp',
    'http://localhost.:PORT/mcp',
    'http://2130706433:PORT/mcp',
    'http://0x7f000001:PORT/mcp',
    'http://0177.0.0.1:PORT/mcp',
    'http://127.1:PORT/mcp',
    'http://[::1]:PORT/mcp',
    'http://[::ffff:127.0.0.1]:PORT/mcp',
    'http://[64:ff9b::7f00:1]:PORT/mcp',
    'http://[2002:7f00:1::]:PORT/mcp',
    'http://10.0.0.1/mcp',
    'http://172.16.0.1/mcp',
    'http://192.168.1.1/mcp',
    'http://100.64.0.1/mcp',
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00:ec2::254]/latest',
    'http://metadata.example/latest',
    'https://rebound.example/mcp',
    'http://public.example/mcp',
    'https://public.example:25/mcp',
  ])('%s', async (url) => {
    const hosts: { readonly [host: string]: string } = {
      'metadata.example': '169.254.169.254',
      'rebound.example': '127.0.0.1',
      'public.example': '93.184.216.34',
      localhost: '127.0.0.1',
      'localhost.': '127.0.0.1',
    }
    const egress = wayOut({ allowPrivate: false, resolver: async (host) => [{ address: hosts[host]!, family: 4 }] })
    await expect(connect(url.replace('PORT', String(server.port)), { egress, headers: { authorization: 'Bearer t' } })).rejects.toMatchObject({
      kind: 'refused',
    })
    expect(server.requests).toEqual([])
  })

  it('even when the name pointed elsewhere a moment ago', async () => {
    let asked = 0
    const egress = wayOut({ resolver: async () => [{ address: ++asked === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }] })
    const connection = await connect(`http://rebind.example:${server.port}/mcp`, { egress })
    server.hangUp()
    await expect(connection.callTool('add', { a: 1, b: 1 }, soon())).rejects.toMatchObject({ name: 'McpFailure' })
    await expect(connect(`http://rebind.example:${server.port}/mcp`, { egress })).rejects.toMatchObject({ kind: 'refused' })
    await connection.close()
  })
})

async function until(holds: () => boolean, ms = 3_000): Promise<void> {
  const end = performance.now() + ms
  while (!holds()) {
    if (performance.now() > end) throw new Error('it never came to that')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
