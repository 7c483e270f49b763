import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openFilesLimit } from '../../src/lib/open-files.ts'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { heldMemory } from '../../src/testing/held-memory.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { bearer, exchange, open, portOf, request } from './raw-client.ts'
import { EVENTS, startRawUpstream } from './raw-upstream.ts'

/** Callers that read slowly, close half of the connection, repeat themselves, or only stay connected. */
const MB = 1024 * 1024
const call = (body: object): string =>
  request('POST', '/api/v1/responses', [bearer(TEST_KEY)], JSON.stringify({ model: 'acme/small', input: 'hi', ...body }))

describe('a caller of a stream', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  const sockets: Socket[] = []
  beforeAll(async () => {
    upstream = await startFakeUpstream()
    gateway = await startGateway(chatConfig([upstream.url]))
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await expect.poll(() => gateway.app.calls.size).toBe(0)
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })
  const dial = async (bytes: string): Promise<Socket> => {
    const socket = await open(portOf(gateway.url), bytes)
    sockets.push(socket)
    return socket
  }

  it(verifies('A2', 'who reads nothing costs a bounded buffer: the provider is slowed down, and its answer is not stored'), async () => {
    const source = await startRawUpstream()
    const own = await startGateway(chatConfig([source.url]))
    let taken = 0
    source.answer = async (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\n\r\n`)
      const event = `data: ${JSON.stringify(chatEvents.text('x'.repeat(64 * 1024)))}\n\n`
      while (socket.writable && taken < 400 * MB) {
        taken += event.length
        if (!socket.write(event)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined)
      }
    }
    const before = await heldMemory()
    const slow = await open(portOf(own.url), call({ stream: true }))
    slow.pause()
    await expect
      .poll(async () => {
        const now = taken
        await pause(150)
        return taken - now
      })
      .toBe(0)
    // What is in the kernel's buffers and ours, and no more.
    expect(taken).toBeLessThan(40 * MB)
    // The answer so far, which its last event repeats, and the buffers.
    expect((await heldMemory()) - before).toBeLessThan(taken + 16 * MB)
    expect(own.app.calls.size).toBe(1)
    slow.destroy()
    await expect.poll(() => source.sockets.size).toBe(0)
    await expect.poll(() => own.app.calls.size).toBe(0)
    await own.close()
    await source.close()
  })

  it(verifies('D2', 'who closes the sending half counts as gone, during the stream and before it'), async () => {
    for (const events of [[chatEvents.role()], [chatEvents.role(), chatEvents.text('a')]]) {
      upstream.script(stream(events, { then: 'hang' }))
      const seen = upstream.requests.length
      const socket = await dial(call({ stream: true }))
      await expect.poll(() => upstream.requests.length, { interval: 5 }).toBe(seen + 1)
      await pause(30)
      const left = performance.now()
      socket.end()
      await expect.poll(() => upstream.requests.at(-1)!.abortedAt, { interval: 5 }).toBeDefined()
      expect(upstream.requests.at(-1)!.abortedAt! - left).toBeLessThan(100)
    }
  })

  it.each([
    ['half a request', 'GET /healthz HTTP/1.1\r\nhost'],
    ['what is no HTTP', '\x00\r\n\r\n'],
    ['a tunnel that is asked for', 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n\r\n'],
    ['an expectation nobody meets', request('GET', '/healthz', ['expect: 200-ok'])],
  ])(verifies('D1', 'D2', 'who closes it, or the whole connection, after sending %s counts as gone as well'), async (_what, bytes) => {
    for (const leave of ['end', 'destroy'] as const) {
      upstream.script(stream([chatEvents.role(), chatEvents.text('a')], { then: 'hang' }))
      const seen = upstream.requests.length
      const socket = await dial(call({ stream: true }).replace('connection: close\r\n', '') + bytes)
      await expect.poll(() => upstream.requests.length, { interval: 5 }).toBe(seen + 1)
      await pause(30)
      const left = performance.now()
      socket[leave]()
      await expect.poll(() => upstream.requests.at(-1)!.abortedAt, { interval: 5 }).toBeDefined()
      expect(upstream.requests.at(-1)!.abortedAt! - left).toBeLessThan(100)
    }
  })

  it(verifies('D2', 'who closes it after half a body counts as gone as well, and no provider is asked'), async () => {
    const seen = upstream.requests.length
    const socket = await dial(call({}).slice(0, -5))
    socket.resume().end()
    await once(socket, 'close')
    expect(upstream.requests).toHaveLength(seen)
  })

  it(verifies('D1', 'who leaves while the provider is being connected to is noticed at once'), async () => {
    // This address accepts connections but never answers the TLS hello.
    const silent = await startRawUpstream()
    silent.answer = () => undefined
    const own = await startGateway(chatConfig([silent.url.replace('http:', 'https:')]))
    const socket = await open(portOf(own.url), call({ stream: true }))
    await expect.poll(() => own.app.calls.size, { interval: 5 }).toBe(1)
    await expect.poll(() => silent.sockets.size, { interval: 5 }).toBe(1)
    const left = performance.now()
    socket.destroy()
    await expect.poll(() => own.app.calls.size, { interval: 5 }).toBe(0)
    expect(performance.now() - left).toBeLessThan(150)
    await own.close()
    await silent.close()
  })

  it(verifies('D3', 'who repeats one call with the same idempotency key a hundred times has made a hundred calls'), async () => {
    upstream.script(stream(chatText('each its own')))
    const seen = upstream.requests.length
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const response = await gateway.respond(
          { model: 'acme/small', input: `number ${n}` },
          { headers: { 'idempotency-key': 'same', 'x-request-id': 'same' } },
        )
        return { id: response.headers.get('x-generation-id'), status: response.status, body: (await response.json()) as { id: string } }
      }),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(100)
    expect(answers.every(({ id, body }) => id === body.id)).toBe(true)
    expect(upstream.requests.length - seen).toBe(100)
    await gateway.app.sink.flush()
    const record = await gateway.api('GET', `/api/v1/generation?id=${answers[42]!.id}`)
    expect(await record.json()).toMatchObject({ data: { id: answers[42]!.id, request_id: 'same' } })
  })
})

describe('thousands of connections', () => {
  const BODY = '{"model":"acme/small","input":"hi"}'
  const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
  let directory: string
  let upstream: FakeUpstream
  const children: ChildProcess[] = []
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'signalbox-many-'))
    upstream = await startFakeUpstream(stream(chatText('served')))
    await writeFile(join(directory, 'signalbox.yaml'), JSON.stringify(chatConfig([upstream.url])))
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  afterAll(async () => {
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })

  async function start(shell = ''): Promise<{ readonly port: number; readonly pid: number }> {
    const command = `${shell} exec ${process.execPath} ${MAIN} serve`
    const child = spawn('bash', ['-c', command], {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', SIGNALBOX_PORT: '0', SIGNALBOX_API_KEY: TEST_KEY, SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY },
    })
    children.push(child)
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
    await expect.poll(() => out, { timeout: 15_000, interval: 20 }).toMatch(/listens on http:\/\/127\.0\.0\.1:\d+/)
    return { port: Number(/listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(out)![1]), pid: child.pid! }
  }
  const residentKb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
  const served = async (port: number): Promise<boolean> => {
    const { statuses } = await exchange(port, request('POST', '/api/v1/responses', [bearer(TEST_KEY)], BODY))
    return statuses[0] === 200
  }
  const dialMany = async (port: number, count: number, bytes: string): Promise<Socket[]> => {
    const sockets: Socket[] = []
    for (let at = 0; at < count; at += 500) {
      const some = Array.from({ length: Math.min(500, count - at) }, () => open(port, bytes).catch(() => undefined))
      sockets.push(...(await Promise.all(some)).filter((socket) => socket !== undefined))
    }
    return sockets
  }

  it.runIf(process.platform === 'linux')(
    verifies('A10', 'that were used once and are idle cost less than 20 KB each, and the next caller is served'),
    { timeout: 60_000 },
    async () => {
      const { port, pid } = await start()
      expect(await served(port)).toBe(true)
      const before = residentKb(pid)
      // Both sides run on this machine, and the gateway reserves half of its files for upstreams.
      const many = Math.min(9_000, Math.floor(((openFilesLimit() ?? 1_024) - 512) / 2))
      const sockets = await dialMany(port, many, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
      expect(sockets).toHaveLength(many)
      expect(await served(port)).toBe(true)
      expect((residentKb(pid) - before) / sockets.length).toBeLessThan(20)
      for (const socket of sockets) socket.destroy()
      await expect.poll(() => served(port), { timeout: 10_000 }).toBe(true)
    },
  )

  it.runIf(process.platform === 'linux')(
    verifies('A10', 'more than the limit of open files allows: some wait to be accepted, the others are served, and afterwards all are'),
    { timeout: 60_000 },
    async () => {
      const { port } = await start('ulimit -n 400;')
      expect(await served(port)).toBe(true)
      const inside = await Promise.all([1, 2, 3, 4].map(() => open(port, '')))
      const sockets = await dialMany(port, 600, '')
      // The first callers are served, including upstream connections, although the others use all the files that they may.
      const answers = inside.map((socket) => new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString()))))
      for (const socket of inside) socket.write(request('POST', '/api/v1/responses', [bearer(TEST_KEY)], BODY, { keep: true }))
      for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      for (const socket of [...sockets, ...inside]) socket.destroy()
      await expect.poll(() => served(port), { timeout: 10_000 }).toBe(true)
    },
  )
})
