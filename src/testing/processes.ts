import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TEST_KEY, TEST_MANAGEMENT_KEY } from './start-gateway.ts'

const MAIN = join(import.meta.dirname, '../../bin/signalbox.js')
const START_LIMIT_MS = 30_000
const END_LIMIT_MS = 20_000
const MAX_OUTPUT = 16_000_000

/** A gateway as a process of its own. */
export interface GatewayProcess {
  readonly url: string
  readonly child: ChildProcess
  readonly pid: number
  /** Its output; only the last 16 MB. */
  readonly output: () => string
  /** One API call; `responses` uses the inference key and all others the management key. The body is parsed JSON, undefined if empty. */
  api(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>
  /** Resolves with the exit code, null if a signal ended it. */
  readonly exit: Promise<number | null>
  /** Sends the signal and waits for the end, also of its workers, which write to its directory until they notice. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

export interface GatewayProcessOptions {
  /** Both data directory and working directory. */
  readonly directory: string
  readonly args?: readonly string[]
  /** Options of Node itself, such as the heap size. */
  readonly nodeArgs?: readonly string[]
  readonly env?: { readonly [name: string]: string }
}

/** Runs `signalbox serve` with the tests' keys, on a free port by default, and waits until it reports its address. */
export async function startGatewayProcess({ directory, args = [], nodeArgs = [], env = {} }: GatewayProcessOptions): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [...nodeArgs, MAIN, 'serve', ...args], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: directory,
      SIGNALBOX_PORT: '0',
      SIGNALBOX_DATA_DIR: directory,
      SIGNALBOX_API_KEY: TEST_KEY,
      SIGNALBOX_MANAGEMENT_KEY: TEST_MANAGEMENT_KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const read = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-MAX_OUTPUT))
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  // Workers share the same pipes, which close when the last process has ended.
  const allGone = once(child, 'close')
  const until = performance.now() + START_LIMIT_MS
  while (performance.now() < until && child.exitCode === null && child.signalCode === null) {
    const url = /(?:listens|metrics) on (http\S+)/.exec(output)?.[1]
    if (url !== undefined && child.pid !== undefined) {
      const end = (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
        child.kill(signal)
        return Promise.race([allGone, sleep(END_LIMIT_MS, undefined, { ref: false })]).then(() => exit)
      }
      return { url, child, pid: child.pid, output: () => output, api: (...args) => call(url, ...args), exit, end }
    }
    await sleep(20)
  }
  child.kill('SIGKILL')
  throw new Error(`the gateway did not start: ${output.slice(-2_000)}`)
}

async function call(url: string, method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${path === 'responses' ? TEST_KEY : TEST_MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}
