import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpClient } from '../lib/http-client.ts'
import { Secret } from '../lib/secret.ts'
import { signWithHeader } from '../providers/shared/sign.ts'
import { probeProvider, type ProbeOptions } from './probe-provider.ts'

/** Answers each request with what `answer` makes of its head; undefined: never. */
async function probing(answer: (head: string) => string | undefined, options: Partial<ProbeOptions> = {}, connection: object = {}) {
  const heads: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bytes) => {
      heads.push(bytes.toString())
      const text = answer(bytes.toString())
      if (text !== undefined) socket.end(text)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const http = createHttpClient()
  onTestFinished(async () => {
    await http.close()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const timeouts = { connect: 5_000, idle: 5_000, total: 5_000 }
  const probed = { baseUrl, credentials: [], timeouts, transport: undefined, dialect: { modelList: { path: '/models' } }, ...connection }
  const findings = await probeProvider(http, probed as never, { limitMs: 5_000, ...options })
  return { baseUrl, heads, findings }
}
const status = (code: number): string => `HTTP/1.1 ${code} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
const credentials = ['good', 'bad'].map((text, index) => ({ id: String(index), secret: new Secret(text) }))

describe('the address of a provider', () => {
  it('that accepts a connection and stays silent is reported with the time waited', async () => {
    const { baseUrl, findings } = await probing(() => undefined, { limitMs: 50 })
    expect(findings).toEqual([{ fault: true, text: `${baseUrl} not reachable: no answer within 0.05 s` }])
  })

  it('that answers is reported with its status, without a credential', async () => {
    const { baseUrl, heads, findings } = await probing(() => status(401), {}, { credentials })
    expect(findings).toEqual([{ fault: false, text: `${baseUrl} reachable (HTTP 401 without credentials), 2 credential(s)` }])
    expect(heads.join('')).toMatch(/^GET \/v1\/models HTTP/)
    expect(heads.join('')).not.toContain('good')
  })

  it('that breaks the connection is reported with the reason', async () => {
    const { baseUrl, findings } = await probing(() => 'SSH-2.0-OpenSSH_9\r\n')
    expect(findings).toEqual([{ fault: true, text: `${baseUrl} not reachable: the answer breaks HTTP` }])
  })

  it.each([
    [true, '; there is no /models, which most servers of this format have: is the path right?'],
    [false, ''],
  ])('that answers 404 gets a hint, if the operator has configured it (%s)', async (configured, hint) => {
    const { baseUrl, findings } = await probing(() => status(404), { configured })
    expect(findings).toEqual([{ fault: false, text: `${baseUrl} reachable (HTTP 404 without credentials), 0 credential(s)${hint}` }])
  })
})

describe('the credentials of a provider', () => {
  const byKey = (refusal: number) => (head: string) =>
    status(head.includes('authorization: Bearer good') ? 200 : head.includes('Bearer bad') ? refusal : 401)

  it.each([401, 403, 400])('are reported one by one (%i)', async (refusal) => {
    const { findings } = await probing(byKey(refusal), { keys: true }, { credentials })
    expect(findings.slice(1)).toEqual([
      { fault: false, text: 'credential 0: accepted' },
      { fault: true, text: `credential 1: refused (HTTP ${refusal})` },
    ])
  })

  it.each<[string, (head: string) => string, object, string]>([
    ['the list is open to everybody', () => status(200), {}, 'the list of models is open to everybody'],
    ['the format has no list', () => status(401), { dialect: {} }, 'this format has no list of models'],
    ['the server is busy', byKey(429), { credentials: credentials.slice(1) }, 'the list of models is HTTP 429'],
  ])('are not judged where %s', async (_what, answer, connection, reason) => {
    const { findings } = await probing(answer, { keys: true }, { credentials: credentials.slice(1), ...connection })
    expect(findings.slice(1)).toEqual([{ fault: false, text: `credential 1: not tested, as ${reason}` }])
  })

  it('are sent as their vendor wants them, with what its format needs', async () => {
    const dialect = { modelList: { path: '/models', headers: { 'acme-version': '1' } } }
    const answer = (head: string): string => status(head.includes('acme-key: good') && head.includes('acme-version: 1') ? 200 : 401)
    const connection = { credentials: credentials.slice(0, 1), dialect, sign: signWithHeader('acme-key') }
    const { findings } = await probing(answer, { keys: true }, connection)
    expect(findings.slice(1)).toEqual([{ fault: false, text: 'credential 0: accepted' }])
  })

  it('that cannot be used at all are a fault', async () => {
    const sign = (): never => {
      throw new Error('the key file is no JSON')
    }
    const { findings } = await probing(() => status(401), { keys: true }, { sign })
    expect(findings.slice(1)).toEqual([{ fault: true, text: 'credential of its own kind: the key file is no JSON' }])
  })
})
