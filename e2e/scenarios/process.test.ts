import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'
import { freePort } from '../../src/testing/free-port.ts'

/** The program as an operator sees it: the command line, its messages, its signals. */
const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
let directory: string
const children: ChildProcess[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-process-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  // Below npm the gateway may still write when its port has closed.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

interface Started {
  readonly child: ChildProcess
  readonly out: () => string
  readonly errors: () => string
  /** Resolves with the exit code. */
  readonly exit: Promise<number | null>
}

function signalbox(args: readonly string[], env: { readonly [name: string]: string } = {}, log: 'pipe' | number = 'pipe'): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', log],
    env: { PATH: process.env['PATH'] ?? '', HOME: directory, SIGNALBOX_PORT: '0', ...env },
  })
  children.push(child)
  let out = ''
  let errors = ''
  child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  return { child, out: () => out, errors: () => errors, exit: once(child, 'exit').then(([code]) => code as number | null) }
}

async function serving(
  args: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
): Promise<Started & { readonly url: string; readonly key: string }> {
  const started = signalbox(['serve', ...args], env)
  await expect.poll(started.out, { timeout: 10_000, interval: 20 }).toMatch(/curl -N [\s\S]*stream":true/)
  return { ...started, url: /listens on (\S+)/.exec(started.out())![1]!, key: /sk-sb-v1-\w+/.exec(started.out())?.[0] ?? '' }
}

const ask = (url: string, key: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/api/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })

/** Waits until the gateway is ready for requests. */
const ready = (url: string): Promise<void> =>
  expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000, interval: 10 }).toBe(200)

