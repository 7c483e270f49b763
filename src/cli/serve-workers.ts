import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOf, type ConfigRead } from '../config/load.ts'
import { workersOf } from '../config/workers.ts'
import type { Config } from '../core/config.ts'
import type { HeldPort } from '../http/listen.ts'
import { ceiling } from '../lib/backoff.ts'
import { defined } from '../lib/defined.ts'
import type { Logger } from '../lib/logger.ts'
import { systemClock } from '../lib/clock.ts'
import { LONGEST_TIMER_MS } from '../lib/sleep.ts'
import type { ProcessMetrics } from '../telemetry/merge-metrics.ts'
import { AFTER_GRACE_MS } from '../wiring/stop-limits.ts'
import { onStopSignals } from './stop-signals.ts'
import type { FromWorker, ToWorker } from './worker-link.ts'
import { LOOK_MS, WorkerWatch } from './worker-watch.ts'

const RESTART = { baseMs: 250, maxMs: 10_000 }
/** A process that lived this long did not die of its start. */
const HEALTHY_MS = 10_000
const COLLECT_LIMIT_MS = 1_500

/** How long calls may take to end after a signal. */
export const graceOf = ({ server }: Pick<Config, 'server'>): number => server.shutdownDelay + server.shutdownGrace

/** When processes that were told to stop are killed: after the longest grace period that any of them has configured. */
export const stopLimitOf = (config: Pick<Config, 'server'>, reported: Iterable<number>): number =>
  Math.min(Math.max(graceOf(config), ...reported) + AFTER_GRACE_MS, LONGEST_TIMER_MS)

/** Warnings about running several processes with this configuration. */
export function workerWarnings({ storage }: Pick<Config, 'storage'>, workers: number): readonly string[] {
  if (storage.shared === 'redis') return []
  return [
    `${workers} processes without Redis: each counts requests and tokens per minute on its own, and budgets are compared every 30 seconds; set SIGNALBOX_REDIS_URL to count them together`,
  ]
}

/**
 * Serves one port with several processes. This process only supervises them and serves no calls. The workers listen on the port that is `heldPort` for
 * them; without one, this process accepts connections and hands them out. A worker that dies is replaced. The process ends when all workers have: in
 * order after SIGTERM or SIGINT, at once after a second signal, and with code 1 when the first worker cannot start.
 */
export function serveWithWorkers(config: Config, logger: Logger, heldPort?: HeldPort): void {
  const wanted = workersOf(config)
  for (const warning of workerWarnings(config, wanted)) logger.warn({}, warning)
  cluster.schedulingPolicy = cluster.SCHED_RR
  new Primary(config, wanted, logger, heldPort).start()
}

interface Collecting {
  readonly texts: ProcessMetrics[]
  missing: number
  readonly done: () => void
}

class Primary {
  readonly #config: Config
  readonly #wanted: number
  readonly #logger: Logger
  readonly #heldPort: HeldPort | undefined
  /** Per worker, by its latest configuration, which each reads for itself. */
  readonly #grace = new Map<number, number>()
  /** The latest configuration that any worker has accepted. */
  #lastGood: ConfigRead
  readonly #listening = new Set<number>()
  readonly #watch = new WorkerWatch(systemClock)
  readonly #collecting = new Map<number, Collecting>()
  #nextCollect = 0
  #serving = 0
  #stopping = false
  #failures = 0
  #exitCode = 0

  constructor(config: Config, wanted: number, logger: Logger, heldPort: HeldPort | undefined) {
    this.#config = config
    this.#lastGood = readOf(config)
    this.#wanted = wanted
    this.#logger = logger
    this.#heldPort = heldPort
  }

