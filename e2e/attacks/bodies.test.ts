import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { threadTime } from '../../src/testing/thread-time.ts'
import { verifies } from '../requirements.ts'
import { bearer, exchange, open, portOf } from './raw-client.ts'

/** Bodies that expand, misstate their type, or contain what JSON allows but nobody expects. */
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

const INFERENCE = { path: '/api/v1/responses', key: TEST_KEY, good: '{"model":"acme/small","input":"hi"}', status: 200 }
const MANAGEMENT = { path: '/api/v1/keys', key: TEST_MANAGEMENT_KEY, good: '{"name":"made by a test"}', status: 201 }
const EXPLAIN = { ...INFERENCE, path: '/api/v1/route/explain' }
const PRESET = { ...INFERENCE, path: '/api/v1/presets/made-by-a-test/responses' }
const ROUTES = [INFERENCE, MANAGEMENT, EXPLAIN, PRESET]

const post = (route: (typeof ROUTES)[number], body: string | Buffer, headers: readonly string[] = ['content-type: application/json']) => {
  const bytes = Buffer.from(body as string)
  const head = [`POST ${route.path} HTTP/1.1`, 'host: x', bearer(route.key), ...headers, `content-length: ${bytes.length}`, 'connection: close']
  return exchange(port, Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]), 15_000)
}
const answerOf = (text: string): { readonly error?: { readonly message: string }; readonly [field: string]: unknown } =>
  JSON.parse(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString()) as { [field: string]: unknown }
const respond = async (body: string | Buffer) => {
  const { text, statuses } = await post(INFERENCE, body)
  return { code: statuses[0], answer: answerOf(text) }
}

