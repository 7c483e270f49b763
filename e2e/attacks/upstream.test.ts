import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync, createGzip, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { makeCertificate } from './certificate.ts'
import { answerWith, chatStream, EVENTS, startRawUpstream, type RawUpstream } from './raw-upstream.ts'

/** Upstreams that violate HTTP, TLS, compression or their own format: the next endpoint serves, or the failure is reported. */
let primary: RawUpstream
let backup: FakeUpstream
let gateway: TestGateway

const TIMEOUTS = { connect: '1s', first_token: '2s', idle: '2s', total: '4s' }
type Providers = { readonly providers: readonly object[] }

async function gatewayFor(urls: readonly string[], timeouts = TIMEOUTS): Promise<TestGateway> {
  const config = chatConfig(urls) as Providers
  return startGateway({
    ...config,
    providers: config.providers.map((provider) => ({ ...provider, timeouts })),
    routing: { sticky: false, cooldown: false },
  })
}

beforeAll(async () => {
  primary = await startRawUpstream()
  backup = await startFakeUpstream(stream(chatText('from the backup')))
  gateway = await gatewayFor([primary.url, backup.url])
})
beforeEach(() => {
  primary.requests.length = 0
})
afterAll(async () => {
  await gateway.close()
  await primary.close()
  await backup.close()
})

const ask = (streamed = true, more: object = {}, at = gateway): Promise<Response> =>
  at.respond({ model: 'acme/small', input: 'hi', stream: streamed, provider: { order: ['acme', 'backup1'] }, ...more })
const textOf = async (response: Response): Promise<string> => checkWire(await response.text()).text
const memory = (): number => process.memoryUsage().rss
const MB = 1024 * 1024
/** Resolves when more can be written, or nothing any more. */
const writable = async (socket: Socket): Promise<void> => {
  const done = new AbortController()
  await Promise.race([once(socket, 'drain', done), once(socket, 'close', done)]).catch(() => undefined)
  done.abort()
}

describe('compressed answers', () => {
  const squeezed = Buffer.from(chatStream('squ', 'eezed'))
  it.each([
    ['gzip', gzipSync(squeezed)],
    ['br', brotliCompressSync(squeezed)],
    ['zstd', zstdCompressSync(squeezed)],
  ])(verifies('C21', 'in %s are read'), async (encoding, body) => {
    primary.answer = answerWith([EVENTS, `content-encoding: ${encoding}`], body)
    expect(await textOf(await ask())).toBe('squeezed')
  })

  it.each([
    ['that are not what they claim', 'gzip', squeezed],
    ['cut in the middle', 'gzip', gzipSync(squeezed).subarray(0, 60)],
    ['followed by garbage', 'gzip', Buffer.concat([gzipSync(squeezed), Buffer.from('garbage')])],
    ['damaged', 'br', Buffer.from('this is no brotli at all')],
    ['in an encoding nobody knows', 'lzw', gzipSync(squeezed)],
    ['in two encodings', 'gzip, br', brotliCompressSync(gzipSync(squeezed))],
  ])(verifies('C21', '%s move the call on'), async (_name, encoding, body) => {
    primary.answer = answerWith([EVENTS, `content-encoding: ${encoding}`], body)
    expect(await textOf(await ask())).toBe('from the backup')
  })

  // A quarter of a gigabyte of zeros in some kilobytes, which is never in memory as a whole here either.
  const bomb = (start: string): Promise<Buffer> => {
    const parts = [Buffer.from(start), ...Array<Buffer>(192).fill(Buffer.alloc(MB, 0x20))]
    return buffer(Readable.from(parts).pipe(createGzip({ level: 1 })))
  }
  it.each([
    ['a stream', EVENTS, '200 OK', 'data: '],
    ['one JSON body', 'content-type: application/json', '200 OK', '{"a":'],
    ['an error', 'content-type: application/json', '500 Internal Server Error', '{"error":'],
  ])(verifies('C21', 'that expand a lot inside %s cost bounded memory, and move the call on'), async (_name, type, line, start) => {
    primary.answer = answerWith([type, 'content-encoding: gzip'], await bomb(start), line)
    const before = memory()
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, memory())), 5)
    expect(await textOf(await ask())).toBe('from the backup')
    clearInterval(watch)
    expect(peak - before).toBeLessThan(220 * MB)
  })
})

