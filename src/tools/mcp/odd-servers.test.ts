import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { createEgress, type Egress } from '../../lib/egress.ts'
import { inEvents, inJson, startRawMcpServer, usualAnswer, type RawAnswer, type RawMcpServer } from '../../testing/raw-mcp-server.ts'
import { McpConnection } from './connection.ts'
import { McpPool } from './pool.ts'
import type { RemoteResult } from './result.ts'

/** Servers that conform to HTTP but not to the protocol, or to neither. */
let server: RawMcpServer
let egress: Egress
let pool: McpPool
beforeEach(async () => {
  server = await startRawMcpServer()
  egress = createEgress({ allowPrivate: true })
  pool = new McpPool({
    clock: systemClock,
    max: 8,
    ttlMs: 60_000,
    connectMs: 5_000,
    connect: (address, signal) => McpConnection.open(address, { egress, version: '1.0.0' }, signal),
  })
})
afterEach(async () => {
  await pool.close()
  await egress.close()
  await server.close()
})

const use = <T>(work: (connection: McpConnection, signal: AbortSignal) => Promise<T>, ms = 5_000): Promise<T> => {
  const signal = AbortSignal.timeout(ms)
  return pool.use('w', { url: server.url, headers: {} }, signal, (connection) => work(connection, signal))
}
const call = (ms?: number): Promise<RemoteResult> => use((connection, signal) => connection.callTool('add', {}, signal), ms)
const called = (): number => server.heard.filter((method) => method === 'tools/call').length

describe('an error of a tool', () => {
  it.each([
    [404, 'record 7 was not found', {}],
    [401, 'no licence', {}],
    [-32_000, 'the backend said (HTTP 404)', {}],
    [-32_000, 'the backend said no', { status: 404, cause: 'x' }],
  ])('keeps its message and is not taken for an HTTP status, whatever its code: %i, %s', async (code, message, data) => {
    await call()
    server.answer({ 'tools/call': (response, { id }) => inJson(response, { jsonrpc: '2.0', id, error: { code, message, data } }) })
    await expect(call()).rejects.toMatchObject({ kind: 'protocol', message, unsent: false })
    // The call ran, and must not run twice.
    expect(called()).toBe(2)
    expect(pool.size).toBe(1)
  })
})

describe('a slow server', () => {
  const slowly: RawAnswer = (response, message) => {
    setTimeout(() => inEvents(response, usualAnswer(message)), 350)
  }

  it('that answers each request on a stream of its own is waited for, however many requests it takes', async () => {
    const page: RawAnswer = (response, message) => {
      const { cursor } = (message['params'] ?? {}) as { cursor?: string }
      const result = {
        tools: [{ name: `of_${cursor}`, inputSchema: { type: 'object' } }],
        ...(cursor === 'b' ? {} : { nextCursor: cursor === 'a' ? 'b' : 'a' }),
      }
      setTimeout(() => inEvents(response, { jsonrpc: '2.0', id: message['id'], result }), 350)
    }
    server.answer({
      'server/discover': slowly,
      initialize: slowly,
      'notifications/initialized': (response) => void setTimeout(() => response.writeHead(202).end(), 350),
      'tools/list': page,
      'tools/call': slowly,
    })
    const { tools } = await use((connection, signal) => connection.listTools(signal), 10_000)
    expect(tools.map(({ name }) => name)).toEqual(['of_undefined', 'of_a', 'of_b'])
    expect(await call()).toMatchObject({ content: [{ text: 'done' }] })
  })
})

