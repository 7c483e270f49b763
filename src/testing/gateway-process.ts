import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A gateway as an operator runs it: a process of its own, which can be killed. */
export interface GatewayProcess {
  readonly pid: number
  readonly url: string
  /** Everything it wrote to its output; the last megabyte. */
  readonly output: () => string
  /** One call of the API; resolves with the status and the answer as JSON, undefined when it is none. */
  api(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>
  /** Resolves when it is gone; once it is, does nothing. */
  end(signal: NodeJS.Signals): Promise<void>
}

const KEY = `sk-sb-v1-${'a1'.repeat(24)}`
const MANAGEMENT_KEY = `sk-sb-mgmt-v1-${'b2'.repeat(24)}`
const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
const START_LIMIT_MS = 60_000
const MAX_OUTPUT = 1_000_000

/** Starts one on a free port with this data directory, and waits until it listens. */
export async function startGatewayProcess(directory: string, environment: { readonly [name: string]: string } = {}): Promise<GatewayProcess> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SIGNALBOX_PORT: '0',
    SIGNALBOX_DATA_DIR: directory,
    SIGNALBOX_API_KEY: KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
    ...environment,
  }
  const child = spawn(process.execPath, [MAIN, 'serve'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const read = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-MAX_OUTPUT))
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const until = Date.now() + START_LIMIT_MS
  while (Date.now() < until && child.exitCode === null) {
    const url = /listens on (\S+)/.exec(output)?.[1]
    if (url !== undefined)
      return { pid: child.pid!, url, output: () => output, api: (...args) => call(url, ...args), end: (signal) => end(child, signal) }
    await sleep(20)
  }
  child.kill('SIGKILL')
  throw new Error(`the gateway did not start: ${output.slice(-2_000)}`)
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

async function call(url: string, method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${path === 'responses' ? KEY : MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}