describe.each(ROUTES)('POST $path', (route) => {
  // Many megabytes of spaces, in a few kilobytes.
  const bomb = Buffer.alloc(32 * 1024 * 1024, 0x20)
  it.each([
    ['gzip', () => gzipSync(bomb, { level: 1 })],
    ['deflate', () => deflateSync(bomb, { level: 1 })],
    ['br', () => brotliCompressSync(bomb.subarray(0, 1024 * 1024))],
    ['zstd', () => zstdCompressSync(bomb)],
    ['gzip, gzip', () => gzipSync(gzipSync(bomb, { level: 1 }))],
  ])(verifies('A12', 'a compression bomb in %s is refused without being decompressed'), async (encoding, make) => {
    const { statuses, text } = await post(route, make(), ['content-type: application/json', `content-encoding: ${encoding}`])
    expect(statuses[0]).toBe(400)
    expect(answerOf(text).error?.message).toContain(`content-encoding ${encoding} is not accepted`)
  })

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/octet-stream',
    'multipart/form-data; boundary=x',
    '*/*',
    '',
  ])(verifies('A13', 'JSON under the content type %j is JSON'), async (type) => {
    expect((await post(route, route.good, type === '' ? [] : [`content-type: ${type}`])).statuses).toEqual([route.status])
  })

  it.each([
    ['a content type that is none', 'text/', route.good, [route.status, 400]],
    ['a content type of separators', ';;;', route.good, [route.status, 400]],
    ['a content type of 8 KB', `application/json; a=${'x'.repeat(8_000)}`, route.good, [route.status, 400]],
    ['a form', 'application/x-www-form-urlencoded', 'model=acme%2Fsmall&input=hi', [400]],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nacme/small\r\n--x--', [400]],
    ['XML', 'application/xml', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', [400]],
    ['UTF-16, as declared', 'application/json; charset=utf-16', Buffer.from('\uFEFF{"model":"acme/small","input":"hi"}', 'utf16le'), [400]],
    ['UTF-7, as declared', 'application/json; charset=utf-7', '+AHsAIg-model+ACI-:1+AH0-', [400]],
    ['Latin-1, as declared', 'application/json; charset=iso-8859-1', Buffer.from('{"model":"acme/small","input":"\u00e9"}', 'latin1'), [400]],
  ])(verifies('A13', '%s is 400, or read as the JSON it is'), async (_name, type, body, statuses) => {
    const answer = await post(route, body, [`content-type: ${type}`])
    expect(statuses).toContain(answer.statuses[0])
    if (answer.statuses[0] === 400) expect(answerOf(answer.text)).toMatchObject({ error: { metadata: { error_type: 'invalid_request' } } })
  })

  it.each([
    ['at the top', '{"__proto__":{"polluted":1},"model":"acme/small","input":"hi"}'],
    ['deep inside', '{"model":"acme/small","input":[{"role":"user","content":[{"type":"input_text","text":"x","__proto__":{"polluted":1}}]}]}'],
    ['escaped', '{"model":"acme/small","input":"hi","metadata":{"\\u005f\\u005fproto\\u005f\\u005f":"x"}}'],
  ])(verifies('B2', '__proto__ %s is refused, and nothing is polluted'), async (_name, body) => {
    expect((await post(route, body)).statuses).toEqual([400])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it.each([
    ['the top', (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['a field', (depth: number) => `{"model":"acme/small","input":"hi","extra":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`],
  ])(verifies('B1', 'ten thousand levels at %s end in 400'), async (_name, body) => {
    const answer = await post(route, body(10_000))
    expect(answer.statuses).toEqual([400])
    expect(answer.text.length).toBeLessThan(2_000)
  })
})

describe('large values', () => {
  const keys = (count: number): string =>
    `{"model":"acme/small","input":"hi","extra":{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}}`

  it(verifies('B1', 'a million keys are refused before anything is built of them, two hundred thousand are carried'), async () => {
    const many = await respond(keys(1_000_000))
    expect(many.code).toBe(400)
    expect(many.answer.error?.message).toContain('more than 250000 keys')
    expect((await respond(keys(200_000))).code).toBe(200)
  })

  it.each([EXPLAIN, PRESET])(verifies('B1', 'a million keys are refused by $path, too'), async (route) => {
    const { statuses, text } = await post(route, keys(1_000_000))
    expect(statuses).toEqual([400])
    expect(answerOf(text).error?.message).toContain('more than 250000 keys')
  })

  it(verifies('B1', 'a body that nests too deep is not stored as a preset either'), async () => {
    const route = { ...PRESET, path: '/api/v1/presets/deep/responses' }
    const tool = `{"type":"function","name":"f","parameters":{"type":"object","x":${'['.repeat(4_000)}${']'.repeat(4_000)}}}`
    expect((await post(route, `{"model":"acme/small","input":"hi","tools":[${tool}]}`)).statuses).toEqual([400])
    expect((await gateway.api('GET', '/api/v1/presets/deep')).status).toBe(404)
  })

  it(verifies('B1', 'A3', 'a string of 40 MB is 413, one of 10 MB is carried whole'), async () => {
    const picture = (megabytes: number): string => `data:image/png;base64,${'iVBO'.repeat((megabytes * 1024 * 1024) / 4)}`
    const ask = (url: string): string =>
      JSON.stringify({ model: 'acme/small', input: [{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }] })
    expect((await post(INFERENCE, ask(picture(40)))).statuses[0]).toBe(413)
    expect((await respond(ask(picture(10)))).code).toBe(200)
    expect(JSON.stringify(upstream.requests.at(-1)!.body)).toContain(picture(10))
  })
})

describe('values that JSON allows', () => {
  const lastBody = (): Record<string, unknown> => upstream.requests.at(-1)!.body

  it(verifies('B3', 'the last of equal keys is the one that is checked and the one that is sent'), async () => {
    expect((await respond('{"model":"acme/none","model":"acme/small","input":"a","input":"b","temperature":"hot","temperature":0.5}')).code).toBe(200)
    expect(lastBody()).toMatchObject({ temperature: 0.5, messages: [{ content: 'b' }] })
    expect((await respond('{"model":"acme/small","input":"hi","temperature":0.5,"temperature":"hot"}')).code).toBe(400)
    expect((await respond('{"model":"acme/small","model":"acme/none","input":"hi"}')).code).toBe(404)
  })

  it.each([
    ['"max_output_tokens":1e400', 400],
    ['"max_output_tokens":12345678901234567890', 400],
    ['"max_output_tokens":1.5', 400],
    ['"max_output_tokens":-1', 400],
    ['"max_output_tokens":NaN', 400],
    ['"max_output_tokens":Infinity', 400],
    ['"temperature":-1e400', 400],
    ['"temperature":1e-400', 200],
    ['"temperature":-0', 200],
    ['"top_p":-0.0', 200],
    ['"seed":9007199254740993', 200],
    ['"extra":1e999', 200],
  ])(verifies('B4', '%s is %i'), async (field, status) => {
    expect((await respond(`{"model":"acme/small","input":"hi",${field}}`)).code).toBe(status)
  })

  it(verifies('B4', 'no number that JSON cannot write reaches an upstream: the text sent parses, and holds no null for it'), async () => {
    await respond('{"model":"acme/small","input":"hi","temperature":-0,"top_p":1e-400}')
    expect(lastBody()).toMatchObject({ temperature: 0, top_p: 0 })
  })

  it(verifies('B6', 'unknown fields reach a provider that may know them'), async () => {
    const item = '{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}],"x_item":1}'
    expect((await respond(`{"model":"acme/small","input":[${item}],"x_future":{"a":[1,null]}}`)).code).toBe(200)
  })

  it.each([
    ['overlong', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['cut short', [0xe2, 0x82]],
    ['a stray continuation', [0x80]],
  ])(verifies('B5', 'bytes that are no UTF-8 (%s) are 400'), async (_name, bytes) => {
    const body = Buffer.concat([Buffer.from('{"model":"acme/small","input":"'), Buffer.from(bytes), Buffer.from('"}')])
    const answer = await respond(body)
    expect(answer.code).toBe(400)
    expect(answer.answer.error?.message).toContain('UTF-8')
  })

  it(verifies('B5', 'a BOM is ignored, a lone surrogate is replaced'), async () => {
    expect((await respond('\uFEFF{"model":"acme/small","input":"a \\ud83d b"}')).code).toBe(200)
    expect(lastBody()).toMatchObject({ messages: [{ content: 'a \uFFFD b' }] })
  })

  it(verifies('B5', 'characters survive any cut of the bytes, down to one byte a packet'), async () => {
    const text = 'za\u017c\u00f3\u0142\u0107 \u65e5\u672c \u{1F600}\u{1F468}\u200D\u{1F469}'
    const body = Buffer.from(JSON.stringify({ model: 'acme/small', input: text }))
    const socket = await open(
      port,
      `POST /api/v1/responses HTTP/1.1\r\nhost: x\r\n${bearer(TEST_KEY)}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`,
    )
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.resume()
    for (const byte of body) {
      socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    socket.write('0\r\n\r\n')
    await closed
    expect(lastBody()).toMatchObject({ messages: [{ content: text }] })
  })
})

describe('long lists', () => {
  const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

  it.each([
    ['tools the gateway runs', { tools: many(100_000, () => ({ type: 'gateway:datetime' })) }],
    ['tools of servers', { tools: many(60_000, (n) => ({ type: 'mcp', server_label: `l${n}`, server_url: 'https://a.test' })) }],
  ])(verifies('B1', 'of %s are refused before anything is made of them'), async (_name, fields) => {
    const began = threadTime()
    const { code, answer } = await respond(JSON.stringify({ model: 'acme/small', input: 'hi', ...fields }))
    expect(code).toBe(400)
    expect(answer.error?.message).toMatch(/tools.*at most/)
    expect(threadTime() - began).toBeLessThan(2_000)
  })

  it(verifies('B1', 'of deferred functions for a tool search cost linear time'), async () => {
    const began = threadTime()
    const functions = many(80_000, (n) => ({ type: 'function', name: `f${n}`, defer_loading: true }))
    const tools = [...functions, { type: 'gateway:tool_search' }]
    expect((await respond(JSON.stringify({ model: 'acme/small', input: 'hi', tools }))).code).toBe(200)
    expect(threadTime() - began).toBeLessThan(2_500)
  })

  it.each([
    ['models', { models: many(2_000, (n) => `acme/m${n}`) }],
    ['providers', { provider: { order: many(2_000, (n) => `p${n}`) } }],
  ])(verifies('B1', 'of %s are refused'), async (_name, fields) => {
    const { code, answer } = await respond(JSON.stringify({ model: 'acme/small', input: 'hi', ...fields }))
    expect(code).toBe(400)
    expect(answer.error?.message).toMatch(/1024/)
  })

  it.each([
    ['chosen among as many', 'auto', (n: number) => `f${n}`, 200],
    ['required and not there', 'required', (n: number) => `g${n}`, 422],
  ] as const)(verifies('B1', 'of functions %s cost linear time'), async (_name, mode, name, status) => {
    const began = threadTime()
    const functions = (count: number, called: (index: number) => string): object[] => many(count, (n) => ({ type: 'function', name: called(n) }))
    const choice = { type: 'allowed_tools', mode, tools: functions(30_000, name) }
    const body = { model: 'acme/small', input: 'hi', tools: functions(30_000, (n) => `f${n}`), tool_choice: choice }
    expect((await respond(JSON.stringify(body))).code).toBe(status)
    expect(threadTime() - began).toBeLessThan(2_500)
  })
})
