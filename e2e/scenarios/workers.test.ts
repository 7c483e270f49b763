import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createEncryption, verifySecretKey } from '../../src/accounts/encryption.ts'
import { createStore } from '../../src/store/index.ts'
import { createNetwork } from '../../src/testing/network.ts'
import { findTestPostgres } from '../../src/testing/postgres.ts'
import { startGatewayProcess, type GatewayProcess } from '../../src/testing/processes.ts'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
const postgres = await findTestPostgres('several processes on PostgreSQL')

/** `serve --workers`: several processes behind one port, on the embedded database. */
let directory: string
let gateway: GatewayProcess | undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-workers-'))
})
afterEach(async () => {
  if (gateway !== undefined) await gateway.end('SIGKILL')
  gateway = undefined
  await rm(directory, { recursive: true, force: true })
})

const start = async (args: readonly string[] = ['--workers', '2'], env: { readonly [name: string]: string } = {}): Promise<GatewayProcess> =>
  (gateway = await startGatewayProcess({ directory, args, env }))

/** Each call uses its own connection, so that the calls are distributed. */
function ask(
  url: string,
  key = TEST_KEY,
  body: object = { model: 'demo/echo', input: 'hello' },
): Promise<{ readonly status: number; readonly text: string }> {
  const agent = new Agent({ keepAlive: false })
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/responses`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    sent.on('error', reject).on('response', (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.end(JSON.stringify(body))
  })
}
const api = (url: string, method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TEST_MANAGEMENT_KEY}`,
      connection: 'close',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const childrenOf = (pid: number): readonly number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(Number)
/** A process that has ended but has not been reaped does not count. */
const isThere = (pid: number): boolean => {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z')
  } catch {
    return false
  }
}
async function callsByWorker(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return new Map([...text.matchAll(/^gateway_calls_total\{.*worker="(\d+)"\} (\d+)$/gm)].map(([, worker = '', calls]) => [worker, Number(calls)]))
}

/** Two processes that need not become ready. */
function run(stderr: 'pipe' | 'ignore' = 'ignore') {
  const child = spawn(process.execPath, [MAIN, 'serve', '--workers', '2'], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      SIGNALBOX_PORT: '0',
      SIGNALBOX_DATA_DIR: directory,
      SIGNALBOX_API_KEY: TEST_KEY,
      SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY,
    },
    stdio: ['ignore', 'ignore', stderr],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, exit: once(child, 'exit') }
}

