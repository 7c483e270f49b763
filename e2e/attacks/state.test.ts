import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatText, startFakeUpstream, status, stream, type Reply } from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, TEST_KEY, TEST_MANAGEMENT_KEY } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A disk that is full or broken, a locked database, a process that dies, a clock that jumps: calls continue. */
const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
const SECRET_KEY = Buffer.alloc(32, 9).toString('base64')
let directory: string
const children: ChildProcess[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-state-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await chmod(directory, 0o700)
  await rm(directory, { recursive: true, force: true })
})

interface Running {
  readonly child: ChildProcess
  readonly url: string
  readonly log: () => string
}

interface StartOptions {
  /** Runs before the gateway in the same process: limits of the operating system. */
  readonly shell?: string
  readonly uid?: number
  readonly data?: string
}

function launch(options: StartOptions): { readonly child: ChildProcess; readonly log: () => string } {
  const child = spawn('bash', ['-c', `${options.shell ?? ''} exec ${process.execPath} ${MAIN} serve`], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      SIGNALBOX_PORT: '0',
      SIGNALBOX_DATA_DIR: options.data ?? directory,
      SIGNALBOX_API_KEY: TEST_KEY,
      SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY,
      SIGNALBOX_SECRET_KEY: SECRET_KEY,
    },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  children.push(child)
  let log = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (log += chunk.toString()))
  return { child, log: () => log }
}

/** The output of a start that fails. */
async function refused(options: StartOptions): Promise<string> {
  const { child, log } = launch(options)
  expect((await once(child, 'close'))[0]).toBe(1)
  return log()
}