describe('answers that break the rules of HTTP', () => {
  const good = answerWith([EVENTS], chatStream('fine'))
  it.each([
    ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'],
  ])(verifies('C23', '%s before the answer is ignored'), async (_name, informational) => {
    primary.answer = (socket) => {
      socket.write(informational)
      setTimeout(() => good(socket), 20)
    }
    const response = await ask()
    expect(response.status).toBe(200)
    expect(await textOf(response)).toBe('fine')
  })

  it.each([
    ['100 Continue that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['headers and a close', 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-ty'],
    ['a length that is not kept', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id":'],
    ['a length beside chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a head of 100 KB', `HTTP/1.1 200 OK\r\n${'x-a: '.padEnd(1_000, 'a')}\r\n`.padEnd(100_000, 'b')],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'],
  ])(verifies('C23', 'C26', '%s: the next endpoint serves'), async (_name, bytes) => {
    primary.answer = (socket) => void socket.end(bytes)
    expect(await textOf(await ask())).toBe('from the backup')
    expect(await (await ask(false)).json()).toMatchObject({ output_text: 'from the backup' })
  })

  it(verifies('C27', 'no header of theirs reaches the caller, in an answer or in an error'), async () => {
    const theirs = [
      'set-cookie: session=canary',
      'server: canary',
      'x-powered-by: canary',
      'x-request-id: canary',
      'x-generation-id: canary',
      'access-control-allow-origin: canary',
      'strict-transport-security: canary',
      'www-authenticate: canary',
      'location: http://canary/',
      'keep-alive: timeout=canary',
      'proxy-authenticate: canary',
      'trailer: canary',
      'alt-svc: canary',
      'x-ratelimit-limit-requests: canary',
    ]
    const headersOf = (response: Response): string => JSON.stringify([...response.headers])
    primary.answer = answerWith([EVENTS, ...theirs], chatStream('fine'))
    for (const streamed of [true, false]) {
      const response = await ask(streamed)
      await response.text()
      expect(headersOf(response)).not.toContain('canary')
    }
    primary.answer = answerWith(['content-type: application/json', ...theirs], '{"error":{"message":"bad"}}', '400 Bad Request')
    const refused = await ask(true, { provider: { only: ['acme'] } })
    expect(refused.status).toBe(400)
    expect(headersOf(refused)).not.toContain('canary')
  })
})

describe('events in any shape', () => {
  const whole = chatStream('za\u017c\u00f3\u0142\u0107 ', '\u{1F600}')
  it.each([
    ['carriage returns', whole.replaceAll('\n', '\r')],
    ['both', whole.replaceAll('\n', '\r\n')],
    ['comments, names, ids and retries between', whole.replaceAll('data: ', ': ping\nid: 7\nretry: 1\nevent: message\ndata: ')],
    ['several data lines an event', whole.replaceAll('"choices"', '\ndata: "choices"')],
    ['no space after the colon', whole.replaceAll('data: ', 'data:')],
    ['a BOM in front', `\uFEFF${whole}`],
    ['no line end at the end', whole.trimEnd()],
  ])(verifies('C20', 'line ends and fields: %s'), async (_name, text) => {
    primary.answer = answerWith([EVENTS], text)
    expect(await textOf(await ask())).toBe('za\u017c\u00f3\u0142\u0107 \u{1F600}')
  })

  it(verifies('C20', 'one byte at a time, or cut at 64 KB'), async () => {
    primary.answer = async (socket) => {
      socket.setNoDelay(true)
      socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\nconnection: close\r\n\r\n`)
      for (const byte of Buffer.from(whole)) {
        socket.write(Buffer.from([byte]))
        if (byte === 0x22) await pause(0)
      }
      socket.end()
    }
    expect(await textOf(await ask())).toBe('za\u017c\u00f3\u0142\u0107 \u{1F600}')
    const long = '\u{1F600}'.repeat(40_000)
    primary.answer = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\nconnection: close\r\n\r\n`)
      const bytes = Buffer.from(chatStream(long))
      for (let at = 0; at < bytes.length; at += 65_535) socket.write(bytes.subarray(at, at + 65_535))
      socket.end()
    }
    expect(await textOf(await ask())).toBe(long)
  })

  it.each([
    ['events under no type', '', whole],
    ['events under a wrong type, after blank lines', 'content-type: application/json', `\n\n${whole}`],
    ['events whose first line is a number, their type in capitals', 'content-type: TEXT/EVENT-STREAM', `id: 1\n${whole}`],
    [
      'one JSON body called events, after a heartbeat',
      EVENTS,
      `\n\n${JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'za\u017c\u00f3\u0142\u0107 \u{1F600}' }, finish_reason: 'stop' }] })}`,
    ],
  ])(verifies('C20', 'are recognised from bytes that arrive one by one: %s'), async (_name, type, text) => {
    primary.answer = async (socket) => {
      socket.setNoDelay(true)
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n${type === '' ? '' : `${type}\r\n`}\r\n`)
      const bytes = Buffer.from(text)
      for (let at = 0; at < 12; at++) {
        socket.write(bytes.subarray(at, at + 1))
        await pause(2)
      }
      socket.end(bytes.subarray(12))
    }
    expect(await textOf(await ask())).toBe('za\u017c\u00f3\u0142\u0107 \u{1F600}')
  })

  it(verifies('C20', 'one event of 10 MB passes, one without end is refused'), async () => {
    const large = 'x'.repeat(10 * MB)
    primary.answer = answerWith([EVENTS], chatStream(large))
    expect((await textOf(await ask())).length).toBe(large.length)
    primary.answer = async (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\n\r\ndata: {"`)
      while (!socket.destroyed && socket.writable) {
        if (!socket.write('x'.repeat(MB))) await writable(socket)
      }
    }
    expect(await textOf(await ask())).toBe('from the backup')
  })
})

