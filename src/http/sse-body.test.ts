import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import { KeepAlive, SseBody } from './sse-body.ts'

const HEADERS = { 'content-type': 'text/event-stream' }
let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  await (server?.listening === true ? once(server, 'close') : undefined)
})

/** A streamed answer and the caller who has its head; nothing of it is read yet. */
async function open(stallMs: number, first = ': begin\n\n'): Promise<{ readonly body: SseBody; readonly answer: IncomingMessage }> {
  const opened = Promise.withResolvers<SseBody>()
  server = createServer((_request, response) => {
    const body = new SseBody(response, new KeepAlive(), () => HEADERS, undefined, stallMs)
    void body.write(first)
    opened.resolve(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const call = request({ port: (server.address() as AddressInfo).port, agent: false })
  call.end()
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined)
  return { body: await opened.promise, answer }
}

/** Reads a little, rests a little, until the end. */
async function readSteadily(answer: IncomingMessage, restMs: number): Promise<number> {
  let bytes = 0
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length
    await pause(restMs)
  }
  return bytes
}

describe('many small events', () => {
  it(verifies('A2', 'wait for a caller who reads nothing, and go on when he does'), async () => {
    const { body, answer } = await open(5_000)
    const event = `data: ${'x'.repeat(1_024)}\n\n`
    let written = 0
    let waiting: Promise<void> | undefined
    for (; waiting === undefined && written < 20_000; written++) waiting = body.write(event)
    expect(waiting).toBeDefined()
    // The kernel may take more than one buffer; what stands in ours is a few events.
    expect(written).toBeLessThan(10_000)
    const drained = vi.fn()
    const watched = waiting!.then(drained)
    answer.resume()
    await watched
    expect(drained).toHaveBeenCalledOnce()
    void body.end('')
  })
})

describe('an event of many megabytes', () => {
  it(verifies('A2', 'is given to a caller who reads slowly and steadily, however long it takes'), async () => {
    const { body, answer } = await open(1_500)
    const event = `data: ${'x'.repeat(64 * 1024 * 1024)}\n\n`
    const reading = readSteadily(answer, 5)
    const began = performance.now()
    await body.write(event)
    expect(performance.now() - began).toBeGreaterThan(1_500)
    void body.end('')
    expect(await reading).toBe(': begin\n\n'.length + event.length)
  })

  it(verifies('A2', 'is given up when its caller stops in the middle'), async () => {
    const { body, answer } = await open(200)
    let bytes = 0
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > 1024 * 1024) answer.pause()
    })
    const began = performance.now()
    await expect(body.write(`data: ${'x'.repeat(64 * 1024 * 1024)}\n\n`)).rejects.toThrow('The caller stopped reading')
    expect(performance.now() - began).toBeLessThan(5_000)
    body.release()
  })

  it('arrives as it was, wherever it is cut, and no comment within it', async () => {
    const { body, answer } = await open(5_000, ':\n\n')
    // Characters of two code units, at odd places.
    const event = `data: .${'😀'.repeat(1_000_000)}\n\n`
    const written = body.write(event)
    const reading = text(answer)
    // A tick of the timer at every moment.
    const done = new AbortController()
    const ticking = (async () => {
      for (; !done.signal.aborted; await nextTurn()) body.keepAlive(performance.now() + 11_000)
    })()
    await written
    done.abort()
    await ticking
    void body.end('')
    const got = await reading
    expect(got.startsWith(`:\n\n${event}`)).toBe(true)
  })

  it('ends at once with a caller who is gone', async () => {
    const { body, answer } = await open(60_000)
    const written = body.write(`data: ${'x'.repeat(64 * 1024 * 1024)}\n\n`)
    answer.destroy()
    await written
    await body.write('data: more\n\n')
    body.release()
  })
})

describe('keep-alives', () => {
  afterEach(() => void vi.useRealTimers())

  it('continue for a stream that began when another ended, even if that one is released again', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const keepAlive = new KeepAlive()
    const written: string[] = []
    const silent = { headersSent: true, write: (words: string) => written.push(words), end: () => undefined } as unknown as ServerResponse
    const first = new SseBody(silent, keepAlive, () => HEADERS)
    void first.end('')
    const second = new SseBody(silent, keepAlive, () => HEADERS)
    first.release()
    vi.advanceTimersByTime(15_000)
    expect(written).toEqual([': keep-alive\n\n'])
    second.release()
    vi.advanceTimersByTime(60_000)
    expect(written).toHaveLength(1)
  })
  it('are not written to a caller who is behind, nor soon after something was written', () => {
    const written: string[] = []
    const answer = { headersSent: true, writableNeedDrain: true, write: (words: string) => written.push(words) > 0, end: () => undefined }
    const body = new SseBody(
      answer as unknown as ServerResponse,
      new KeepAlive(),
      () => HEADERS,
      () => 'ping',
    )
    const began = performance.now()
    body.keepAlive(began + 60_000)
    answer.writableNeedDrain = false
    body.keepAlive(began + 9_000)
    expect(written).toEqual([])
    body.keepAlive(began + 60_000)
    body.keepAlive(began + 69_000)
    expect(written).toEqual(['ping'])
    body.keepAlive(began + 70_001)
    expect(written).toEqual(['ping', 'ping'])
    body.release()
  })

  it.each<readonly [string, (body: SseBody) => void]>([
    ['an event', (body) => void body.write('data: 1\n\n')],
    ['a keep-alive', (body) => body.keepAlive(performance.now() + 60_000)],
    ['the end', (body) => body.end('data: 1\n\n')],
  ])('and content decide the status once, whichever comes first: %s', (_what, first) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const heads: unknown[] = []
    const answer = {
      headersSent: false,
      writeHead: (...head: unknown[]) => ((answer.headersSent = true), heads.push(head)),
      write: () => true,
      end: () => undefined,
    }
    const body = new SseBody(answer as unknown as ServerResponse, new KeepAlive(), () => HEADERS)
    expect(body.committed).toBe(false)
    first(body)
    expect(body.committed).toBe(true)
    void body.end('')
    expect(heads).toEqual([[200, HEADERS]])
    // And whoever has ended is looked at no more.
    expect(vi.getTimerCount()).toBe(0)
  })
})
