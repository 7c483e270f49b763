import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHttpClient, HttpFailure, type Exchange, type HttpClientOptions } from './http-client.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => (server.closeAllConnections(), server.close()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function serveRaw(answer: string): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function send(url: string, options: HttpClientOptions = {}): Exchange {
  const client = createHttpClient(options)
  cleanups.push(() => client.close())
  return client.send({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}', connectTimeoutMs: 1000 })
}

async function text(exchange: Exchange): Promise<string> {
  const chunks: Buffer[] = []
  for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) chunks.push(...read)
  return Buffer.concat(chunks).toString()
}

describe('connections', () => {
  /** A server that counts its connections and answers `/slow` when told. */
  async function counting() {
    const open = new Set<unknown>()
    let made = 0
    let answer: (() => void) | undefined
    const server = createServer((request, response) => {
      if (request.url === '/slow') answer = () => response.end('late')
      else response.end('ok')
    }).listen(0, '127.0.0.1')
    server.on('connection', (socket) => {
      made++
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    })
    await once(server, 'listening')
    cleanups.push(() => (server.closeAllConnections(), server.close()))
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      open,
      made: () => made,
      asked: () => answer !== undefined,
      answer: () => answer?.(),
    }
  }
  function caller(options: HttpClientOptions): (url: string) => Exchange {
    const client = createHttpClient(options)
    cleanups.push(() => client.close())
    return (url) => client.send({ url, method: 'GET', headers: {}, connectTimeoutMs: 1000 })
  }

  it('are used again', async () => {
    const { url, made } = await counting()
    const call = caller({})
    for (let n = 0; n < 5; n++) expect(await text(call(url))).toBe('ok')
    // A second connection is opened if a call arrives in the turn in which the last answer ends.
    expect(made()).toBeLessThanOrEqual(2)
  })

  it('to more origins than are kept are closed, the longest unused first', async () => {
    const [a, b, c] = [await counting(), await counting(), await counting()]
    const call = caller({ maxOrigins: 2 })
    for (const { url } of [a, b, a, c]) expect(await text(call(url))).toBe('ok')
    await vi.waitFor(() => expect([a.open.size, b.open.size, c.open.size]).toEqual([1, 0, 1]))
  })

  it('to an origin that is no longer used are closed, after their requests', async () => {
    let now = 0
    const [a, b] = [await counting(), await counting()]
    const call = caller({ forgetAfterMs: 1_000, now: () => now })
    const slow = call(`${a.url}/slow`)
    await vi.waitFor(() => expect(a.asked()).toBe(true))
    now = 2_000
    expect(await text(call(b.url))).toBe('ok')
    a.answer()
    expect(await text(slow)).toBe('late')
    await vi.waitFor(() => expect([a.open.size, b.open.size]).toEqual([0, 1]))
  })

  it('that are under way end with the client, their origin forgotten or not', async () => {
    const [a, b] = [await counting(), await counting()]
    const client = createHttpClient({ maxOrigins: 1 })
    const start = (url: string): Exchange => client.send({ url, method: 'GET', headers: {}, connectTimeoutMs: 1000 })
    const slow = start(`${a.url}/slow`)
    await vi.waitFor(() => expect(a.asked()).toBe(true))
    expect(await text(start(b.url))).toBe('ok')
    await client.close()
    await expect(slow.head).rejects.toBeInstanceOf(HttpFailure)
  })
})