describe('answers with strange contents', () => {
  const chat = (...events: readonly unknown[]) => answerWith([EVENTS], events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  const delta = (part: object, finish: string | null = null): object => ({
    id: 'c',
    model: 'm',
    choices: [{ index: 0, delta: part, finish_reason: finish }],
  })
  const call = (index: number, part: object): object => delta({ tool_calls: [{ index, ...part }] })
  const tools = {
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object' } },
      { type: 'function', name: 'g', parameters: {} },
    ],
  }

  it(verifies('C24', 'tool calls in pieces that come in any order make whole calls'), async () => {
    primary.answer = chat(
      call(1, { id: 'b', function: { name: 'g', arguments: '{"y"' } }),
      call(0, { id: 'a', function: { name: 'f', arguments: '' } }),
      call(1, { function: { arguments: ':2}' } }),
      call(0, { function: { arguments: '{"x":1}' } }),
      delta({}, 'tool_calls'),
    )
    const { output } = checkWire(await (await ask(true, tools)).text())
    const calls = output.map(({ name, arguments: args }) => [name, args] as const).sort()
    expect(calls).toEqual([
      ['f', '{"x":1}'],
      ['g', '{"y":2}'],
    ])
  })

  it.each([
    [
      'an id that is repeated',
      [call(0, { id: 'a', function: { name: 'f', arguments: '{}' } }), call(1, { id: 'a', function: { name: 'g', arguments: '{}' } })],
    ],
    ['no id', [call(0, { function: { name: 'f', arguments: '{}' } })]],
    ['arguments that are no JSON', [call(0, { id: 'a', function: { name: 'f', arguments: '{"x":' } })]],
    ['arguments that are an object', [call(0, { id: 'a', function: { name: 'f', arguments: { x: 1 } } })]],
    ['no arguments', [call(0, { id: 'a', function: { name: 'f' } })]],
    ['an index that is missing', [delta({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] })]],
    ['an index of a million', [call(1_000_000, { id: 'a', function: { name: 'f', arguments: '{}' } })]],
    ['a tool nobody offered', [call(0, { id: 'a', function: { name: 'rm', arguments: '{}' } })]],
  ])(verifies('C24', 'tool calls with %s make a valid answer or a clear failure'), async (_name, events) => {
    primary.answer = chat(...events, delta({}, 'tool_calls'))
    const response = await ask(true, tools)
    expect([200, 502]).toContain(response.status)
    if (response.status === 200) checkWire(await response.text())
  })

  it.each([
    ['an unknown finish reason', delta({}, 'because'), undefined],
    ['no finish reason', undefined, undefined],
    ['usage that is missing', delta({}, 'stop'), undefined],
    ['negative usage', delta({}, 'stop'), { prompt_tokens: -5, completion_tokens: -1, total_tokens: -6 }],
    ['usage of texts', delta({}, 'stop'), { prompt_tokens: 'many', completion_tokens: null, total_tokens: {} }],
    ['usage beyond all numbers', delta({}, 'stop'), { prompt_tokens: 1e308, completion_tokens: 1e308, total_tokens: Infinity }],
    [
      'parts larger than the whole',
      delta({}, 'stop'),
      { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, prompt_tokens_details: { cached_tokens: 99 } },
    ],
  ])(verifies('C24', '%s: whole usage, no negative cost'), async (_name, finish, usage) => {
    primary.answer = chat(
      delta({ content: 'words' }),
      ...(finish === undefined ? [] : [finish]),
      ...(usage === undefined ? [] : [{ id: 'c', choices: [], usage }]),
    )
    const { terminal } = checkWire(await (await ask()).text())
    const { usage: reported } = terminal['response'] as { usage: Record<string, number> | null }
    // The caller gets no invented values if the provider reported none.
    if (terminal.type === 'response.failed' || reported === null) return
    expect(reported['input_tokens']).toBeGreaterThanOrEqual(0)
    expect(reported['output_tokens']).toBeGreaterThanOrEqual(0)
    expect(reported['total_tokens']).toBe(reported['input_tokens']! + reported['output_tokens']!)
    expect(reported['cost']).toBeGreaterThanOrEqual(0)
    expect(Number.isFinite(reported['cost'])).toBe(true)
  })
})