describe('serve --workers', () => {
  it('spreads connections over processes and adds up their metrics', async () => {
    const { url, output } = await start()
    expect(output()).toContain('with 2 processes')
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(url)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const calls = await callsByWorker(url)
    expect([...calls.values()].reduce((a, b) => a + b, 0)).toBe(40)
    expect(calls.size).toBe(2)
  })

  it(verifies('S7-revocation', 'applies new and revoked keys in every process within five seconds'), async () => {
    const { url } = await start()
    const made = (await (await api(url, 'POST', '/keys', { name: 'short-lived' })).json()) as { key: string; data: { hash: string } }
    const statuses = async (): Promise<readonly number[]> => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(url, made.key)))
      return [...new Set(answers.map(({ status }) => status))]
    }
    await expect.poll(statuses, { timeout: 5_000 }).toEqual([200])
    await api(url, 'DELETE', `/keys/${made.data.hash}`)
    await expect.poll(statuses, { timeout: 5_000 }).toEqual([401])
  })

  it('replaces a process that dies, and the others serve meanwhile', async () => {
    const { url, pid, output } = await start()
    const before = childrenOf(pid)
    expect(before).toHaveLength(2)
    process.kill(before[0]!, 'SIGKILL')
    await expect.poll(output, { timeout: 5_000 }).toContain('a process ended; another is started')
    for (let i = 0; i < 20; i++) expect((await ask(url)).status).toBe(200)
    await expect.poll(() => childrenOf(pid).filter((each) => !before.includes(each)).length, { timeout: 5_000 }).toBe(1)
    await expect
      .poll(async () => (await Promise.all(Array.from({ length: 10 }, () => ask(url)))).every(({ status }) => status === 200), { timeout: 10_000 })
      .toBe(true)
  })

  it('gives a replacement process the configuration of the others, whatever the file says by then', async () => {
    const file = join(directory, 'signalbox.yaml')
    await writeFile(file, 'server: { port: 0 }')
    const { url, pid, output } = await start(['--workers', '2'], { SIGNALBOX_PORT: '' })
    const [first, second] = childrenOf(pid)
    const times = (what: string): number => output().split(what).length - 1
    const change = async (text: string, logged: string): Promise<void> => {
      await writeFile(file, text)
      await expect.poll(() => times(logged), { timeout: 10_000 }).toBe(2)
    }
    const replace = async (child: number, newcomer: number): Promise<void> => {
      const ended = times('a process ended')
      process.kill(child, 'SIGKILL')
      // A connection that was handed to the process as it died is served by nobody.
      await expect.poll(() => times('a process ended')).toBe(ended + 1)
      const figures = async (): Promise<string> => (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).text()
      await expect.poll(figures, { timeout: 10_000 }).toContain(`gateway_calls_limit{worker="${newcomer}"}`)
    }
    // The text is longer than the new body limit, which like the port only applies after a restart; the model is the reloaded one.
    const statuses = async (): Promise<readonly number[]> => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(url, TEST_KEY, { input: 'word '.repeat(100) })))
      return [...new Set(answers.map(({ status }) => status))]
    }
    await change(
      'server: { port: 9, body_limit: 100 }\ndefaults: { model: demo/echo }',
      '"needs_restart":["server.port","server.body_limit"],"msg":"configuration reloaded"',
    )
    await replace(first!, 3)
    expect(await statuses()).toEqual([200])
    await change('defaults: { mode: demo/echo }', 'defaults.mode (line 1): unknown key')
    await replace(second!, 4)
    expect(await statuses()).toEqual([200])
  })

  it('finishes streams after SIGTERM, keeps their records, and leaves no process behind', async () => {
    const { url, pid, exit, child } = await start()
    const children = childrenOf(pid)
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', connection: 'close' }
    const body = JSON.stringify({ model: 'demo/slow', input: 'word '.repeat(20), stream: true })
    // The streams have begun when their headers have arrived.
    const streams = await Promise.all(Array.from({ length: 4 }, () => fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body })))
    child.kill('SIGTERM')
    for (const stream of streams) expect(await stream.text()).toContain('response.completed')
    expect(await exit).toBe(0)
    for (const each of children) expect(() => process.kill(each, 0)).toThrow()
  })

  it('finishes streams also where the process that started the others is killed, and leaves no process behind', async () => {
    const { url, pid, child } = await start()
    const children = childrenOf(pid)
    const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json', connection: 'close' }
    const body = JSON.stringify({ model: 'demo/slow', input: 'word '.repeat(20), stream: true })
    const streams = await Promise.all(Array.from({ length: 4 }, () => fetch(`${url}/api/v1/responses`, { method: 'POST', headers, body })))
    child.kill('SIGKILL')
    for (const stream of streams) expect(await stream.text()).toContain('response.completed')
    await expect.poll(() => children.filter(isThere), { timeout: 20_000 }).toEqual([])
    const file = new DatabaseSync(join(directory, 'signalbox.db'), { readOnly: true })
    onTestFinished(() => file.close())
    expect(file.prepare('select status, count(*) as calls from generations group by status').all()).toEqual([{ status: 'completed', calls: 4 }])
  })

  it.each(['1', '2'])('ends at once when a gateway of %s has the port', async (workers) => {
    const first = await start(['--workers', workers])
    const { port } = new URL(first.url)
    await expect(startGatewayProcess({ directory, args: ['--workers', '2', '--port', port] })).rejects.toThrow(`Port ${port} is in use`)
  })

  it.runIf(process.platform === 'linux')('listens with many sockets in each process, and with none in the one that starts them', async () => {
    const { url } = await start()
    const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
    const listening = (await readFile('/proc/net/tcp', 'utf8')).split('\n').filter((line) => line.includes(`:${port} 00000000:0000 0A`))
    expect(listening).toHaveLength(64)
  })

  // Each worker finds this when it starts, not the process that starts the workers.
  it('ends with 1 and says why when its configuration names a model nobody serves', async () => {
    await writeFile(join(directory, 'signalbox.yaml'), 'defaults: { model: acme/none }')
    const { child, exit } = run('pipe')
    let errors = ''
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    expect(await Promise.race([exit, setTimeout(20_000, 'still running', { ref: false })])).toEqual([1, null])
    expect(errors).toContain('defaults.model (line 1): "acme/none"; expected a model that a configured provider serves')
  }, 30_000)

  it('makes the first keys once and prints them once', async () => {
    const { output } = await start(['--workers', '3'], { SIGNALBOX_API_KEY: '', SIGNALBOX_MANAGEMENT_KEY: '' })
    expect(output().match(/^ {2}inference +sk-sb-v1-\w+$/gm)).toHaveLength(1)
    expect(output().match(/sk-sb-mgmt-v1-\w+/g)).toHaveLength(1)
  })

  it('refuses an unknown role', async () => {
    await writeFile(join(directory, 'signalbox.yaml'), 'server: { role: gateway }\n')
    await expect(start(['--role', 'boss'])).rejects.toThrow('all, gateway, worker')
  })
})

describe('several processes that end', () => {
  it.each([0, 300, 700])(verifies('I5', 'do so at once when they are stopped during their start, %d ms after they were spawned'), async (ms) => {
    const { child, exit } = run()
    await expect.poll(() => childrenOf(child.pid!).length, { timeout: 10_000, interval: 5 }).toBe(2)
    await setTimeout(ms)
    const startedAt = performance.now()
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  it.skipIf(!postgres.available)(
    verifies('I1', 'end with 1 when the database comes back as that of another secret key'),
    async () => {
      if (!postgres.available) return
      const schema = await postgres.createSchema()
      const network = await createNetwork(schema.url)
      const store = await createStore({ url: schema.url })
      await store.migrate()
      await verifySecretKey(createEncryption({ current: Buffer.alloc(32, 1) }), store.facts)
      await store.close()
      onTestFinished(async () => {
        network.cut()
        await network.close()
        await schema.drop()
      })
      network.cut()
      const { exit } = await start(['--workers', '2'], {
        SIGNALBOX_DATABASE_URL: network.url.reveal(),
        SIGNALBOX_SECRET_KEY: Buffer.alloc(32, 2).toString('base64'),
      })
      network.repair()
      const ended = await Promise.race([exit, setTimeout(20_000, 'still running', { ref: false })])
      expect(ended).toBe(1)
    },
    40_000,
  )
})