async function start(options: StartOptions = {}): Promise<Running> {
  const { child, log } = launch(options)
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${log()}`)
      expect(log()).toMatch(/listens on http/)
    },
    { timeout: 40_000, interval: 20 },
  )
  return { child, url: /listens on (\S+)/.exec(log())![1]!, log }
}

const ask = async ({ url }: Running, input = 'hi'): Promise<{ readonly status: number; readonly id: string; readonly ms: number }> => {
  const started = performance.now()
  const response = await fetch(`${url}/api/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo/echo', input }),
  })
  await response.text()
  return { status: response.status, id: response.headers.get('x-generation-id') ?? '', ms: performance.now() - started }
}
const api = (running: Running, method: string, path: string, body?: object): Promise<Response> =>
  fetch(`${running.url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${TEST_MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const served = async (running: Running, times = 10): Promise<number[]> => {
  const statuses: number[] = []
  for (let n = 0; n < times; n++) statuses.push((await ask(running)).status)
  return [...new Set(statuses)]
}
const database = (): string => join(directory, 'signalbox.db')
const contents = (): Promise<Buffer | undefined> => readFile(database()).catch(() => undefined)
async function cutShort(): Promise<void> {
  expect(await stop(await start())).toBe(0)
  await truncate(database(), 50_000)
}
function otherTables(): void {
  const other = new DatabaseSync(database())
  other.exec('pragma journal_mode = wal; create table api_keys (name text)')
  other.close()
}
async function stop({ child }: Running): Promise<number | null> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  return ((await exit) as [number | null])[0]
}

describe('a database file', () => {
  it.each([
    ['text', 'is not an SQLite database', () => writeFile(database(), 'this was a database once '.repeat(1_000))],
    ['a directory', 'is a directory', () => mkdir(database())],
    ['cut short', 'is a damaged SQLite database', () => cutShort()],
    ["somebody else's database", 'is an SQLite database whose tables are not those of Signalbox', () => Promise.resolve(otherTables())],
  ])(verifies('I1', 'that is %s: the start is refused, with its path and what to do, and nothing is replaced'), async (_name, what, make) => {
    await make()
    const before = await contents()
    expect(await refused({})).toMatch(new RegExp(`^.*signalbox\\.db ${what}.*: restore it from a backup, or .*SIGNALBOX_DATA_DIR\\n$`, 'm'))
    // The operator must repair the file: the gateway does not replace it without being asked.
    expect(await contents()).toEqual(before)
  })

  it.each([
    ['overwritten', async () => writeFile(database(), Buffer.alloc(8_192, 0x5a))],
    ['cut to nothing', async () => truncate(database(), 0)],
    ['deleted with its journal', async () => Promise.all(['', '-wal', '-shm'].map((suffix) => rm(database() + suffix, { force: true })))],
  ])(verifies('I1', 'that is %s while it is in use: no call fails, and no key becomes unknown'), async (_name, damage) => {
    const running = await start()
    expect(await served(running)).toEqual([200])
    await damage()
    expect(await served(running, 30)).toEqual([200])
    await pause(300)
    expect(await served(running, 10)).toEqual([200])
    expect(running.child.exitCode).toBeNull()
  })

  it(verifies('I1', 'that another process locks for seconds: calls do not wait, and everything is on record afterwards'), async () => {
    const running = await start()
    expect(await served(running, 1)).toEqual([200])
    await pause(200)
    // Waits for its turn, because the gateway may be writing at this moment.
    const other = new DatabaseSync(database(), { timeout: 5_000 })
    other.exec('begin exclusive')
    const calls: Awaited<ReturnType<typeof ask>>[] = []
    for (let n = 0; n < 20; n++) {
      calls.push(await ask(running, `locked ${n}`))
      await pause(100)
    }
    expect(calls.every(({ status }) => status === 200)).toBe(true)
    expect(Math.max(...calls.map(({ ms }) => ms))).toBeLessThan(1_500)
    other.exec('rollback')
    other.close()
    await expect.poll(async () => (await api(running, 'GET', `generation?id=${calls[0]!.id}`)).status, { timeout: 10_000 }).toBe(200)
    expect(await stop(running)).toBe(0)
    const again = new DatabaseSync(database(), { readOnly: true })
    const rows = again.prepare('select count(*) as n from generations').get() as { n: number }
    again.close()
    expect(rows.n).toBe(21)
  })

  it.runIf(process.platform === 'linux')(
    verifies('I1', 'on a disk that is full: no call fails, the process lives and says what is wrong'),
    async () => {
      // Files must not exceed a megabyte: writes fail as on a full disk.
      const running = await start({ shell: 'ulimit -f 1024;' })
      for (let n = 0; n < 8; n++) await Promise.all(Array.from({ length: 100 }, () => ask(running)))
      expect(await served(running)).toEqual([200])
      expect((await stat(`${database()}-wal`)).size).toBeLessThanOrEqual(1024 * 1024)
      expect(running.child.exitCode).toBeNull()
      expect(running.log()).not.toMatch(/uncaught|unhandled/i)
      const readiness = async (): Promise<unknown> => (await fetch(`${running.url}/readyz`)).json()
      await expect.poll(readiness, { timeout: 20_000 }).toEqual({ status: 'ready', degraded: ['records'] })
    },
  )

  // Root may write everywhere, so another user is needed.
  const somebody = process.getuid?.() === 0 ? { uid: 65_534 } : {}
  it.runIf(process.platform === 'linux')(
    verifies(
      'I1',
      'in a directory that cannot be written: the start is refused with what to do, instead of records lost by a gateway that says ready',
    ),
    async () => {
      await chmod(directory, 0o555)
      expect(await refused(somebody)).toMatch(/^.* cannot be written \(EACCES\): .* must belong to user id \d+.*SIGNALBOX_DATA_DIR\n$/)
    },
  )

  it.runIf(process.platform === 'linux')(
    verifies('I1', 'that belongs to somebody else, in a directory that can be written: the start is refused, too'),
    async () => {
      await writeFile(database(), '', { mode: 0o000 })
      await chmod(directory, 0o777)
      expect(await refused(somebody)).toMatch(/^.*signalbox\.db cannot be written \(EACCES\): .* must belong to user id \d+/)
    },
  )
})

it(verifies('P5', 'a record holds the prices that were used and is a few kilobytes, whatever the catalog knows'), async () => {
  const running = await start()
  const { id } = await ask(running, 'x'.repeat(50_000))
  expect(await stop(running)).toBe(0)
  const file = new DatabaseSync(database(), { readOnly: true })
  const row = JSON.stringify(file.prepare('select * from generations where id = ?').get(id))
  file.close()
  expect(row.length).toBeLessThan(6_000)
  expect(row).toContain('unitPrices')
})

describe('kill -9', () => {
  it(
    verifies('I4', 'while keys are made and calls are answered leaves every file whole, and every key that was shown works'),
    { timeout: 120_000 },
    async () => {
      const shown: string[] = []
      // Killed when a call has been answered and the next one, or the write of the first, is in progress.
      for (const keys of [1, 3, 7]) {
        const running = await start()
        const before = shown.length
        const work = (async () => {
          for (;;) {
            const made = await api(running, 'POST', 'keys', { name: 'made in passing' })
            shown.push(((await made.json()) as { key: string }).key)
            if (shown.length === before + keys) running.child.kill('SIGKILL')
            void ask(running).catch(() => undefined)
          }
        })()
        await expect(work).rejects.toThrow()
        for (const name of await readdir(directory)) {
          if (name.endsWith('.json')) expect(JSON.parse(await readFile(join(directory, name), 'utf8'))).toBeTypeOf('object')
        }
      }
      expect(shown.length).toBeGreaterThanOrEqual(11)
      const running = await start()
      for (const key of shown) {
        const response = await fetch(`${running.url}/api/v1/models`, { headers: { authorization: `Bearer ${key}` } })
        await response.text()
        expect(response.status).toBe(200)
      }
      const check = new DatabaseSync(database(), { readOnly: true })
      expect(check.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
      check.close()
    },
  )
})

describe('a clock that jumps', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })
  const DAY = 86_400_000
  const real = Date.now

  it.each([
    ['a day ahead', DAY],
    ['a day back', -DAY],
    ['to 1970', -real() + 1],
    ['to 2100', 4_102_444_800_000 - real()],
  ])(verifies('I7', '%s breaks no stream, no limit and no record'), async (_name, jump) => {
    const upstream = await startFakeUpstream(stream(chatText('one ', 'two ', 'three ', 'four'), { everyMs: 40 }))
    const gateway = await startGateway(chatConfig([upstream.url], { limits: { requests_per_minute: 4 } }))
    let offset = 0
    vi.spyOn(Date, 'now').mockImplementation(() => real() + offset)
    const first = await gateway.respond({ model: 'acme/small', input: 'hi', stream: true })
    offset = jump
    const { terminal, text } = checkWire(await first.text())
    expect([terminal.type, text]).toEqual(['response.completed', 'one two three four'])
    await gateway.app.sink.flush()
    const record = (await (await gateway.api('GET', `/api/v1/generation?id=${first.headers.get('x-generation-id')}`)).json()) as {
      data: { latency: number; generation_time: number; total_cost: number }
    }
    expect(record.data.generation_time).toBeGreaterThanOrEqual(0)
    expect(record.data.generation_time).toBeLessThan(10_000)
    expect(record.data.latency).toBeGreaterThanOrEqual(0)
    expect(record.data.total_cost).toBeGreaterThan(0)
    // The rate limit neither blocks everyone for a day nor allows everything.
    const statuses: number[] = []
    let pauseSeconds = 0
    for (let n = 0; n < 12; n++) {
      const response = await gateway.respond({ model: 'acme/small', input: 'hi' })
      await response.text()
      statuses.push(response.status)
      if (response.status === 429) pauseSeconds = Math.max(pauseSeconds, Number(response.headers.get('retry-after')))
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(5)
    expect(statuses).toContain(429)
    expect(pauseSeconds).toBeLessThanOrEqual(60)
    await gateway.close()
    await upstream.close()
  })

  const busy = status(429, { error: { message: 'busy' } }, { 'retry-after': '1' })
  it.each([
    ['an hour ahead', 3_600_000],
    ['an hour back', -3_600_000],
  ])(verifies('I7', '%s between two attempts ends no call and makes none wait for it'), async (_name, jump) => {
    let offset = 0
    const jumping: Reply = (request, response) => {
      offset = jump
      return busy(request, response)
    }
    const upstream = await startFakeUpstream(busy, jumping, stream(chatText('served')))
    const gateway = await startGateway(chatConfig([upstream.url]))
    vi.spyOn(Date, 'now').mockImplementation(() => real() + offset)
    const response = await gateway.respond({ model: 'acme/small', input: 'hi' }, { signal: AbortSignal.timeout(10_000) })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('served')])
    await gateway.close()
    await upstream.close()
  })
})
