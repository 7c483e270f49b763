import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answer, ok, startFakeDestination, type FakeDestination } from '../../src/testing/fake-destination.ts'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/**
 * Secrets with recognisable marks, planted wherever a gateway stores secrets, and a process that is made to fail in every way that it can report. Then
 * everything that it has written, sent and shown is searched for the marks.
 */
const CANARIES = {
  inference: 'sk-canary-inference-3f9c1d',
  management: 'sk-canary-management-a8e2b7',
  provider: 'upstream-canary-5d10aa97',
  providerInUrl: 'querycanary77aa31ff02',
  destination: 'canarydestination9b2e44',
  destinationHeader: 'canaryheader00d1f6',
  own: 'own-canary-71c0e59b',
  prompt: 'promptcanary4410',
  /** A prompt that upstreams and destinations repeat in their errors. */
  quoted: 'quotedcanary82b1',
} as const
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')
/** Sent by callers and not secret: they may occur in errors that go back to the callers. */
const SAID = new Set<string>([CANARIES.prompt, CANARIES.quoted])

let directory: string
let upstream: FakeUpstream
let receiver: FakeDestination
let child: ChildProcess
let url: string
let log = ''
const answers: string[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-canaries-'))
  upstream = await startFakeUpstream()
  receiver = await startFakeDestination()
  const config = chatConfig([upstream.url], {
    logging: { level: 'trace', format: 'json' },
    routing: { sticky: false, cooldown: false, retries: false },
  }) as { providers: object[] }
  const providers = config.providers.map((provider) => ({
    ...provider,
    base_url: upstream.url,
    api_keys: [CANARIES.provider],
    headers: { 'x-extra-secret': CANARIES.providerInUrl },
  }))
  await writeFile(join(directory, 'signalbox.yaml'), JSON.stringify({ ...config, providers }))
  child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/signalbox.js'), 'serve'], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      SIGNALBOX_PORT: '0',
      SIGNALBOX_API_KEY: CANARIES.inference,
      SIGNALBOX_MANAGEMENT_KEY: CANARIES.management,
      SIGNALBOX_SECRET_KEY: SECRET_KEY,
    },
  })
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()))
  await vi.waitFor(() => expect(log).toMatch(/listens on http/), { timeout: 15_000, interval: 20 })
  url = /listens on (\S+)/.exec(log)![1]!
  await provoke()
}, 60_000)
afterAll(async () => {
  if (child.exitCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await upstream.close()
  await receiver.close()
  await rm(directory, { recursive: true, force: true })
})

async function api(method: string, path: string, body?: unknown, key: string = CANARIES.management): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`
  answers.push(`${method} ${path}: ${text}`)
  return text
}
const ask = (more: object = {}): Promise<string> =>
  api('POST', '/api/v1/responses', { model: 'acme/small', input: CANARIES.prompt, ...more }, CANARIES.inference)

/** The message of a provider that quotes the request. */
const GOSSIP = `cannot call https://api.test/v1?key=${CANARIES.providerInUrl} with Authorization: Bearer ${CANARIES.provider} (api key ${CANARIES.provider})`

/** The message of many providers about a prompt that they refuse. */
const QUOTE = `Invalid prompt: your prompt "${CANARIES.quoted}" was flagged`

async function provoke(): Promise<void> {
  const failures: readonly Reply[] = [
    status(401, { error: { message: `Incorrect API key provided: ${CANARIES.provider}. ${GOSSIP}` } }),
    status(400, { error: { message: GOSSIP, param: 'x' } }),
    status(400, { error: { message: GOSSIP } }, { 'www-authenticate': `Bearer ${CANARIES.provider}` }),
    status(429, { error: { message: GOSSIP } }),
    status(500, `<html><title>${GOSSIP}</title>${GOSSIP}</html>`, { 'content-type': 'text/html' }),
    status(503, { detail: [{ msg: GOSSIP, key: CANARIES.provider }] }),
    status(302, '', { location: `https://api.test/?key=${CANARIES.provider}` }),
    stream([{ error: { message: GOSSIP, code: 500 } }]),
    stream(['data: {"broken": "Bearer ', `${CANARIES.provider}\n\n`]),
    stream([...chatText('half ').slice(0, 2), { error: { message: GOSSIP } }]),
  ]
  for (const reply of failures) {
    upstream.script(reply)
    await ask()
    await ask({ stream: true })
  }
  const quotes: readonly Reply[] = [
    status(400, { error: { message: QUOTE, code: 'invalid_prompt' } }),
    status(500, QUOTE, { 'content-type': 'text/plain' }),
    stream([{ error: { message: QUOTE, code: 400 } }]),
    stream([...chatText('half ').slice(0, 2), { error: { message: QUOTE } }]),
  ]
  for (const reply of quotes) {
    upstream.script(reply)
    await ask({ input: CANARIES.quoted })
    await ask({ input: CANARIES.quoted, stream: true })
  }
  upstream.script(stream(chatText('fine')))

  const config = {
    url: `${receiver.url}/hook`,
    headers: { authorization: `Bearer ${CANARIES.destinationHeader}`, 'x-api-key': CANARIES.destination },
  }
  const made = JSON.parse((await api('POST', '/api/v1/observability/destinations', { type: 'webhook', name: 'hook', config })).split('\n')[1]!) as {
    data: { id: string }
  }
  const at = `/api/v1/observability/destinations/${made.data.id}`
  await api('POST', `${at}/test`)
  await api('POST', `${at}/send-test`)
  await api('PATCH', at, { config: { headers: { authorization: 17 } } })
  receiver.react = ({ body }) => (body.includes(CANARIES.prompt) ? answer(503, {}, QUOTE) : ok)
  await api('POST', '/api/v1/observability/destinations', {
    type: 'langfuse',
    name: 'x',
    config: { public_key: CANARIES.destination, secret_key: CANARIES.destination, nonsense: CANARIES.destination },
  })
  await api('POST', '/api/v1/byok', { provider: 'acme', key: CANARIES.own, name: 'mine' })
  await api('POST', '/api/v1/byok', { provider: 'acme', key: { deep: CANARIES.own } })
  upstream.script(status(401, { error: { message: `bad key ${CANARIES.own}, "${CANARIES.own}"` } }), stream(chatText('served')))
  await ask()
  await vi.waitFor(() => expect(log).toMatch(/delivery failed/), { timeout: 10_000, interval: 50 })
  receiver.react = () => ok
  await ask({ nonsense: '\u0000', stream: 'perhaps' })
  await api('GET', '/api/v1/keys', undefined, `${CANARIES.management}x`)
  await api('POST', '/api/v1/keys', '{"name":', CANARIES.management)

  const ids = [...new Set(answers.flatMap((text) => [...text.matchAll(/gen-\d+-\w{20}/g)].map(([id]) => id)))]
  for (const id of ids) await api('GET', `/api/v1/generation?id=${id}`)
  const reads = ['/keys', '/key', '/byok', '/workspaces', '/observability/destinations', '/activity', '/credits', '/providers', '/models']
  for (const path of reads) await api('GET', `/api/v1${path}`)
  for (const path of [at, `${at}/status`, `${at}/dead-letters`]) await api('GET', path)
  for (const path of ['/metrics', '/healthz', '/readyz', '/openapi.json']) await api('GET', path)
  await vi.waitFor(() => expect(receiver.accepted.some(({ body }) => body.includes(CANARIES.prompt))).toBe(true), { timeout: 10_000, interval: 50 })
}

const found = (text: string, except: ReadonlySet<string> = new Set()): string[] =>
  Object.entries(CANARIES).flatMap(([name, value]) =>
    except.has(value) || !text.includes(value) ? [] : [`${name}: ...${text.slice(Math.max(0, text.indexOf(value) - 80), text.indexOf(value) + 40)}`],
  )

describe('planted secrets', () => {
  it('were used: the provider and the destination have seen theirs', () => {
    expect(upstream.requests.some(({ headers }) => headers.authorization === `Bearer ${CANARIES.provider}`)).toBe(true)
    expect(upstream.requests.some(({ headers }) => headers.authorization === `Bearer ${CANARIES.own}`)).toBe(true)
    expect(receiver.accepted.some(({ headers }) => headers['x-api-key'] === CANARIES.destination)).toBe(true)
  })

  it(verifies('P34', 'G1', 'G4', 'turn up in no answer: errors, reads, records, metrics, headers'), () => {
    expect(answers.length).toBeGreaterThan(60)
    expect(answers.flatMap((text) => found(text, SAID).map((what) => `${text.slice(0, 60)} ${what}`))).toEqual([])
  })

  it(verifies('G1', 'turn up in no line of the log, nor do prompts and answers, at any level'), () => {
    expect(log).toMatch(/call failed/)
    // As JSON, as a page, at the start of a stream and in the middle of one: the callers received it.
    expect(answers.filter((text) => text.startsWith('POST /api/v1/responses') && text.includes(CANARIES.quoted)).length).toBeGreaterThan(4)
    expect(found(log)).toEqual([])
  })

  it(verifies('G1', 'turn up in no metric and in no stored prompt'), () => {
    const told = answers.filter((text) => /^GET \/(metrics|api\/v1\/(generation|activity|keys|observability))/.test(text))
    // The owner of a destination may read its answers.
    expect(told.flatMap((text) => found(text, text.startsWith('GET /api/v1/observability') ? new Set([CANARIES.quoted]) : undefined))).toEqual([])
  })

  it(verifies('G1', 'G2', 'turn up in no file: what is stored is hashed or encrypted'), async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
    const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.name !== 'signalbox.yaml',
    )
    expect(files.length).toBeGreaterThan(1)
    // A record contains the original text of the error.
    for (const { parentPath, name } of files)
      expect([name, found((await readFile(join(parentPath, name))).toString('latin1'), new Set([CANARIES.quoted]))]).toEqual([name, []])
  })

  it(verifies('G1', 'turn up in no message to a destination either, except prompts and answers'), () => {
    const sent = receiver.accepted.map(({ body }) => body.toString()).join('\n')
    expect(sent).toContain(CANARIES.prompt)
    expect(found(sent, SAID)).toEqual([])
  })
})
