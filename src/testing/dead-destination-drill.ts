import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGatewayProcess, type GatewayProcess } from './processes.ts'
import { startSpanLedger, type SpanLedger } from './span-ledger.ts'

export interface DeadDestinationDrillOptions {
  /** How long the destination is dead under load, in seconds. */
  readonly seconds: number
  /** Calls per second to each of two gateways: one without destinations, one with a dead and a working one. */
  readonly callsPerSecond: number
  readonly onProgress?: (line: string) => void
}

export interface Percentiles {
  readonly p50: number
  readonly p99: number
}

export interface MemoryFigures {
  readonly early: number
  readonly late: number
  readonly highest: number
}

export interface DeadDestinationReport {
  /** Calls answered by the gateway with destinations; calls that could not be sent in time are skipped. */
  readonly answered: number
  readonly failed: number
  /** Milliseconds from the answer to the arrival at the working destination. */
  readonly delivery: Percentiles
  /** Answered calls that never arrived at the working destination. */
  readonly missing: number
  /** Milliseconds per answer, measured at the same times on the same machine. */
  readonly latency: { readonly alone: Percentiles; readonly delivering: Percentiles }
  /** Resident megabytes: the median of the second quarter of the time, the median of the last, and the maximum. */
  readonly memory: { readonly alone: MemoryFigures; readonly delivering: MemoryFigures }
  /** The status of the dead destination at the end of the outage. */
  readonly dead: { readonly [figure: string]: unknown }
  /** After recovery: how many of the answered calls arrived, and in how many seconds. */
  readonly revived: { readonly arrived: number; readonly seconds: number }
}

const REVIVAL_LIMIT_MS = 180_000
const SETTLE_LIMIT_MS = 20_000
const SAMPLE_MS = 1_000
/** The most concurrent calls at each gateway, so that a slow machine is not overloaded. */
const MAX_UNDER_WAY = 100

/** One destination does not answer for a while, then recovers. Meanwhile the deliveries to the other, the answers and the memory are measured. */
export async function runDeadDestinationDrill(options: DeadDestinationDrillOptions): Promise<DeadDestinationReport> {
  const { seconds, callsPerSecond, onProgress = () => undefined } = options
  const directories = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'signalbox-dead-'))))
  const living = await startSpanLedger()
  const dying = await startRevivable()
  const gateways: GatewayProcess[] = []
  try {
    for (const directory of directories) gateways.push(await startGatewayProcess({ directory }))
    const [alone, delivering] = gateways as [GatewayProcess, GatewayProcess]
    await addWebhook(delivering, living.url)
    const deadId = await addWebhook(delivering, dying.url)
    const loads = [createLoad(alone), createLoad(delivering)] as const
    const memory: { readonly alone: number[]; readonly delivering: number[] } = { alone: [], delivering: [] }
    const until = Date.now() + seconds * 1_000
    const sampler = setInterval(() => {
      memory.alone.push(residentMb(alone.pid))
      const count = memory.delivering.push(residentMb(delivering.pid))
      if (count % 30 === 0)
        onProgress(`${count} s: ${loads[1].answers.size} answered, ${living.arrivals.size} arrived, ${memory.delivering.at(-1)} MB`)
    }, SAMPLE_MS)
    await pace(loads, callsPerSecond, until)
    clearInterval(sampler)
    const [, load] = loads
    const arrivedAll = (ledger: SpanLedger): boolean => [...load.answers.keys()].every((id) => ledger.arrivals.has(id))
    await waitUntil(() => arrivedAll(living), SETTLE_LIMIT_MS)
    const dead = await statusOf(delivering, deadId)
    const revivedAt = Date.now()
    const revived = dying.revive()
    await waitUntil(() => arrivedAll(revived), REVIVAL_LIMIT_MS)
    const revival = { arrived: [...load.answers.keys()].filter((id) => revived.arrivals.has(id)).length, seconds: (Date.now() - revivedAt) / 1_000 }
    const delays = [...load.answers].flatMap(([id, at]) => (living.arrivals.has(id) ? [living.arrivals.get(id)! - at] : []))
    return {
      answered: load.answers.size,
      failed: load.failed,
      delivery: percentiles(delays),
      missing: load.answers.size - delays.length,
      latency: { alone: percentiles(loads[0].latencies), delivering: percentiles(loads[1].latencies) },
      memory: { alone: describeMemory(memory.alone), delivering: describeMemory(memory.delivering) },
      dead,
      revived: revival,
    }
  } finally {
    for (const gateway of gateways) await gateway.end('SIGKILL')
    await Promise.all([living.close(), dying.close()])
    for (const directory of directories) await rm(directory, { recursive: true, force: true })
  }
}

