import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeDestination } from './fake-destination.ts'
import { generationSpans } from './received-spans.ts'

export interface CrashDrillOptions {
  readonly runs: number
  /** Calls per run; the process dies before they are all answered. */
  readonly calls: number
  readonly receiver: FakeDestination
  readonly random: () => number
  readonly onRun?: (run: number, recorded: number, delivered: number) => void
}

export interface CrashDrillReport {
  /** Generations found in the database at the end. */
  readonly recorded: number
  readonly delivered: number
  /** Deliveries beyond the first of an id: at-least-once is allowed to repeat, not to contradict. */
  readonly repeated: number
  readonly missing: readonly string[]
  readonly contradicting: readonly string[]
}

const KEY = `sk-sb-v1-${'a1'.repeat(24)}`
const MANAGEMENT_KEY = `sk-sb-mgmt-v1-${'b2'.repeat(24)}`
const MAIN = join(import.meta.dirname, '../main.ts')
const PARALLEL = 16
const START_LIMIT_MS = 30_000
const DRAIN_LIMIT_MS = 60_000

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

async function start(directory: string): Promise<Running> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    SIGNALBOX_PORT: '0',
    SIGNALBOX_DATA_DIR: directory,
    SIGNALBOX_API_KEY: KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
  }
  const child = spawn(process.execPath, [MAIN, 'serve'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const until = Date.now() + START_LIMIT_MS
  while (Date.now() < until && child.exitCode === null) {
    const url = /listens on (\S+)/.exec(output)?.[1]
    if (url !== undefined) return { child, url }
    await sleep(20)
  }
  child.kill('SIGKILL')
  throw new Error(`the gateway did not start: ${output.slice(-2_000)}`)
}

async function end({ child }: Running, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

async function api(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${path === 'responses' ? KEY : MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return response.json()
}

/** Calls until told to stop or until there are enough; a call whose gateway died counts as made. */
async function makeCalls(url: string, count: number): Promise<void> {
  let left = count
  const caller = async (): Promise<void> => {
    while (left-- > 0) await api(url, 'POST', 'responses', { model: 'demo/echo', input: `call ${left} `.repeat(20) }).catch(() => (left = 0))
  }
  await Promise.all(Array.from({ length: PARALLEL }, caller))
}

async function untilDrained(url: string, id: string): Promise<void> {
  const until = Date.now() + DRAIN_LIMIT_MS
  while (Date.now() < until) {
    const { data } = (await api(url, 'GET', `observability/destinations/${id}/status`)) as { data?: { queued: number } }
    if (data?.queued === 0) return
    await sleep(100)
  }
}

/** Kills a real gateway with SIGKILL at random moments under load, starts it again, and compares what was recorded with what arrived. */
export async function runCrashDrill({ runs, calls, receiver, random, onRun }: CrashDrillOptions): Promise<CrashDrillReport> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-crash-'))
  let running: Running | undefined
  try {
    running = await start(directory)
    const made = (await api(running.url, 'POST', 'observability/destinations', {
      type: 'webhook',
      name: 'drill',
      config: { url: `${receiver.url}/hook` },
    })) as {
      data: { id: string }
    }
    for (let run = 0; run < runs; run++) {
      const load = makeCalls(running.url, calls)
      await sleep(200 + random() * 3_000)
      await end(running, 'SIGKILL')
      await load
      running = await start(directory)
      onRun?.(run, recordedIds(directory).length, new Set(generationSpans(receiver.accepted).map(({ generationId }) => generationId)).size)
    }
    await untilDrained(running.url, made.data.id)
    await end(running, 'SIGTERM')
    return compare(recordedIds(directory), receiver)
  } finally {
    if (running !== undefined) await end(running, 'SIGKILL')
    await rm(directory, { recursive: true, force: true })
  }
}

function recordedIds(directory: string): readonly string[] {
  const database = new DatabaseSync(join(directory, 'signalbox.db'), { readOnly: true })
  const ids = database
    .prepare('select id from generations')
    .all()
    .map((row) => String(row['id']))
  database.close()
  return ids
}

function compare(recorded: readonly string[], receiver: FakeDestination): CrashDrillReport {
  const contents = new Map<string, string>()
  const contradicting = new Set<string>()
  let repeated = 0
  for (const { generationId, span } of generationSpans(receiver.accepted)) {
    const text = JSON.stringify(span)
    const before = contents.get(generationId)
    if (before === undefined) contents.set(generationId, text)
    else {
      repeated++
      if (before !== text) contradicting.add(generationId)
    }
  }
  return {
    recorded: recorded.length,
    delivered: contents.size,
    repeated,
    missing: recorded.filter((id) => !contents.has(id)),
    contradicting: [...contradicting],
  }
}