describe('answers without end', () => {
  const endless = async (socket: Socket): Promise<void> => {
    socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\n\r\n`)
    const event = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'x'.repeat(256 * 1024) }, finish_reason: null }] })}\n\n`
    while (!socket.destroyed && socket.writable) {
      if (!socket.write(event)) await writable(socket)
    }
  }

  it(verifies('C25', 'are cut off by size, and reported as a failure'), async () => {
    primary.answer = endless
    // On any machine, the size must be what ends it, and not the time.
    const patient = await gatewayFor([primary.url], { ...TIMEOUTS, total: '60s' })
    const before = memory()
    const response = await ask(false, { provider: { only: ['acme'] } }, patient)
    expect(response.status).toBe(502)
    expect(memory() - before).toBeLessThan(1024 * MB)
    await expect.poll(() => primary.sockets.size).toBe(0)
    await patient.close()
  })

  it(verifies('C25', 'P14', 'are cut off by time, though every token comes in time; a long one that ends is complete'), async () => {
    const drip = (words: number) => async (socket: Socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\nconnection: close\r\n\r\n`)
      for (let n = 0; n < words && socket.writable; n++) {
        socket.write(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] })}\n\n`)
        await pause(100)
      }
      if (socket.writable) socket.end(chatStream())
    }
    // Longer than the first-token limit, which does not apply to this.
    primary.answer = drip(24)
    expect(await textOf(await ask())).toBe('x'.repeat(24))
    primary.answer = drip(1_000)
    const { terminal } = checkWire(await (await ask()).text())
    expect(terminal['response']).toMatchObject({ status: 'failed', error_type: 'timeout' })
  })
})

describe('one slow provider', () => {
  it(verifies('C28', 'delays no other call: with two hundred silent calls open, the next is served at once'), async () => {
    const slow = await startFakeUpstream((request, response) => {
      const body = JSON.stringify(request.body)
      if (body.includes('be quick')) return void stream(chatText('quick'))(request, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(chatEvents.text('and then '))}\n\n`)
      // A pause, as with models that reason.
      setTimeout(
        () =>
          response.end(
            chatText('done')
              .map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`))
              .join(''),
          ),
        1_200,
      )
    })
    const config = chatConfig([slow.url])
    const own = await startGateway({ ...config, routing: { sticky: false } })
    const waiting = Array.from({ length: 200 }, () =>
      own.respond({ model: 'acme/small', input: 'hi', stream: true }).then((response) => response.text()),
    )
    await expect.poll(() => slow.requests.length, { timeout: 15_000 }).toBe(200)
    const started = performance.now()
    expect(await textOf(await own.respond({ model: 'acme/small', input: 'be quick', stream: true }))).toBe('quick')
    expect(performance.now() - started).toBeLessThan(800)
    for (const text of await Promise.all(waiting)) expect(checkWire(text).text).toBe('and then done')
    await own.close()
    await slow.close()
  })
})