describe('a server without the newer protocol that, to the first request,', () => {
  it.each<[string, RawAnswer]>([
    ['says 202, as to a message that needs no answer', (response) => response.writeHead(202).end()],
    ['says 204', (response) => response.writeHead(204).end()],
    ['says nothing', (response) => response.writeHead(200).end()],
    ['opens a stream without a word', (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end()],
    ['gives an empty object', (response) => inJson(response, {})],
    ['shows a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['gives an error of no question', (response) => inJson(response, { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Invalid' } })],
    ['gives an error that is a word', (response, { id }) => inJson(response, { jsonrpc: '2.0', id, error: 'unknown method' })],
  ])('%s, is asked with the older protocol', async (_what, answer) => {
    server.answer({ 'server/discover': answer })
    expect(await call()).toMatchObject({ content: [{ text: 'done' }] })
    expect(server.heard).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/call'])
  })

  it.each<[string, RawAnswer]>([
    ['is silent', () => undefined],
    ['opens a stream and leaves it', (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')],
  ])('%s, is asked with the older protocol in time', async (_name, answer) => {
    server.answer({ 'server/discover': answer })
    const soon = AbortSignal.timeout(5_000)
    const connection = await McpConnection.open({ url: server.url, headers: {} }, { egress, version: '1.0.0', probeMs: 100 }, soon)
    expect(await connection.callTool('add', {}, soon)).toMatchObject({ content: [{ text: 'done' }] })
    await connection.close()
  })

  it('is reported by its first answer if it does not support the older protocol either', async () => {
    const nothing: RawAnswer = (response) => response.writeHead(202).end()
    server.answer({ 'server/discover': nothing, initialize: (response) => response.writeHead(500).end() })
    await expect(call()).rejects.toMatchObject({ kind: 'unreachable', message: 'the server closed the connection before it answered' })
    const page: RawAnswer = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    server.answer({ 'server/discover': page, initialize: page })
    await expect(call()).rejects.toMatchObject({ kind: 'protocol', message: 'the server gave an answer that the protocol does not know' })
  })
})

it.each([
  ['in JSON', inJson],
  ['in events', inEvents],
])('a server that writes null for what it leaves out is understood, %s: at the beginning, in its list and in its results', async (_how, send) => {
  const answers =
    (result: object): RawAnswer =>
    (response, { id }) =>
      send(response, { jsonrpc: '2.0', id, result: { ...result, _meta: null }, error: null })
  const capabilities = { experimental: null, logging: null, prompts: null, resources: { listChanged: null }, tools: { listChanged: null } }
  const hints = { title: null, readOnlyHint: true, destructiveHint: null, idempotentHint: 'no', openWorldHint: null }
  const tool = { name: 'add', title: null, description: null, inputSchema: { type: 'object' }, outputSchema: null, annotations: hints, icons: null }
  server.answer({
    initialize: answers({
      protocolVersion: '2025-06-18',
      capabilities,
      serverInfo: { name: 'raw', version: '1', title: null, websiteUrl: null },
      instructions: null,
    }),
    'tools/list': answers({ tools: [{ ...tool, execution: null, _meta: null }], nextCursor: null }),
    'tools/call': answers({ content: [{ type: 'text', text: 'done', annotations: null, _meta: null }], structuredContent: null, isError: null }),
  })
  const { tools } = await use((connection, signal) => connection.listTools(signal))
  expect(tools).toEqual([{ name: 'add', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }])
  expect(await call()).toEqual({ content: [{ type: 'text', text: 'done' }], isError: false })
  const error = { code: -32_000, message: 'the disk is full' }
  server.answer({ 'tools/call': (response, { id }) => send(response, { jsonrpc: '2.0', id, result: null, error }) })
  await expect(call()).rejects.toMatchObject({ kind: 'protocol', message: 'the disk is full' })
})

describe('a request that is never answered', () => {
  it.each<[string, RawAnswer]>([
    ['for it is taken like a message that needs no answer', (response) => response.writeHead(202).end()],
    ['for the answer is to another question', (response, message) => inJson(response, { ...usualAnswer(message), id: 4_711 })],
    [
      'for the stream has other words only',
      (response, { id }) => inEvents(response, { jsonrpc: '2.0', method: 'notifications/message', params: { of: id } }),
    ],
  ])('%s, is given up at once', async (_name, answer) => {
    await call()
    server.answer({ 'tools/call': answer })
    await expect(call(4_000)).rejects.toMatchObject({ kind: 'unreachable', message: 'the server closed the connection before it answered' })
    expect(called()).toBe(2)
  })
})

describe('a server that ends its stream, to be asked for the rest', () => {
  const breaksOff = (response: ServerResponse): unknown =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 1\nid: 1\ndata: \n\n')
  const askedAgain = (): number => server.heard.filter((kind) => kind === 'GET').length

  it('is asked', async () => {
    let id: unknown
    server.answer({
      'tools/call': (response, message) => {
        id = message['id']
        breaksOff(response)
      },
      GET: (response) => inEvents(response, usualAnswer({ id, method: 'tools/call' })),
    })
    expect(await call()).toMatchObject({ content: [{ text: 'done' }] })
  })

  it('again and again is given up', async () => {
    server.answer({ 'tools/call': breaksOff, GET: breaksOff })
    await expect(call(4_500)).rejects.toMatchObject({ message: 'the server broke off its answer again and again' })
    expect(askedAgain()).toBeLessThanOrEqual(128)
  })

  it('is not asked any more when nobody waits for it', async () => {
    server.answer({ 'tools/call': breaksOff, GET: (response) => setTimeout(() => breaksOff(response), 100) })
    await expect(call(500)).rejects.toMatchObject({ kind: 'timeout' })
    const asked = askedAgain()
    expect(asked).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(askedAgain()).toBeLessThanOrEqual(asked + 1)
  })
})