interface Load {
  /** When each answer was complete, by id. */
  readonly answers: Map<string, number>
  readonly latencies: number[]
  failed: number
  underWay: number
  ask(): Promise<void>
}

function createLoad(gateway: GatewayProcess): Load {
  const load: Load = {
    answers: new Map(),
    latencies: [],
    failed: 0,
    underWay: 0,
    ask: async () => {
      if (load.underWay >= MAX_UNDER_WAY) return
      load.underWay++
      const started = performance.now()
      const { status, body } = await gateway
        .api('POST', 'responses', { model: 'demo/echo', input: 'how are you today? '.repeat(50) })
        .catch(() => ({ status: 0, body: undefined }))
      load.underWay--
      if (status !== 200) {
        load.failed++
        return
      }
      load.latencies.push(performance.now() - started)
      load.answers.set((body as { id: string }).id, Date.now())
    },
  }
  return load
}

/** Calls both gateways at the same times, so that other load on the machine affects both. */
async function pace(loads: readonly Load[], callsPerSecond: number, until: number): Promise<void> {
  const started = Date.now()
  let asked = 0
  while (Date.now() < until) {
    const due = ((Date.now() - started) / 1_000) * callsPerSecond
    for (; asked < due; asked++) for (const load of asked % 2 === 0 ? loads : loads.toReversed()) void load.ask()
    await sleep(5)
  }
  await waitUntil(() => loads.every(({ underWay }) => underWay === 0), SETTLE_LIMIT_MS)
}

async function waitUntil(what: () => boolean, limitMs: number): Promise<void> {
  const until = Date.now() + limitMs
  while (!what() && Date.now() < until) await sleep(50)
}

/** Accepts connections and answers nothing, until it is revived at the same address. */
async function startRevivable(): Promise<{ readonly url: string; revive(): SpanLedger; close(): Promise<void> }> {
  const ledger = await startSpanLedger()
  const sockets = new Set<Socket>()
  let alive = false
  const server = createServer((request, response) => {
    if (!alive) return void request.resume()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      void fetch(ledger.url, { method: 'POST', body: Buffer.concat(chunks) }).then(
        () => response.end('{}'),
        () => response.destroy(),
      )
    })
  })
  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    revive() {
      alive = true
      for (const socket of sockets) socket.destroy()
      return ledger
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
      await ledger.close()
    },
  }
}

async function addWebhook(gateway: GatewayProcess, url: string): Promise<string> {
  const { status, body } = await gateway.api('POST', 'observability/destinations', { type: 'webhook', name: 'drill', config: { url: `${url}/hook` } })
  if (status !== 201) throw new Error(`the destination was not created: ${status} ${JSON.stringify(body)}`)
  return (body as { data: { id: string } }).data.id
}

async function statusOf(gateway: GatewayProcess, id: string): Promise<DeadDestinationReport['dead']> {
  const { body } = await gateway.api('GET', `observability/destinations/${id}/status`)
  return (body as { data: DeadDestinationReport['dead'] }).data
}

/** The process's memory as reported by the kernel; 0 if not available. */
function residentMb(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10
  return { p50: at(0.5), p99: at(0.99) }
}

function describeMemory(samples: readonly number[]): MemoryFigures {
  const quarter = Math.max(1, Math.floor(samples.length / 4))
  return {
    early: percentiles(samples.slice(quarter, 2 * quarter)).p50,
    late: percentiles(samples.slice(-quarter)).p50,
    highest: Math.max(0, ...samples),
  }
}