describe('signalbox serve', () => {
  it(verifies('P37', 'F9', 'prints keys once and a curl that works word for word'), async () => {
    const { url, out, child, exit } = await serving()
    const curl = /curl -N (\S+) \\\n\s+-H "([^"]+)" -H "([^"]+)" \\\n\s+-d '([^']+)'/.exec(out())!
    const headers = Object.fromEntries([curl[2]!, curl[3]!].map((line) => line.split(': ') as [string, string]))
    const response = await fetch(curl[1]!, { method: 'POST', headers, body: curl[4]! })
    expect(checkWire(await response.text()).text).toBe('Hello from Signalbox')
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    const again = await serving()
    expect(again.out()).not.toContain('sk-sb-')
    await ready(again.url)
    expect(url).toContain('127.0.0.1')
  })

  it(verifies('I5', 'finishes running streams after SIGTERM, refuses new ones, and keeps their records'), async () => {
    const { url, key, child, exit } = await serving()
    const running = await ask(url, key, { model: 'demo/slow', input: 'one two three four', stream: true })
    const id = running.headers.get('x-generation-id')!
    const reader = running.text()
    child.kill('SIGTERM')
    await expect
      .poll(() =>
        fetch(`${url}/healthz`).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed')
    expect(checkWire(await reader).terminal.type).toBe('response.completed')
    expect(await exit).toBe(0)
    const again = await serving([], { SIGNALBOX_API_KEY: 'another-key' })
    const record = await fetch(`${again.url}/api/v1/generation?id=${id}`, { headers: { authorization: 'Bearer another-key' } })
    expect(await record.json()).toMatchObject({ data: { id, streamed: true, finish_reason: 'stop' } })
  })

  // Nothing else would end the first process of a container, where a signal without a handler has no effect.
  it.each([1, 2])(verifies('I5', 'stopped while it waits for its database, ends at once and gracefully, with %i processes'), async (workers) => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const connected = once(silent, 'connection')
    const database = `postgres://nobody@127.0.0.1:${(silent.address() as AddressInfo).port}/none`
    const { child, exit, out } = signalbox(['serve', '--workers', String(workers)], { SIGNALBOX_DATABASE_URL: database })
    await connected
    child.kill('SIGTERM')
    expect([await exit, child.signalCode, out()]).toEqual([0, null, ''])
    silent.close()
  })

  it('is not ready before calls can be recorded', async () => {
    const gateway = await startGateway()
    const answer = await fetch(`${gateway.url}/readyz`)
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'not_ready', reason: 'starting: calls cannot be recorded yet' }])
    expect((await fetch(`${gateway.url}/`, { method: 'OPTIONS' })).status).toBe(503)
    await ready(gateway.url)
    await gateway.close()
  })

  it(verifies('I1', 'keeps the record of its first call, though it is killed a moment later'), async () => {
    const { url, key, child, exit } = await serving()
    await ready(url)
    const first = await ask(url, key, { model: 'demo/echo', input: 'hi' })
    expect(first.status).toBe(200)
    await first.text()
    // The time that a record waits in memory (the write-behind queue's age), plus a margin. If all processors are busy, it waits for as long as the metric
    // below says.
    await setTimeout(120)
    const waiting = async (): Promise<string | undefined> =>
      /^gateway_records_waiting (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
    await expect.poll(waiting, { timeout: 5_000, interval: 10 }).toBe('0')
    child.kill('SIGKILL')
    await exit
    const again = await serving([], { SIGNALBOX_API_KEY: 'another-key' })
    const headers = { authorization: 'Bearer another-key' }
    const id = first.headers.get('x-generation-id')!
    expect((await fetch(`${again.url}/api/v1/generation?id=${id}`, { headers })).status).toBe(200)
  })

  it('started by npm, receives the SIGTERM that npm gets', async () => {
    const child = spawn('npm', ['start', '--silent', '--', '--data', join(directory, 'data')], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, SIGNALBOX_PORT: '0', SIGNALBOX_CONFIG: '/dev/null' },
    })
    children.push(child)
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    await expect.poll(() => out, { timeout: 15_000 }).toMatch(/listens on/)
    const url = /listens on (\S+)/.exec(out)![1]!
    child.kill('SIGTERM')
    const isOpen = (): Promise<boolean> =>
      fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      )
    await expect.poll(isOpen, { timeout: 10_000 }).toBe(false)
  })

  it(verifies('I5', 'ends a stream in-band when the grace period is over'), async () => {
    await writeFile(join(directory, 'signalbox.yaml'), 'server: { shutdown_grace: 300ms }\n')
    const { url, key, child, exit } = await serving()
    const running = await ask(url, key, { model: 'demo/slow', input: 'word '.repeat(500), stream: true })
    const body = running.text()
    child.kill('SIGTERM')
    const { terminal } = checkWire(await body)
    expect(terminal['response']).toMatchObject({
      status: 'failed',
      error: { message: 'The gateway is shutting down' },
      error_type: 'provider_overloaded',
    })
    expect(await exit).toBe(0)
  })

  it('names every problem of a configuration: path, value and what would be right', async () => {
    await writeFile(
      join(directory, 'signalbox.yaml'),
      'server: { port: ninety }\nproviders:\n  - slug: acme\n    dialect: openai-caht\n    base_url: http://127.0.0.1:1/v1\nmodel: []\n',
    )
    const { exit, errors } = signalbox(['serve'], { SIGNALBOX_PORT: '' })
    expect(await exit).toBe(1)
    expect(errors()).toContain('server.port')
    expect(errors()).toContain('ninety')
    expect(errors()).toMatch(/model\b/)
    expect(errors()).not.toMatch(/at .*\.ts:\d+/)
  })

  it.each([
    [['--host', '0.0.0.0'], /Refusing to listen on 0\.0\.0\.0.*SIGNALBOX_API_KEY/],
    [['--port', 'many'], /whole number from 0 to 65535/],
    [['--port', ''], /whole number from 0 to 65535/],
    [['--config', 'missing.yaml'], /missing\.yaml/],
  ])(verifies('P38', 'F9', 'says what to do about %j'), async (args, sentence) => {
    const { exit, errors } = signalbox(['serve', ...args])
    expect(await exit).toBe(1)
    expect(errors()).toMatch(sentence)
  })

  it('says that a port is in use, and shows the keys the start has made', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const { exit, errors, out } = signalbox(['serve', '--port', String(port)])
    expect(await exit).toBe(1)
    expect(errors()).toContain(`Port ${port} is in use`)
    taken.close()
    // The next start creates no new keys.
    const { url } = await serving()
    expect((await ask(url, /sk-sb-v1-\w+/.exec(out())?.[0] ?? '', { model: 'demo/echo', input: 'hi' })).status).toBe(200)
  })

  it('continues after an unhandled rejection, and ends gracefully with an exit code after an uncaught exception', async () => {
    const fail =
      "process.on('SIGUSR2', () => void Promise.reject(new Error('unheard'))).on('SIGWINCH', () => setImmediate(() => { throw new Error('uncaught') }))"
    const { url, key, child, exit, out, errors } = await serving([], { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(fail)}"` })
    const said = (): string => out() + errors()
    child.kill('SIGUSR2')
    await expect.poll(said, { timeout: 5_000 }).toContain('unheard')
    expect((await ask(url, key, { model: 'demo/echo', input: 'still there' })).status).toBe(200)
    child.kill('SIGWINCH')
    expect(await exit).toBe(1)
    expect(said()).toContain('shutting down in order')
  })

  it('continues to serve when its log cannot be written: the disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const started = signalbox(['serve'], { SIGNALBOX_API_KEY: 'a-key' }, full)
    closeSync(full)
    await expect.poll(started.out, { timeout: 10_000, interval: 20 }).toContain('listens on')
    const url = /listens on (\S+)/.exec(started.out())![1]!
    // A failed call is one line of the log.
    for (let i = 0; i < 3; i++) expect((await ask(url, 'a-key', { model: 'demo/error-400', input: 'hi' })).status).toBe(400)
    expect((await ask(url, 'a-key', { model: 'demo/echo', input: 'still there' })).status).toBe(200)
    started.child.kill('SIGTERM')
    expect(await started.exit).toBe(0)
  })

  it.each([
    ['', []],
    [', with several processes', ['--workers', '2']],
  ])('continues to serve when its standard output is full%s', async (_name, args) => {
    const port = await freePort()
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [MAIN, 'serve', ...args], {
      cwd: directory,
      stdio: ['ignore', full, 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, SIGNALBOX_PORT: String(port), SIGNALBOX_API_KEY: 'a-key' },
    })
    closeSync(full)
    children.push(child)
    let errors = ''
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    await expect.poll(() => errors, { timeout: 10_000 }).toContain('standard output cannot be written')
    const status = async (): Promise<unknown> =>
      (await ask(`http://127.0.0.1:${port}`, 'a-key', { model: 'demo/echo', input: 'hi' }).catch(() => undefined))?.status
    await expect.poll(status, { timeout: 10_000 }).toBe(200)
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    expect((await exit)[0]).toBe(0)
  })

  it('reports that the output of a command could not be written', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [MAIN, 'check'], {
      cwd: directory,
      stdio: ['ignore', full, 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: directory },
    })
    closeSync(full)
    children.push(child)
    let errors = ''
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(errors).toBe('Standard output cannot be written, and what was to be shown there is lost (ENOSPC).\n')
  })

  it('survives a reload signal during its start', async () => {
    const early = "setImmediate(function look() { process.listenerCount('SIGHUP') > 0 ? process.kill(process.pid, 'SIGHUP') : setImmediate(look) })"
    await writeFile(join(directory, 'signalbox.yaml'), 'defaults: { model: demo/echo }\n')
    const { url, key, errors } = await serving([], { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(early)}"` })
    await expect.poll(errors, { timeout: 5_000 }).toContain('configuration reloaded')
    expect((await ask(url, key, { input: 'hi' })).status).toBe(200)
  })

  it(verifies('I10', 'takes a changed configuration over and keeps the last good one'), async () => {
    const file = join(directory, 'signalbox.yaml')
    await writeFile(file, 'defaults: { model: demo/echo }\n')
    const { url, key, child, errors } = await serving()
    const modelOf = async (): Promise<string> => ((await (await ask(url, key, { input: 'hi' })).json()) as { model: string }).model
    expect(await modelOf()).toBe('demo/echo')
    await writeFile(file, 'defaults: { model: demo/json }\n')
    child.kill('SIGHUP')
    await expect.poll(modelOf).toBe('demo/json')
    await writeFile(file, 'defaults: { model: nobody/serves-this }\nbroken: 1\n')
    child.kill('SIGHUP')
    await expect.poll(errors).toContain('broken')
    expect(await modelOf()).toBe('demo/json')
    const named = async (): Promise<unknown> => ((await (await fetch(`${url}/readyz`)).json()) as { degraded?: unknown }).degraded
    const isDegraded = async (): Promise<unknown> =>
      /^gateway_degraded\{what="configuration"\} (\d)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
    expect([await named(), await isDegraded()]).toEqual([['configuration'], '1'])
    await writeFile(file, 'defaults: { model: demo/echo }\n')
    child.kill('SIGHUP')
    await expect.poll(modelOf).toBe('demo/echo')
    expect([await named(), await isDegraded()]).toEqual([undefined, '0'])
    // The address stays until a restart, which would fail.
    await writeFile(file, 'server: { host: 0.0.0.0 }\n')
    child.kill('SIGHUP')
    await expect.poll(errors).toContain('"msg":"a start with the reloaded configuration would be refused: Refusing to listen on 0.0.0.0')
  })
})