describe('createHttpClient', () => {
  it('gives status, headers and the whole body', async () => {
    const url = await serve((request, response) => request.resume().on('end', () => response.writeHead(201, { 'x-a': 'b' }).end('hello')))
    const exchange = send(`${url}/v1/x?y=1`)
    expect(await exchange.head).toMatchObject({ status: 201, headers: { 'x-a': 'b' } })
    expect(await text(exchange)).toBe('hello')
  })

  it('gathers the HTTP chunks of one turn into one read', async () => {
    const body = Array.from({ length: 50 }, () => '1\r\nx\r\n').join('')
    const url = await serveRaw(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`)
    const exchange = send(url)
    await exchange.head
    const first = await exchange.read()
    expect(first).toHaveLength(50)
  })

  it('pauses the socket while the reader is slow and loses nothing', async () => {
    // More than the kernel may buffer between the two: with large buffers 4 MB on one side and 32 MB on the other.
    const size = 48 * 1024 * 1024
    let written = 0
    const url = await serve((_request, response) => {
      const block = Buffer.alloc(64 * 1024, 'x')
      const pump = (): void => {
        while (written < size) {
          written += block.length
          if (!response.write(block)) return void response.once('drain', pump)
        }
        response.end()
      }
      pump()
    })
    const exchange = send(url, { highWaterBytes: 64 * 1024 })
    await exchange.head
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(written).toBeLessThan(size)
    expect((await text(exchange)).length).toBe(size)
  })

  it('tells a refused connection from one that ended early', async () => {
    await expect(send('http://127.0.0.1:1').head).rejects.toMatchObject({ kind: 'connect', sent: false })
    const server = createTcpServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    await expect(send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).head).rejects.toMatchObject({ kind: 'reset', sent: true })
  })

  it.each([
    ['a refusal in TLS', '\x15\x03\x03\x00\x02\x02\x28'],
    ['settings of HTTP/2', '\x00\x00\x00\x04\x00\x00\x00\x00\x00'],
    ['text without a head', 'data: hello\n\n'],
    ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello'],
  ])('says that %s is no HTTP, and not that the connection ended', async (_what, answer) => {
    const failure = send(await serveRaw(answer)).head
    await expect(failure).rejects.toMatchObject({ kind: 'protocol', sent: true, message: expect.stringContaining('breaks HTTP') })
  })

  it.each([
    ['100 Continue, which nobody asked for', ['HTTP/1.1 100 Continue\r\n\r\n']],
    ['102 Processing', ['HTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 102 Processing\r\n\r\n']],
    ['103 Early Hints', ['HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\ncontent-encoding: gzip\r\n\r\n']],
    ['several kinds', ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nx-hint: 1\r\n\r\nHTTP/1.1 100 Conti', 'nue\r\nx: y\r\n\r\n']],
  ])('skips %s, before its answer', async (_what, before) => {
    let connections = 0
    const server = createTcpServer((socket) => {
      connections++
      const answer = async (): Promise<void> => {
        for (const each of before) {
          socket.write(each)
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-real: yes\r\n\r\nhi')
      }
      socket.on('data', () => void answer())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const client = createHttpClient()
    cleanups.push(() => client.close())
    for (let n = 0; n < 2; n++) {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const exchange = client.send({ url, method: 'POST', headers: {}, body: '{}', connectTimeoutMs: 1000 })
      expect(await exchange.head).toMatchObject({ status: 200, headers: { 'x-real': 'yes' } })
      expect(await text(exchange)).toBe('hi')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(connections).toBe(1)
  })

  it('gives up on an answer that is announced for ever', async () => {
    const exchange = send(await serveRaw('HTTP/1.1 102 Processing\r\n\r\n'.repeat(5_000)))
    await expect(exchange.head).rejects.toMatchObject({ kind: 'protocol', message: expect.stringContaining('102') })
  })

  it('takes an answer in chunks that ends in the middle of one for one that ended early', async () => {
    const server = createTcpServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n9\r\nhel')),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    await expect(text(send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))).rejects.toMatchObject({ kind: 'reset' })
  })

  it('reports a body that is cut short as a failure, not as an end', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('partial')
      setTimeout(() => response.destroy(), 20)
    })
    const exchange = send(url)
    await exchange.head
    await expect(text(exchange)).rejects.toBeInstanceOf(HttpFailure)
  })

  it.each([
    ['broken HTTP', 'this is no length of a chunk\r\n'],
    ['a length that is none', '5\r\nhel'],
  ])('gives the data before %s in the same packet, and then the failure', async (_what, rest) => {
    const server = createTcpServer((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 429 Too Many\r\nretry-after: 7\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n${rest}`)),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const exchange = send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect(await exchange.head).toMatchObject({ status: 429, headers: { 'retry-after': '7' } })
    expect(Buffer.concat((await exchange.read()) ?? []).toString()).toMatch(/^hi/)
    const left = async (): Promise<void> => {
      while ((await exchange.read()) !== undefined);
    }
    await expect(left()).rejects.toBeInstanceOf(HttpFailure)
  })

  it('gives buffered data to a waiting reader when it is cancelled, and then ends', async () => {
    const url = await serve((_request, response) => void response.writeHead(200).write('early'))
    const exchange = send(url)
    await exchange.head
    expect(Buffer.concat((await exchange.read()) ?? []).toString()).toBe('early')
    const next = exchange.read()
    exchange.cancel()
    await expect(next).rejects.toMatchObject({ kind: 'cancelled' })
    await expect(exchange.read()).rejects.toMatchObject({ kind: 'cancelled' })
  })

  it('cancels before the head and while reading, and the server sees the connection go', async () => {
    let closed = 0
    const url = await serve((request, response) => {
      response.on('close', () => closed++)
      if (request.url === '/stream') response.write('a')
    })
    const silent = send(`${url}/silent`)
    setTimeout(() => silent.cancel(), 50)
    await expect(silent.head).rejects.toMatchObject({ kind: 'cancelled' })
    const stream = send(`${url}/stream`)
    await stream.head
    await stream.read()
    const pending = stream.read()
    stream.cancel()
    await expect(pending).rejects.toMatchObject({ kind: 'cancelled' })
    await expect.poll(() => closed).toBe(2)
  })

  it('opens compressed answers that nobody asked for', async () => {
    const url = await serve((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('squeezed')))
    const exchange = send(url)
    await exchange.head
    expect(await text(exchange)).toBe('squeezed')
  })

  it.each(['identity', 'gzip, identity', ' , GZIP'])('opens answers whose compression is written as %j', async (encoding) => {
    const body = encoding === 'identity' ? 'squeezed' : gzipSync('squeezed')
    const url = await serve((_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body))
    const exchange = send(url)
    await exchange.head
    expect(await text(exchange)).toBe('squeezed')
  })

  it.each(['gzip, gzip', 'compress', 'constructor'])('reports that the compression %j cannot be decoded', async (encoding) => {
    const url = await serve((_request, response) => response.writeHead(500, { 'content-encoding': encoding }).end('squeezed'))
    const exchange = send(url)
    expect((await exchange.head).status).toBe(500)
    await expect(text(exchange)).rejects.toMatchObject({ kind: 'protocol', message: expect.stringContaining(encoding) })
  })

  it('lets go of an answer that goes on behind its compressed text', async () => {
    let closed = false
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'br' }).write(Buffer.concat([brotliCompressSync('squeezed'), Buffer.alloc(1_000)]))
      response.on('close', () => (closed = true))
    })
    const exchange = send(url)
    await exchange.head
    expect(String((await exchange.read())?.[0])).toBe('squeezed')
    const pending = exchange.read()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(exchange.ended).toBe(false)
    exchange.cancel()
    await expect(pending).rejects.toMatchObject({ kind: 'cancelled' })
    await expect.poll(() => closed).toBe(true)
  })

  it('takes an answer with bytes behind its compressed text as whole once all has arrived', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'br' }).write(Buffer.concat([brotliCompressSync('squeezed'), Buffer.alloc(1_000)]))
      setTimeout(() => response.end('more'), 50)
    })
    const exchange = send(url)
    await exchange.head
    expect(await text(exchange)).toBe('squeezed')
    expect(exchange.ended).toBe(true)
  })

  it('reads no more of a compressed answer than has been decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(1 << 26))
    let sent = 0
    const url = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      const more = (): void => {
        do sent += bomb.length
        while (response.write(bomb))
      }
      response.on('drain', more)
      request.once('end', more).resume()
    })
    const exchange = send(url)
    await exchange.head
    await exchange.read()
    await new Promise((resolve) => setTimeout(resolve, 200))
    const before = sent
    for (let reads = 0; reads < 1_000; reads++) await exchange.read()
    expect(sent - before).toBeLessThan(1 << 22)
  })
})
