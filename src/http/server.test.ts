import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { readBody } from './body.ts'
import { createGatewayServer, type RouteHandler, type ServerOptions } from './server.ts'
import { KeepAlive, SseBody } from './sse-body.ts'

/** The server alone, with limits short enough to wait for. */
const servers: Server[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

async function start(handler: RouteHandler, limits: Partial<ServerOptions> = {}): Promise<number> {
  const server = createGatewayServer({ routes: new Map([['GET /', handler]]), fallback: handler, ...limits })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A connection that sends these bytes and reads only when told. */
async function dial(
  port: number,
  bytes: string,
): Promise<{ readonly socket: Socket; readonly text: () => string; readonly closed: Promise<unknown> }> {
  const socket = connect({ port, host: '127.0.0.1' })
  sockets.push(socket)
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(bytes)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { socket, text: () => text, closed }
}

const connections = (): Promise<number> => new Promise((resolve) => servers[0]!.getConnections((_error, count) => resolve(count)))

const ok: RouteHandler = (_request, response) => void response.end('fine')
const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

describe('callers who are refused', () => {
  it(verifies('A10', 'and do not close their end are disconnected after a bounded time to read the error'), { timeout: 10_000 }, async () => {
    const port = await start(ok, { headersTimeoutMs: 60_000 })
    const refused = [
      '\x00\r\n\r\n',
      'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n\r\n',
      'GET / HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(40_000)}\r\n\r\n`,
    ]
    for (const bytes of refused) {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      sockets.push(socket)
      socket.on('error', () => undefined).write(bytes)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*"error_type":"invalid_request"/)
    }
    expect(await connections()).toBeGreaterThan(0)
    await expect.poll(connections, { timeout: 5_000 }).toBe(0)
  })
})

describe('callers who send slowly', () => {
  it.each([
    ['nothing at all', ''],
    ['half a request line', 'GET /'],
    ['headers without an end', 'GET / HTTP/1.1\r\nhost: x\r\nx-a: b\r\n'],
  ])(verifies('A1', '%s: 408'), async (_name, bytes) => {
    const caller = await dial(await start(ok, { headersTimeoutMs: 100 }), bytes)
    await caller.closed
    expect(caller.text()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"error_type":"invalid_request"/)
  })

  it(verifies('A1', 'a header now and then, without end: 408, too'), async () => {
    const caller = await dial(await start(ok, { headersTimeoutMs: 150 }), 'GET / HTTP/1.1\r\n')
    const drip = setInterval(() => caller.socket.write('x-a: b\r\n'), 20)
    await caller.closed
    clearInterval(drip)
    expect(caller.text()).toMatch(/^HTTP\/1\.1 408 /)
  })

  const reading =
    (stallMs: number): RouteHandler =>
    (request, response) =>
      void readBody(request, { limitBytes: 1_000, stallMs }).then(
        () => response.end('fine'),
        (error: { status: number }) => response.writeHead(error.status, { connection: 'close' }).end(),
      )
  const POST = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n'

  it(verifies('A1', 'a body that stops: 408'), async () => {
    const caller = await dial(await start(reading(50)), `${POST}{`)
    await caller.closed
    expect(caller.text()).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('a body whose caller leaves is given up at once', async () => {
    const read = Promise.withResolvers<unknown>()
    const port = await start((request) => void readBody(request, { limitBytes: 1_000 }).then(read.resolve, read.resolve))
    const caller = await dial(port, `${POST}{`)
    setTimeout(() => caller.socket.destroy(), 20)
    expect(await read.promise).toMatchObject({ errorType: 'invalid_request', message: expect.stringContaining('closed before the whole body') })
  })

  it(verifies('A1', 'a body that never stops dripping: 408 when the whole request has taken too long'), async () => {
    const caller = await dial(await start(reading(5_000), { requestTimeoutMs: 150, headersTimeoutMs: 100 }), POST)
    const drip = setInterval(() => caller.socket.write(' '), 20)
    await caller.closed
    clearInterval(drip)
    expect(caller.text()).toMatch(/^HTTP\/1\.1 408 /)
  })
})

describe('callers who read slowly', () => {
  const large: RouteHandler = (_request, response) => void response.end(Buffer.alloc(16 * 1024 * 1024, 'x'))

  it.each([
    ['an answer', GET],
    ['answers that pile up on one connection', GET.repeat(100)],
  ])(verifies('D4', 'are disconnected when they read nothing of %s'), async (_name, bytes) => {
    const port = await start(large, { stallTimeoutMs: 60, minBytesPerSecond: 1e9 })
    const caller = await dial(port, bytes)
    caller.socket.pause()
    await expect.poll(() => connections(), { timeout: 5_000 }).toBe(0)
  })

  it(verifies('D4', 'A2', 'get time for buffered data, because their line may be slow'), async () => {
    await dial(await start(large, { stallTimeoutMs: 60, minBytesPerSecond: 1e6 }), GET).then(({ socket }) => socket.pause())
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await connections()).toBe(1)
  })

  it(verifies('A2', 'A9', 'get one answer after another: what is pipelined behind it is not even begun'), async () => {
    let begun = 0
    const port = await start((_request, response) => void (begun++, response.end(Buffer.alloc(16 * 1024 * 1024, 'x'))))
    const caller = await dial(port, GET.repeat(200))
    caller.socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(begun).toBe(1)
  })

  it(verifies('A9', 'who pipeline without end are disconnected'), async () => {
    const caller = await dial(await start(() => undefined), GET.repeat(400))
    await caller.closed
  })

  it('who continue to read are not', async () => {
    const caller = await dial(await start(large, { stallTimeoutMs: 600 }), GET)
    let read = 0
    caller.socket.on('data', (chunk: Buffer) => (read += chunk.length))
    await expect.poll(() => read, { timeout: 5_000 }).toBeGreaterThan(16 * 1024 * 1024)
  })

  it(verifies('A2', 'a stream whose caller stops reading is ended after its limit, and the handler is notified'), async () => {
    const keepAlive = new KeepAlive()
    const port = await start((_request, response) => {
      const body = new SseBody(response, keepAlive, () => ({ 'content-type': 'text/event-stream' }), undefined, 100)
      void (async () => {
        for (;;) await body.write(`data: ${'x'.repeat(64 * 1024)}\n\n`)
      })().catch((error: Error) => {
        failures.push(error.message)
        body.release()
      })
    })
    const failures: string[] = []
    const caller = await dial(port, GET)
    caller.socket.pause()
    await expect.poll(() => failures, { timeout: 5_000 }).toEqual(['The caller stopped reading'])
    caller.socket.resume()
    await caller.closed
  })
})

describe('a stream that is silent', () => {
  it(verifies('P40', 'carries comments from the start, every ten seconds, and none while content flows'), async () => {
    let body: SseBody | undefined
    const port = await start(
      (_request, response) => void (body = new SseBody(response, new KeepAlive(), () => ({ 'content-type': 'text/event-stream' }))),
    )
    const caller = await dial(port, GET)
    await expect.poll(() => body).toBeDefined()
    const began = performance.now()
    body!.keepAlive(began + 9_000)
    expect(body!.committed).toBe(false)
    body!.keepAlive(began + 11_000)
    await expect.poll(caller.text).toMatch(/^HTTP\/1\.1 200 [\s\S]*\n: keep-alive\n\n/)
    body!.keepAlive(began + 12_000)
    void body!.write('data: 1\n\n')
    void body!.end('data: [DONE]\n\n')
    await expect.poll(caller.text).toContain('[DONE]')
    expect(caller.text().match(/^: keep-alive$/gm)).toHaveLength(1)
  })
})

describe('a connection nobody uses', () => {
  it('is kept for the announced keep-alive time, and closed then', async () => {
    const { text, closed } = await dial(await start(ok, { settings: () => ({ allowedOrigins: [], keepAliveTimeout: 1_000 }) }), GET)
    await expect.poll(text).toContain('fine')
    expect(text()).toMatch(/^keep-alive: timeout=1\r$/im)
    await closed
  })
})

describe('more connections than allowed', () => {
  it(verifies('A10', 'are closed as they come, and those that are open are served'), async () => {
    const port = await start(ok, { maxConnections: 20 })
    const first = await Promise.all(Array.from({ length: 20 }, () => dial(port, '')))
    const more = await dial(port, GET)
    await more.closed
    expect(more.text()).toBe('')
    first[7]!.socket.write(GET)
    await expect.poll(() => first[7]!.text()).toContain('fine')
    first[3]!.socket.destroy()
    await expect
      .poll(async () => {
        const next = await dial(port, GET)
        await new Promise((resolve) => setTimeout(resolve, 20))
        return next.text()
      })
      .toContain('fine')
  })
})