describe('a server that leaves a stream open behind its answer', () => {
  /** Answers of these kinds whose connections the gateway has not closed. */
  function leavingOpen(...kinds: readonly string[]): ReadonlySet<ServerResponse> {
    const open = new Set<ServerResponse>()
    const answer: RawAnswer = (response, message) => {
      open.add(response)
      response.on('close', () => open.delete(response))
      if (message['id'] === undefined) response.writeHead(202).write(' ')
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${JSON.stringify(usualAnswer(message))}\n\n`)
    }
    server.answer(Object.fromEntries(kinds.map((kind) => [kind, answer])))
    return open
  }

  it('has it closed, so that no connection is occupied by what is over', async () => {
    const open = leavingOpen('initialize', 'tools/list', 'tools/call')
    await use((connection, signal) => connection.listTools(signal))
    await call()
    await vi.waitFor(() => expect(open.size).toBe(0), 3_000)
    expect(called()).toBe(1)
    expect(pool.size).toBe(1)
  })

  it('is used also where it leaves open what needs no answer', async () => {
    const open = leavingOpen('notifications/initialized')
    expect(await call()).toMatchObject({ content: [{ text: 'done' }] })
    expect(open.size).toBe(0)
  })
})

it.each([
  ['on one stream', '', 16_385],
  ['on streams that it lets us resume', 'retry: 1\nid: 1\n', 5_500],
])('a server that sends messages without end fails, %s', async (_how, fields, times) => {
  await call()
  const many: RawAnswer = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${fields}data:\n\n`.repeat(times))
  server.answer({ 'tools/call': many, GET: many })
  await expect(call()).rejects.toThrow('the server sent more than 16384 messages')
  expect(called()).toBe(2)
})

it('a server that asks too many questions at once gets no further answers, and its own answer is still read', async () => {
  const questions = Array.from({ length: 200 }, (_, index) => ({ jsonrpc: '2.0', id: `q${index}`, method: 'ping' }))
  const waiting: ServerResponse[] = []
  server.answer({
    reply: (response) => waiting.push(response),
    'tools/call': (response, message) => inEvents(response, ...questions, usualAnswer(message)),
  })
  expect(await call()).toMatchObject({ content: [{ text: 'done' }] })
  await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0))
  server.answer({})
  for (const response of waiting.splice(0)) response.writeHead(202).end()
  await call()
  expect(server.heard.filter((kind) => kind === 'reply').length).toBeLessThanOrEqual(16)
})

it.each([
  ['Bad Request: No valid session ID provided', {}],
  ['Session not found', { code: -32_001 }],
])('a server that has lost the session and says so with 400 (%s) is asked in a new session', async (message, more) => {
  const sessions = ['first', 'second']
  const known = new Set<unknown>()
  server.answer({
    initialize: (response, asked) => {
      const session = sessions.shift()!
      known.add(session)
      inJson(response, usualAnswer(asked), 200, { 'mcp-session-id': session })
    },
    'tools/call': (response, asked, { headers }) => {
      if (known.has(headers['mcp-session-id'])) inJson(response, usualAnswer(asked))
      else inJson(response, { jsonrpc: '2.0', id: null, error: { code: -32_000, message, ...more } }, 400)
    },
  })
  await call()
  known.clear()
  expect(await call()).toMatchObject({ content: [{ text: 'done' }] })
  // An error about the call itself says nothing about the session.
  for (const fault of [
    { id: null, words: 'a is missing' },
    { id: 7, words: 'a session must have a name' },
  ]) {
    const error = { code: -32_602, message: fault.words }
    server.answer({ 'tools/call': (response) => inJson(response, { jsonrpc: '2.0', id: fault.id, error }, 400) })
    await expect(call()).rejects.toMatchObject({ kind: 'protocol', message: `the server answered with status 400: ${fault.words}` })
  }
  expect(pool.size).toBe(1)
})