describe('signalbox keys', () => {
  it(verifies('F6', 'creates, lists and revokes while the gateway runs; a revocation holds within five seconds'), async () => {
    const { url } = await serving()
    const created = signalbox(['keys', 'create', '--name', 'ci'])
    expect(await created.exit).toBe(0)
    const key = created.out().trim()
    expect(key).toMatch(/^sk-sb-v1-\w{64}$/)
    await expect.poll(async () => (await ask(url, key, { model: 'demo/echo', input: 'hi' })).status, { timeout: 5_000 }).toBe(200)
    const listed = signalbox(['keys', 'list'])
    await listed.exit
    expect(listed.out()).toMatch(/ci/)
    expect(listed.out()).not.toContain(key)
    const revoked = signalbox(['keys', 'revoke', 'ci'])
    expect(await revoked.exit).toBe(0)
    await expect.poll(async () => (await ask(url, key, { model: 'demo/echo', input: 'hi' })).status, { timeout: 5_000 }).toBe(401)
  })
})

describe('signalbox send, check and doctor', () => {
  it('prints an answer as it streams', async () => {
    const { url, key } = await serving()
    const sent = signalbox(['send', 'Hello from the shell', '--url', url, '--key', key])
    expect(await sent.exit).toBe(0)
    expect(sent.out()).toBe('Hello from the shell\n')
    const wrong = signalbox(['send', 'x', '--url', url, '--key', 'sk-sb-v1-wrong'])
    expect(await wrong.exit).toBe(1)
    expect(wrong.errors()).toContain('401')
  })

  it('says what a configuration serves and whether everything answers', async () => {
    const checked = signalbox(['check'])
    expect(await checked.exit).toBe(0)
    expect(checked.out()).toContain('providers: demo')
    // Nothing has been started here yet, and `doctor` does not start anything.
    const early = signalbox(['doctor'])
    expect(await early.exit).toBe(1)
    expect(early.out()).toContain(`There is no database at ${join(directory, 'data', 'signalbox.db')}`)
    await expect(access(join(directory, 'data'))).rejects.toThrow('ENOENT')
    await serving()
    const doctor = signalbox(['doctor'])
    expect(await doctor.exit).toBe(0)
    expect(doctor.out()).toMatch(/database: sqlite answers/)
  })

  it('prints the JSON Schema of the configuration file, whatever the file says', async () => {
    const printed = signalbox(['check', '--schema', '--config', 'no-such-file.yaml'])
    expect(await printed.exit).toBe(0)
    expect(JSON.parse(printed.out())).toMatchObject({ title: 'Signalbox configuration', properties: { server: { type: 'object' } } })
  })
})
