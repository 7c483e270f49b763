import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallerFormat } from '../load/answer-check.ts'
import type { Scene } from '../mock/script.ts'

export interface BenchContext {
  readonly root: string
  /** A folder for this run, removed at its end. */
  readonly temp: string
  readonly upstreamPort: number
  readonly upstreamPid: number
  /** The core for gateways; undefined if pinning is not possible. */
  readonly core: number | undefined
  /** The Node that runs peers; by default the one that runs everything else. */
  readonly peerNode: string
}

export interface RunningTarget {
  readonly port: number
  /** Undefined for the target without a process of its own. */
  readonly pid: number | undefined
  /** Milliseconds from spawn to the first correct answer. */
  readonly readyMs: number
  /** The number of answered calls that still have to be forwarded. Absent if nothing is forwarded. */
  readonly pending?: () => Promise<number>
  stop(): Promise<void>
}

/** A way from the caller to the mock upstream. One file each. */
export interface Target {
  readonly name: string
  readonly title: string
  readonly format: CallerFormat
  /** The model that the caller names for a scene. */
  readonly model: (scene: Scene) => string
  readonly path: string
  readonly headers: (context: BenchContext) => { readonly [name: string]: string }
  /** Only measured if named explicitly. */
  readonly onRequest?: true
  /** Why it cannot run here; undefined if it can. May install what it needs. */
  unavailable(context: BenchContext): Promise<string | undefined> | string | undefined
  start(context: BenchContext): Promise<RunningTarget>
  /** Starts several processes that share a port, on the same cores as the calling process. Absent for targets that are a single program, or not ours. */
  startWorkers?(context: BenchContext, workers: number): Promise<RunningTarget>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

const OUTPUT_KEPT = 4000

/** Starts a program on a core and registers it, so that it never outlives the bench. */
export function spawnPinned(
  core: number | undefined,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess & { lastOutput(): string } {
  const [program, ...rest] = core === undefined ? [command, ...args] : ['taskset', '-c', String(core), command, ...args]
  const child = spawn(program, rest, { env: { ...env, NODE_ENV: 'production' }, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-OUTPUT_KEPT)))
  return Object.assign(child, { lastOutput: () => output.trim() })
}

/** Polls until the path answers with a status below 500; rejects with the program's output if it ends or the limit passes. */
export async function waitUntilReady(child: ReturnType<typeof spawnPinned>, port: number, path: string, limitMs = 20_000): Promise<number> {
  const started = performance.now()
  while (performance.now() - started < limitMs) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`it ended with ${child.exitCode ?? child.signalCode}: ${child.lastOutput()}`)
    if (await answers(port, path)) return performance.now() - started
    await sleep(4)
  }
  throw new Error(`not ready within ${limitMs / 1000} s: ${child.lastOutput()}`)
}

function answers(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ host: '127.0.0.1', port, path, agent: false, timeout: 1_000 }, (response) => {
      response.resume()
      resolve((response.statusCode ?? 500) < 500)
    })
    probe.on('timeout', () => probe.destroy())
    probe.on('error', () => resolve(false))
    probe.end()
  })
}

/** Asks the process to end, then forces it. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000)
  await ended
  clearTimeout(timer)
}

/** A target that is one program with an HTTP port. */
export async function startProgram(
  context: BenchContext,
  port: number,
  probe: string,
  command: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<RunningTarget> {
  const child = spawnPinned(context.core, command, args, env)
  try {
    const readyMs = await waitUntilReady(child, port, probe)
    return { port, pid: child.pid, readyMs, stop: () => stopChild(child) }
  } catch (error) {
    await stopChild(child)
    throw error
  }
}
