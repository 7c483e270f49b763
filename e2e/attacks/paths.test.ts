import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { bearer, exchange, portOf, request } from './raw-client.ts'

/** Whether another spelling of a path gives access to what the path itself protects: authentication for a URL other than the one served. */
let upstream: FakeUpstream
let gateway: TestGateway
let port: number
let operations: readonly (readonly [method: string, path: string])[]

/** Intentionally served without a key. */
const PUBLIC = new Set(['/healthz', '/readyz', '/metrics', '/openapi.json'])

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway(chatConfig([upstream.url]))
  port = portOf(gateway.url)
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: { [path: string]: { [method: string]: unknown } } }
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(get|post|put|patch|delete)$/.test(method))
      .map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const escape = (path: string): string => path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)

/** Other spellings of a path, by name. */
const SPELLINGS: readonly (readonly [name: string, spell: (path: string) => string])[] = [
  ['as it is', (path) => path],
  ['with an absolute target', (path) => `http://gateway.test${path}`],
  ['with the absolute target of another host', (path) => `https://evil.test:1${path}`],
  ['with two slashes in front', (path) => `/${path}`],
  ['with two slashes inside', (path) => path.replaceAll('/', '//')],
  ['with a slash at the end', (path) => `${path}/`],
  ['with escaped letters', escape],
  ['with letters escaped twice', (path) => escape(path).replaceAll('%', '%25')],
  ['with escaped slashes', (path) => `/${path.slice(1).replaceAll('/', '%2f')}`],
  ['with an escaped dot', (path) => `/%2e${path}`],
  ['behind a public path and back', (path) => `/healthz/..${path}`],
  ['behind a public path and back, escaped', (path) => `/healthz%2f..${path}`],
  ['behind a public path and back, escaped dots', (path) => `/metrics/%2e%2e${path}`],
  ['behind a path parameter', (path) => `/healthz;/..${path}`],
  ['behind dots and a semicolon', (path) => `/..;${path}`],
  ['with a path parameter', (path) => `${path};a=b`],
  ['with backslashes', (path) => path.replaceAll('/', '\\')],
  ['in capitals', (path) => path.toUpperCase()],
  ['with a query', (path) => `${path}?/healthz`],
  ['with a fragment', (path) => `${path}#/healthz`],
  ['with a NUL', (path) => `${path}%00.json`],
  ['with a tab', (path) => `${path}%09`],
  ['with bytes that are not UTF-8', (path) => `${path}%ff%c0%ae`],
  ['with a broken escape', (path) => `${path}%`],
  ['as a file of it', (path) => `${path}.json`],
]

/** Claims of a proxy's headers, none of which is trusted. */
const CLAIMS: readonly string[] = [
  'x-original-url: /healthz',
  'x-rewrite-url: /healthz',
  'x-forwarded-host: localhost',
  'x-forwarded-for: 127.0.0.1',
  'x-forwarded-prefix: /healthz',
  'x-http-method-override: GET',
  'x-internal: 1',
]

const statusesOf = async (requests: readonly string[]): Promise<readonly number[]> => {
  const statuses: number[] = []
  // Ten at a time, because the result does not depend on load.
  for (let at = 0; at < requests.length; at += 10) {
    const some = await Promise.all(requests.slice(at, at + 10).map((bytes) => exchange(port, bytes)))
    for (const answer of some) statuses.push(answer.statuses[0] ?? 0)
  }
  return statuses
}

describe('without a key', () => {
  it.each(SPELLINGS)(verifies('A8', 'a path %s opens nothing'), async (_name, spell) => {
    const guarded = operations.filter(([, path]) => !PUBLIC.has(path))
    const seen = upstream.requests.length
    const requests = guarded.map(([method, path]) => request(method, spell(path), [], method === 'GET' || method === 'DELETE' ? '' : '{}'))
    const statuses = await statusesOf(requests)
    const opened = guarded.filter((_operation, n) => ![400, 401, 404].includes(statuses[n]!)).map((operation, n) => [...operation, statuses[n]])
    expect(opened).toEqual([])
    expect(upstream.requests).toHaveLength(seen)
  })

  it.each([...CLAIMS, 'host: localhost', 'host: 127.0.0.1:1', 'host: gateway.test/healthz?'])(verifies('A8', '%s opens nothing'), async (header) => {
    const target = (method: string, path: string): string =>
      request(method, path, [header], method === 'GET' ? '' : '{}').replace(
        'host: gateway.test\r\n',
        header.startsWith('host:') ? '' : 'host: gateway.test\r\n',
      )
    const statuses = await statusesOf([target('GET', '/api/v1/keys'), target('POST', '/api/v1/responses'), target('GET', '/api/v1/models')])
    for (const status of statuses) expect([400, 401]).toContain(status)
  })
})

describe('with the wrong kind of key', () => {
  it.each(SPELLINGS)(verifies('A8', 'F3', 'a path %s opens nothing'), async (_name, spell) => {
    const management = [
      ['GET', '/api/v1/keys'],
      ['GET', '/api/v1/workspaces'],
      ['GET', '/api/v1/observability/destinations'],
    ] as const
    const statuses = await statusesOf([
      ...management.map(([method, path]) => request(method, spell(path), [bearer(TEST_KEY)])),
      request('POST', spell('/api/v1/responses'), [bearer(TEST_MANAGEMENT_KEY)], '{"model":"acme/small","input":"hi"}'),
    ])
    for (const status of statuses) expect([400, 403, 404]).toContain(status)
  })
})

describe('an absolute target', () => {
  it(verifies('A8', 'serves what its path names, whatever host it claims'), async () => {
    const body = '{"model":"acme/small","input":"hi"}'
    expect((await exchange(port, request('POST', 'http://evil.test/api/v1/responses?a=b', [bearer(TEST_KEY)], body))).statuses).toEqual([200])
    expect((await exchange(port, request('GET', 'HTTP://gateway.test/healthz'))).statuses).toEqual([200])
    expect((await exchange(port, request('GET', 'http://gateway.test/api/v1/models', [bearer(TEST_KEY)]))).statuses).toEqual([200])
  })
})

describe('every refusal', () => {
  it.each(['/%', '/api/v1/keys%ff', '/nothing', '/api/v1/models/%zz/endpoints', `/${'a/'.repeat(2_000)}`])(
    verifies('A8', 'of %s has the one envelope'),
    async (path) => {
      const { text, statuses } = await exchange(port, request('GET', path, [bearer(TEST_MANAGEMENT_KEY)]))
      const body = text.slice(text.indexOf('\r\n\r\n') + 4)
      expect(JSON.parse(body)).toMatchObject({ error: { code: statuses[0], metadata: { error_type: expect.any(String) } } })
      expect(statuses[0]).toBeLessThan(500)
    },
  )
})
