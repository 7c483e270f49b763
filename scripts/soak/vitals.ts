import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ALLOCATOR, THREADS, V8_OPTIONS } from '../../bin/server-process.js'

/** What the gateway reports about itself after a full collection in all its threads. Bytes. */
export interface Vitals {
  readonly rss: number
  /** JavaScript heap and buffers of the serving thread. */
  readonly heap: number
  /** JavaScript heap of the delivery thread. */
  readonly threadHeap: number
  /** Active resources of the event loop, by kind: sockets, timers, requests. */
  readonly resources: { readonly [kind: string]: number }
}

export interface Sample extends Vitals {
  /** Seconds since the start of the load. */
  readonly at: number
  /** Bytes of resident memory without pages of files, which the kernel reclaims and reads again at will. */
  readonly own: number
  readonly files: number
  readonly sockets: number
  readonly calls: number
}

export interface SoakedGateway {
  readonly url: string
  readonly pid: number
  readonly ended: () => boolean
  /** The end of its standard error output. */
  readonly log: () => string
  vitals(): Promise<Vitals>
  stop(): Promise<number | null>
}

const START_LIMIT_MS = 30_000
const ANSWER_LIMIT_MS = 15_000
const LOG_CHARS = 8_000

export async function startSoakedGateway(directory: string, env: { readonly [name: string]: string }): Promise<SoakedGateway> {
  const child = fork(join(import.meta.dirname, 'gateway.ts'), ['serve'], {
    cwd: directory,
    // The options that servers run with. They are passed here, because a child with a channel cannot restart itself.
    env: { PATH: process.env['PATH'] ?? '', ...ALLOCATOR, ...THREADS, ...env },
    execArgv: ['--expose-gc', ...V8_OPTIONS],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  let log = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_CHARS)))
  const until = performance.now() + START_LIMIT_MS
  while (performance.now() < until && child.exitCode === null) {
    const url = /listens on (\S+)/.exec(output)?.[1]
    if (url !== undefined && child.pid !== undefined) {
      return {
        url,
        pid: child.pid,
        ended: () => child.exitCode !== null || child.signalCode !== null,
        log: () => log,
        vitals: () => askVitals(child),
        stop: async () => {
          const exit = once(child, 'exit')
          child.kill('SIGTERM')
          const [code] = (await exit) as [number | null]
          return code
        },
      }
    }
    await sleep(20)
  }
  child.kill('SIGKILL')
  throw new Error(`the gateway did not start: ${output}${log}`)
}

async function askVitals(child: ChildProcess): Promise<Vitals> {
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
  const answered = once(child, 'message', { signal: limit })
  child.send('vitals')
  try {
    const [vitals] = (await answered) as [Vitals]
    return vitals
  } catch (cause) {
    throw new Error(`the gateway did not say within ${ANSWER_LIMIT_MS / 1_000} s how it is`, { cause })
  }
}

/** The open files of a process, and how many of them are sockets. Linux only; zero elsewhere. */
export function openFiles(pid: number): { readonly files: number; readonly sockets: number } {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((name) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`)
      } catch {
        return ''
      }
    })
    return { files: links.length, sockets: links.filter((link) => link.startsWith('socket:')).length }
  } catch {
    return { files: 0, sockets: 0 }
  }
}

/** Resident memory of a process that is not backed by files (`RssAnon` of proc(5)), in bytes. Linux only; zero elsewhere. */
export function ownMemory(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024
  } catch {
    return 0
  }
}