  start(): void {
    onStopSignals(
      (signal) => this.#stop(signal),
      () => this.#killAll(1),
    )
    // Workers watch the file themselves; the signal is for operators who send it by hand. One that is just starting would be ended by it, and reads
    // the file before it serves.
    process.on('SIGHUP', () => this.#workers().forEach(({ id, process: worker }) => this.#listening.has(id) && worker.kill('SIGHUP')))
    for (let i = 0; i < this.#wanted; i++) this.#fork()
    setInterval(() => this.#look(), LOOK_MS)
  }

  /** Ends a worker that no longer answers, so that it is replaced. Its callers notice that their connections break. */
  #look(): void {
    if (this.#stopping) return
    const watched = this.#workers().filter(({ id }) => this.#listening.has(id))
    const silent = this.#watch.look(watched.map((worker) => ({ id: worker.id, ask: () => send(worker, { kind: 'ask' }) })))
    for (const worker of watched.filter(({ id }) => silent.includes(id))) {
      this.#logger.error({ worker: worker.id, pid: worker.process.pid }, 'a process does not answer any more and is ended')
      worker.process.kill('SIGKILL')
    }
  }

  /** The living ones: `cluster.workers` keeps a dead worker until its channel has closed, which may come after its exit. */
  #workers(): readonly Worker[] {
    return Object.values(cluster.workers ?? {})
      .filter((worker) => worker !== undefined)
      .filter((worker) => !worker.isDead())
  }

  #fork(): void {
    const startedAt = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork()
    } catch (error) {
      return this.#notStarted(error)
    }
    worker.on('message', (message: FromWorker) => this.#hear(worker, message))
    worker.on('error', (error) => {
      // Sending to a worker that is just dying fails harmlessly.
      if (worker.process.pid !== undefined) return this.#logger.warn({ error, worker: worker.id }, 'a process could not be told something')
      // A worker that never started emits no exit, so it is removed here.
      delete cluster.workers?.[worker.id]
      this.#notStarted(error)
    })
    worker.on('exit', (code, signal) => this.#ended(worker, code, signal, performance.now() - startedAt))
  }

  #hear(worker: Worker, message: FromWorker): void {
    this.#watch.heard(worker.id)
    switch (message.kind) {
      case 'alive':
        return
      case 'serving':
        this.#serving++
        if (this.#serving !== this.#wanted) return
        this.#heldPort?.release()
        process.stdout.write(message.banner)
        return
      case 'listening':
        this.#listening.add(worker.id)
        return send(worker, { kind: 'begin', initial: readOf(this.#config), lastGood: this.#lastGood, ...defined({ port: this.#heldPort?.port }) })
      case 'configured':
        this.#grace.set(worker.id, message.graceMs)
        this.#lastGood = message.read
        return
      case 'fatal':
        this.#exitCode = 1
        if (!this.#stopping) this.#stop('a process that cannot go on')
        return
      case 'gather':
        void this.#collect().then((processes) => send(worker, { kind: 'gathered', id: message.id, processes }))
        return
      case 'collected': {
        const collecting = this.#collecting.get(message.id)
        if (collecting === undefined) return
        collecting.texts.push({ worker: String(worker.id), text: message.text })
        if (--collecting.missing === 0) collecting.done()
        return
      }
      default:
        return message satisfies never
    }
  }

  async #collect(): Promise<readonly ProcessMetrics[]> {
    const id = this.#nextCollect++
    const workers = this.#workers().filter((worker) => worker.isConnected())
    const answered = Promise.withResolvers<void>()
    const collecting: Collecting = { texts: [], missing: workers.length, done: answered.resolve }
    this.#collecting.set(id, collecting)
    for (const worker of workers) send(worker, { kind: 'collect', id })
    const limit = new AbortController()
    await Promise.race([answered.promise, sleep(COLLECT_LIMIT_MS, undefined, { signal: limit.signal }).catch(() => undefined)])
    limit.abort()
    this.#collecting.delete(id)
    return collecting.texts.toSorted((a, b) => Number(a.worker) - Number(b.worker))
  }

  #ended(worker: Worker, code: number | null, signal: string | null, livedMs: number): void {
    this.#grace.delete(worker.id)
    if (this.#stopping) {
      // A worker that was not listening yet was ended by the signal.
      if (code !== 0 && this.#listening.has(worker.id)) this.#exitCode = 1
      if (this.#workers().length === 0) process.exit(this.#exitCode)
      return
    }
    this.#listening.delete(worker.id)
    const ended = { worker: worker.id, pid: worker.process.pid, code, signal }
    if (this.#serving === 0) {
      // A worker that failed has printed the reason to its own standard error, and the others would fail the same way. One that was killed, for want of
      // memory for example, has said nothing.
      if (signal !== null) this.#logger.error(ended, 'a process ended during the start')
      return this.#killAll(1)
    }
    const waitMs = this.#startAnother(livedMs)
    this.#logger.error({ ...ended, restart_in_ms: waitMs }, 'a process ended; another is started')
  }

  /** The system cannot start another process at the moment: process or memory limit of the container, or open files of this process. */
  #notStarted(error: unknown): void {
    if (this.#stopping) return
    const isFirst = this.#serving === 0
    const waitMs = isFirst ? undefined : this.#startAnother(0)
    this.#logger.error({ error, ...defined({ restart_in_ms: waitMs }) }, 'a process could not be started')
    if (isFirst) this.#killAll(1)
  }

  /** Returns the delay in milliseconds. */
  #startAnother(livedMs: number): number {
    this.#failures = livedMs > HEALTHY_MS ? 0 : this.#failures + 1
    const waitMs = ceiling(Math.max(0, this.#failures - 1), RESTART)
    setTimeout(() => {
      if (!this.#stopping) this.#fork()
    }, waitMs)
    return waitMs
  }

  #stop(signal: string): void {
    this.#stopping = true
    const workers = this.#workers()
    this.#logger.info({ signal, processes: workers.length }, 'stopping')
    if (workers.length === 0) process.exit(0)
    for (const worker of workers) {
      if (this.#listening.has(worker.id)) send(worker, { kind: 'stop' })
      // It is not listening yet and would miss a message.
      else worker.process.kill('SIGTERM')
    }
    setTimeout(() => this.#killAll(1), stopLimitOf(this.#config, this.#grace.values())).unref()
  }

  #killAll(code: number): void {
    this.#stopping = true
    for (const worker of this.#workers()) worker.process.kill('SIGKILL')
    process.exit(code)
  }
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined)
}
