import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldMemory } from '../../src/testing/held-memory.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { bearer, exchange, open, portOf, request, type RawAnswer } from './raw-client.ts'

/** Attacks on HTTP itself, as bytes on a socket. */
let upstream: FakeUpstream
let gateway: TestGateway
let port: number

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url]))
  port = portOf(gateway.url)
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const KEY = bearer(TEST_KEY)
const BODY = JSON.stringify({ model: 'acme/small', input: 'hi' })
const HEX = BODY.length.toString(16)
const post = (headers: readonly string[], body = BODY, framed = false): string =>
  request('POST', '/api/v1/responses', [KEY, ...headers], body, { framed })
const framed = (headers: readonly string[], body: string): string => post(headers, body, true)

function expectEnvelope({ text }: RawAnswer, status: number): void {
  const body = text.slice(text.lastIndexOf('\r\n\r\n') + 4)
  expect(JSON.parse(body)).toMatchObject({ error: { code: status, metadata: { error_type: 'invalid_request', source: 'gateway' } } })
}

describe('a message that two servers could read differently', () => {
  const chunked = 'transfer-encoding: chunked'
  it.each([
    ['a length beside chunks', framed([chunked, 'content-length: 3'], '0\r\n\r\n')],
    ['chunks beside a length', framed(['content-length: 3', chunked], '0\r\n\r\n')],
    ['two lengths', framed(['content-length: 2', 'content-length: 5'], '{}')],
    ['two equal lengths', framed(['content-length: 2', 'content-length: 2'], '{}')],
    ['a list of lengths', framed(['content-length: 2, 2'], '{}')],
    ['a signed length', framed(['content-length: +2'], '{}')],
    ['a negative length', framed(['content-length: -2'], '{}')],
    ['a length beyond 64 bits', framed(['content-length: 99999999999999999999'], '{}')],
    ['a length in hexadecimal', framed(['content-length: 0x2'], '{}')],
    ['a space before the colon', framed(['transfer-encoding : chunked'], '0\r\n\r\n')],
    ['an unknown transfer coding', framed(['transfer-encoding: xchunked'], '0\r\n\r\n')],
    ['chunked that is not the last coding', framed(['transfer-encoding: chunked, identity'], '0\r\n\r\n')],
    ['chunked twice', framed([chunked, 'transfer-encoding: identity'], '0\r\n\r\n')],
    ['a folded header', post(['x-a: b\r\n c'])],
    ['a header that begins the line with a space', post([' transfer-encoding: chunked'])],
    ['a header without a name', post([': chunked'])],
    ['a line feed that ends a chunk extension', framed([chunked], `${HEX};a\n${BODY}\r\n0\r\n\r\n`)],
    ['a chunk extension of 70 KB', framed([chunked], `${HEX};${'a'.repeat(70_000)}\r\n${BODY}\r\n0\r\n\r\n`)],
    ['a negative chunk', framed([chunked], `-2\r\n{}\r\n0\r\n\r\n`)],
    ['a chunk size beyond 64 bits', framed([chunked], `${'f'.repeat(17)}\r\n{}\r\n0\r\n\r\n`)],
    ['a chunk that is longer than it says', framed([chunked], `1\r\n{}\r\n0\r\n\r\n`)],
    ['bare line feeds', `POST /api/v1/responses HTTP/1.1\nhost: x\n${KEY}\ncontent-length: 2\n\n{}`],
    ['a bare carriage return in a value', post(['x-a: b\rc'])],
    ['a NUL in a value', post(['x-a: b\0c'])],
    ['a NUL in a name', post(['x\0-a: b'])],
    ['a line feed in the target', 'GET /health\nz HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a version of its own', 'GET /healthz HTTP/7.3\r\nhost: x\r\n\r\n'],
  ])(verifies('A4', '%s is refused, and the connection closes'), async (_name, bytes) => {
    const seen = upstream.requests.length
    // The bytes after it are never read as a separate request.
    const answer = await exchange(port, `${bytes}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect(answer.closed).toBe(true)
    expect(answer.statuses).toEqual([400])
    expectEnvelope(answer, 400)
    expect(upstream.requests).toHaveLength(seen)
  })

  it(verifies('A4', 'is one without a host'), async () => {
    const answer = await exchange(port, `POST /api/v1/responses HTTP/1.1\r\n${KEY}\r\ncontent-length: 2\r\n\r\n{}`)
    expect([answer.statuses, answer.closed]).toEqual([[400], true])
  })

  it(verifies('A4', 'is not one with a short chunk extension, which is legal and has no meaning'), async () => {
    expect((await exchange(port, framed([chunked], `${HEX};a="b"\r\n${BODY}\r\n0\r\n\r\n`))).statuses).toEqual([200])
  })

  it(verifies('A4', 'is a body shorter than its length: it never reaches a model'), async () => {
    const seen = upstream.requests.length
    expect((await exchange(port, framed([`content-length: ${BODY.length + 1}`], BODY), 300)).statuses).toEqual([])
    expect(upstream.requests).toHaveLength(seen)
    await expect.poll(() => gateway.app.calls.size).toBe(0)
  })
})

describe('expectations and offers', () => {
  it(verifies('A5', 'of 100-continue are honoured'), async () => {
    expect((await exchange(port, post(['expect: 100-continue']))).statuses).toEqual([100, 200])
  })

  const waiting = (headers: readonly string[], path = '/api/v1/responses'): string =>
    request('POST', path, ['expect: 100-continue', ...headers], '', { framed: true })

  it.each([
    ['a key that is none', waiting(['authorization: Bearer nobody', 'content-length: 100']), 401],
    ['no key', waiting(['content-length: 100'], '/api/v1/presets/p/responses'), 401],
    ['a body beyond the limit', waiting([KEY, 'content-length: 999999999']), 413],
    ['an encoding nobody opens', waiting([KEY, 'content-length: 100', 'content-encoding: gzip']), 400],
    ['a path that is none', waiting([KEY, 'content-length: 100'], '/api/v1/nothing'), 404],
  ])(verifies('A5', 'of 100-continue get no 100 for %s: the body is not asked for'), async (_what, bytes, status) => {
    const answer = await exchange(port, bytes)
    expect([answer.statuses, answer.closed]).toEqual([[status], true])
  })

  it(verifies('A5', 'leave the connection usable after a 100-continue was honoured'), async () => {
    const again = `GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
    const body = ['POST /api/v1/responses HTTP/1.1', 'host: x', KEY, 'expect: 100-continue', `content-length: ${BODY.length}`].join('\r\n')
    expect((await exchange(port, `${body}\r\n\r\n${BODY}${again}`)).statuses).toEqual([100, 200, 200])
  })

  it(verifies('A5', 'of anything else are refused in our envelope'), async () => {
    const answer = await exchange(port, post(['expect: 200-maybe']))
    expect(answer.statuses).toEqual([417])
    expectEnvelope(answer, 417)
  })

  // Clients that support HTTP/2 request it like this with every first request without TLS.
  it.each([
    ['HTTP/2', ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQCAAAAAAIAAAAA']],
    ['websockets', ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']],
  ])(verifies('A5', 'of %s are ignored: the request is served as it is'), async (_name, headers) => {
    const body = `POST /api/v1/responses HTTP/1.1\r\n${['host: x', KEY, ...headers, `content-length: ${BODY.length}`].join('\r\n')}\r\n\r\n${BODY}`
    expect((await exchange(port, body, 10_000, 100)).statuses).toEqual([200])
  })

  // Coding agents try this first. Only 426 makes them switch to HTTP at once; after anything else they retry again and again.
  it(verifies('A5', 'of websockets on a route that is only posted to are refused with 426'), async () => {
    const headers = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', KEY]
    const answer = await exchange(port, request('GET', '/api/v1/responses', headers, '', { keep: true }))
    expect([answer.statuses, answer.closed]).toEqual([[426], true])
    expectEnvelope(answer, 426)
    expect(answer.text).toMatch(/\r\nupgrade: HTTP\/1\.1\r\n/i)
    for (const [target, status] of [
      ['/healthz', 200],
      ['/api/v1/nowhere', 404],
    ] as const)
      expect((await exchange(port, request('GET', target, headers), 5_000, 200)).statuses).toEqual([status])
  })

  it(verifies('A5', 'to tunnel are refused'), async () => {
    const answer = await exchange(port, `CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n${KEY}\r\n\r\n`)
    expect([answer.statuses, answer.closed]).toEqual([[400], true])
    expectEnvelope(answer, 400)
  })

  it(verifies('A5', 'to tunnel end nothing but their own connection, however their callers leave'), async () => {
    const uncaught: unknown[] = []
    const note = (error: unknown): void => void uncaught.push(error)
    process.on('uncaughtException', note)
    for (let turn = 0; turn < 60; turn++) {
      const socket = await open(port, 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n\r\n')
      if (turn % 2 === 0) await nextTurn()
      socket.resetAndDestroy()
    }
    expect((await exchange(port, request('GET', '/healthz'))).statuses).toEqual([200])
    process.off('uncaughtException', note)
    expect(uncaught).toEqual([])
  })

  it(verifies('A5', 'to echo the request (TRACE) get 404, and no header is echoed'), async () => {
    const answer = await exchange(port, request('TRACE', '/api/v1/responses', [KEY, 'x-canary: echo-me']))
    expect(answer.statuses).toEqual([404])
    expect(answer.text).not.toMatch(/echo-me|sk-sb/)
  })
})

describe('too many headers', () => {
  it.each([
    ['ten thousand', 'a: b\r\n'.repeat(10_000)],
    ['one of 64 KB', `x: ${'a'.repeat(65_536)}\r\n`],
    ['a name of 64 KB', `${'a'.repeat(65_536)}: x\r\n`],
  ])(verifies('A6', '%s: 431'), async (_name, headers) => {
    const answer = await exchange(port, `GET /healthz HTTP/1.1\r\nhost: x\r\n${headers}\r\n`)
    expect([answer.statuses, answer.closed]).toEqual([[431], true])
    expectEnvelope(answer, 431)
  })

  it(verifies('A6', 'a target of 64 KB: 431'), async () => {
    expect((await exchange(port, request('GET', `/${'a'.repeat(65_536)}`))).statuses).toEqual([431])
  })

  it(verifies('A6', 'and a flood of them leaves no memory behind'), async () => {
    const flood = `GET /healthz HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(10_000)}\r\n`
    const before = await heldMemory()
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 10 }, () => exchange(port, flood)))
    expect((await heldMemory()) - before).toBeLessThan(8 * 1024 * 1024)
    expect((await exchange(port, request('GET', '/healthz'))).statuses).toEqual([200])
  })
})

describe('more than one Authorization header', () => {
  const MANAGEMENT = bearer(TEST_MANAGEMENT_KEY)
  const BAD = bearer('sk-sb-v1-wrong')
  const inference = (headers: readonly string[]): string => request('POST', '/api/v1/responses', headers, BODY)
  const management = (headers: readonly string[]): string => request('GET', '/api/v1/keys', headers)

  it.each([
    ['the first decides: good', inference([KEY, BAD]), 200],
    ['the first decides: bad', inference([BAD, KEY]), 401],
    ['the first decides: empty', inference(['authorization:', KEY]), 401],
    ['the first decides: a key of the other kind', inference([MANAGEMENT, KEY]), 403],
    ['the same on a management route', management([MANAGEMENT, BAD]), 200],
    ['the same on a management route: bad', management([BAD, MANAGEMENT]), 401],
    ['the same on a management route: the other kind', management([KEY, MANAGEMENT]), 403],
    ['two keys in one value are none', inference([`${KEY}, Bearer ${TEST_KEY}`]), 401],
    ['an underscore makes another header', inference([`authorization_: Bearer ${TEST_KEY}`]), 401],
    ['proxies’ own header is no key', inference([`proxy-authorization: Bearer ${TEST_KEY}`]), 401],
    ['nor is a key under another name', inference([`x-api-key: ${TEST_KEY}`]), 401],
    ['a word that others forward is no key', inference([`x-forwarded-authorization: Bearer ${TEST_KEY}`]), 401],
    ['nor is a key in the query', request('POST', `/api/v1/responses?key=${TEST_KEY}&authorization=Bearer%20${TEST_KEY}`, [], BODY), 401],
  ])(verifies('A7', '%s'), async (_name, bytes, status) => {
    expect((await exchange(port, bytes)).statuses).toEqual([status])
  })

  it(verifies('A7', 'and x_session_id is not x-session-id'), async () => {
    const answer = await exchange(port, post(['x_session_id: s', 'x_request_id: r']))
    expect(answer.statuses).toEqual([200])
    expect(answer.text).not.toContain('x-request-id: r\r\n')
  })
})

describe('many requests on one connection', () => {
  const health = request('GET', '/healthz', [], '', { keep: true })
  const last = request('GET', '/healthz')
  const call = (body: string): string => request('POST', '/api/v1/responses', [KEY], body, { keep: true })

  it(verifies('A9', 'are answered in order, a slow one first'), async () => {
    const answer = await exchange(port, call(BODY) + health + call(BODY) + request('GET', '/api/v1/nothing', [], '', { keep: true }) + last)
    expect(answer.statuses).toEqual([200, 200, 200, 404, 200])
    expect(answer.text.match(/"object":"response"|"status":"ok"|There is no/g)).toEqual([
      '"object":"response"',
      '"status":"ok"',
      '"object":"response"',
      'There is no',
      '"status":"ok"',
    ])
  })

  it.each([
    ['malformed JSON', call('{"a'), 400],
    ['a model nobody serves', call('{"model":"acme/none","input":"hi"}'), 404],
    ['a wrong key', request('POST', '/api/v1/responses', [bearer('x')], BODY, { keep: true }), 401],
    ['a wrong key on a management route', request('POST', '/api/v1/keys', [bearer('x')], '{"name":"x"}', { keep: true }), 401],
    ['a body in an encoding we do not open', request('POST', '/api/v1/responses', [KEY, 'content-encoding: gzip'], BODY, { keep: true }), 400],
  ])(verifies('A9', 'continue after %s, and no byte of its body is taken for a request'), async (_name, bad, status) => {
    const answer = await exchange(port, bad + last)
    expect([answer.statuses, answer.closed]).toEqual([[status, 200], true])
  })

  it(verifies('A9', 'end with a body that is too large'), async () => {
    const answer = await exchange(port, request('POST', '/api/v1/responses', [KEY, 'content-length: 99999999'], '', { keep: true }) + last)
    expect([answer.statuses, answer.closed]).toEqual([[413], true])
  })

  it.each([
    ['an expectation nobody meets', request('GET', '/healthz', ['expect: 200-ok']), 417],
    ['bytes that are no HTTP', '\x00\x01\r\n\r\n', 400],
    ['a tunnel', 'CONNECT a.test:443 HTTP/1.1\r\nhost: a.test\r\n\r\n', 400],
    ['both lengths', request('POST', '/healthz', ['content-length: 3', 'transfer-encoding: chunked'], 'abc', { framed: true }), 400],
  ])(verifies('A9', 'get their answers before the error for %s that follows them'), async (_name, bad, status) => {
    const answer = await exchange(port, call(BODY) + health + bad)
    expect([answer.statuses, answer.closed]).toEqual([[200, 200, status], true])
    expect(answer.text.match(/"object":"response"|"status":"ok"|"error_type"/g)).toEqual(['"object":"response"', '"status":"ok"', '"error_type"'])
  })

  it(verifies('A9', 'in a storm of two hundred are bounded and all answered'), async () => {
    const answer = await exchange(port, health.repeat(200) + last)
    expect(answer.statuses).toEqual(Array.from({ length: 201 }, () => 200))
  })
})

describe('HTTP/2 without TLS', () => {
  it(verifies('A11', 'is refused in HTTP/1.1, and the frames that follow are not read'), async () => {
    const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from('000000040000000000', 'hex')])
    // Streams that are opened and reset at once, as in the rapid-reset attack.
    const rapid = Buffer.alloc(22_000, Buffer.from('0000010105000000018200000403000000010000000800', 'hex').subarray(0, 22))
    const answer = await exchange(port, Buffer.concat([preface, rapid]))
    expect([answer.statuses, answer.closed]).toEqual([[400], true])
  })
})