describe('Retry-After', () => {
  it.each([
    ['a date', 'in 30 s', 20, 31],
    ['a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT', 0, 2],
    ['an absurd number', '999999999', 1, 86_400],
    ['a number beyond all numbers', '9'.repeat(40), 0, 86_400],
    ['a negative number', '-5', 0, 60],
    ['words', 'soon', 0, 60],
    ['a date of a far year', 'Fri, 31 Dec 9999 23:59:59 GMT', 1, 86_400],
  ])(verifies('C29', 'as %s stays in bounds'), async (_name, value, least, most) => {
    primary.answer = answerWith(
      ['content-type: application/json', `retry-after: ${value === 'in 30 s' ? new Date(Date.now() + 30_000).toUTCString() : value}`],
      '{"error":{"message":"slow down"}}',
      '429 Too Many Requests',
    )
    const started = performance.now()
    const response = await ask(false, { provider: { only: ['acme'] } })
    await response.text()
    expect(response.status).toBe(429)
    const reported = Number(response.headers.get('retry-after') ?? 0)
    expect(reported).toBeGreaterThanOrEqual(least)
    expect(reported).toBeLessThanOrEqual(most)
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('a provider that ignores an abort', () => {
  it(verifies('C30', 'D1', 'writes into a closed socket: the call is over at once'), async () => {
    let written = 0
    primary.answer = async (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${EVENTS}\r\n\r\n`)
      for (;;) {
        written++
        // Continues to write whatever happens to the socket.
        socket.write(`data: ${JSON.stringify(chatEvents.text(`${written} `))}\n\n`)
        await pause(5)
        if (written > 400) return
      }
    }
    const gone = new AbortController()
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', stream: true, provider: { only: ['acme'] } }, { signal: gone.signal })
    await response.body!.getReader().read()
    const left = performance.now()
    gone.abort()
    await expect.poll(() => gateway.app.calls.size, { interval: 5 }).toBe(0)
    expect(performance.now() - left).toBeLessThan(500)
    await expect.poll(() => primary.sockets.size, { interval: 5 }).toBe(0)
    const record = await gateway.api('GET', `/api/v1/generation?id=${response.headers.get('x-generation-id')}`)
    expect(await record.json()).toMatchObject({ data: { cancelled: true } })
  })
})

describe('connections that cannot be trusted or made', () => {
  const day = 86_400_000
  const trusted = getCACertificates('default')
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    setDefaultCACertificates(trusted)
    await Promise.all(open.splice(0).map((each) => each.close()))
  })

  async function through(url: string): Promise<{ readonly text: string; readonly ms: number }> {
    const own = await gatewayFor([url, backup.url])
    open.push(own)
    const started = performance.now()
    return { text: await textOf(await ask(true, {}, own)), ms: performance.now() - started }
  }
  async function secure(host: string, from: number, to: number): Promise<string> {
    const { cert, key } = makeCertificate(host, from, to)
    setDefaultCACertificates([...trusted, cert])
    const upstream = await startRawUpstream((onSocket) => createTlsServer({ cert, key }, onSocket))
    upstream.answer = answerWith([EVENTS], chatStream('over TLS'))
    open.push(upstream)
    return upstream.url.replace('http://127.0.0.1', 'https://localhost')
  }

  it(verifies('C17', 'TLS to a certificate of the right host works: the tests below are about what differs'), async () => {
    expect((await through(await secure('localhost', Date.now() - day, Date.now() + day))).text).toBe('over TLS')
  })
  it.each([
    ['expired', 'localhost', -2 * day, -day],
    ['not valid yet', 'localhost', day, 2 * day],
    ['of another host', 'elsewhere.test', -day, day],
  ])(verifies('C17', 'a certificate that is %s: the next endpoint serves'), async (_name, host, from, to) => {
    expect((await through(await secure(host, Date.now() + from, Date.now() + to))).text).toBe('from the backup')
  })
  it(verifies('C17', 'a certificate of an unknown authority: the next endpoint serves'), async () => {
    const url = await secure('localhost', Date.now() - day, Date.now() + day)
    setDefaultCACertificates(trusted)
    expect((await through(url)).text).toBe('from the backup')
  })
  it(verifies('C17', 'a name that does not resolve: the next endpoint serves'), async () => {
    expect((await through('http://no-such-host.invalid/v1')).text).toBe('from the backup')
  })
  it(verifies('C17', 'P11', 'a handshake that never ends costs the connect limit'), async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { text, ms } = await through(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`)
    expect(text).toBe('from the backup')
    expect(ms).toBeLessThan(6_000)
    silent.close()
  })
  it(verifies('C17', 'plain HTTP where TLS is expected, and the reverse: the next endpoint serves'), async () => {
    primary.answer = answerWith([EVENTS], chatStream('plain'))
    expect((await through(primary.url.replace('http:', 'https:'))).text).toBe('from the backup')
    expect((await through((await secure('localhost', Date.now() - day, Date.now() + day)).replace('https:', 'http:'))).text).toBe('from the backup')
  })
})

it(verifies('C22', 'a redirect is not followed, and no credential travels'), async () => {
  let visited = 0
  const elsewhere = await startFakeUpstream((request, response) => {
    visited++
    void stream(chatText('stolen'))(request, response)
  })
  for (const code of ['301 Moved Permanently', '302 Found', '303 See Other', '307 Temporary Redirect', '308 Permanent Redirect']) {
    primary.answer = answerWith([`location: ${elsewhere.url}/chat/completions`], '', code)
    expect(await textOf(await ask())).toBe('from the backup')
  }
  expect(visited).toBe(0)
  await elsewhere.close()
})
