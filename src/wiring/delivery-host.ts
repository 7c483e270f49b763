import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { TestResult } from '../core/destination-account.ts'
import type { Config } from '../core/config.ts'
import type { Generation } from '../core/generation.ts'
import type { DestinationRecord, DestinationStore, Outbox, StoredDestination } from '../core/outbox.ts'
import type { Packing } from '../core/store.ts'
import { createHandOver, type PackedGeneration } from '../delivery/hand-over.ts'
import { createThreadHost, type Thread } from '../delivery/thread-host.ts'
import type { DeliverySettings, DeliveryThreadData } from '../delivery/thread-protocol.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { keepWasmWrappersGeneric } from '../lib/wasm-wrappers.ts'
import { withoutOversize } from '../store/index.ts'
import type { DeliveryMetrics } from '../telemetry/delivery-metrics.ts'
import type { RetentionMetrics } from '../telemetry/retention-metrics.ts'
import { VERSION } from '../version.ts'
import { createDeliveryLog } from './delivery-log.ts'

export interface DeliveryHostOptions {
  readonly config: Config
  readonly databaseFile: string
  readonly secretKey: Buffer
  readonly dataDirectory: string
  /** For reads, over the gateway's own connection. */
  readonly destinations: DestinationStore
  readonly keepsContent: (generation: Generation) => boolean
  readonly metrics: DeliveryMetrics
  readonly retention?: RetentionMetrics
  readonly logger: Logger
  readonly clock: Clock
  /** Limit of the thread's JavaScript heap; default `MAX_HEAP_MB`. */
  readonly heapMb?: number
  /** Default: a thread from the entry file beside this one. */
  readonly spawn?: SpawnThread | undefined
}

/** Starts a delivery thread whose JavaScript heap may have `heapMb` megabytes. */
export type SpawnThread = (data: DeliveryThreadData, heapMb: number) => Thread

/** The delivery thread as the gateway sees it. */
export interface DeliveryHost {
  start(): void
  /** Whether the thread has ever known its destinations. From then on a finished call is stored within milliseconds. */
  readonly hasStarted: boolean
  /**
   * Hands a batch of finished generations to the thread, which records them and selects their destinations. Resolves when they are durable. `behind`:
   * how many more wait.
   */
  insertMany(batch: readonly PackedGeneration[], behind?: number): Promise<void>
  /** The form in which records wait for `insertMany`. */
  readonly packing: Packing<PackedGeneration>
  /** Whether the content of this call is wanted: by a destination of its workspace, or by the workspace itself. */
  readonly wantsContent: (generation: Generation) => boolean
  /** Writes run in the thread, which keeps a copy of the destinations and owns their queues: a long queue does not hold up the gateway. */
  readonly destinations: DestinationStore
  readonly outbox: Pick<Outbox, 'status' | 'deadLetters' | 'replay' | 'purge'>
  /** Every destination is in privacy mode, whatever its row says. */
  readonly privacyLocked: boolean
  readonly test: (destination: DestinationRecord) => Promise<TestResult>
  readonly sendTest: (destination: DestinationRecord) => Promise<TestResult>
  configure(config: Config): void
  /** Destinations may have changed: read them now. */
  refresh(): void
  /** Finishes the deliveries under way, within the limit. */
  close(limitMs?: number): Promise<void>
}

/** Longer than the limits of any destination. */
const TEST_LIMIT_MS = 120_000
/** Deleting or stripping a long queue takes a while. */
const WRITE_LIMIT_MS = 60_000
const CLOSE_MS = 10_000
/**
 * Of the thread's JavaScript heap. Beyond it the thread ends and is restarted; the gateway lives on. It needs some thirty megabytes, but under a
 * tighter limit V8 runs full collections so often that they take an eighth of its time.
 */
const MAX_HEAP_MB = 2_048

export function createDeliveryHost(options: DeliveryHostOptions): DeliveryHost {
  const { config, keepsContent, metrics, logger, clock, spawn = spawnFrom(OWN_FILE), heapMb = MAX_HEAP_MB } = options
  let settings = settingsOf(config)
  // Until the thread has said which content it needs, all of it is handed over.
  let interested: ReadonlySet<string> | undefined
  let hasStarted = false
  const log = createDeliveryLog(logger, clock)
  const owner = `${hostname()}/${process.pid}/${randomBytes(6).toString('hex')}`

  const host = createThreadHost({
    spawn: () => spawn({ ...threadData(options, owner), settings }, heapMb),
    clock,
    onMessage: (message) => {
      if (message.kind === 'interest') {
        interested = new Set(message.workspaces)
        hasStarted = true
      } else if (message.kind === 'retention') options.retention?.finished(message.report)
      else if (message.kind === 'queues') metrics.queues(message.queues, clock.now())
      else {
        const { event } = message
        if (event.kind === 'batch') metrics.batch(event)
        if (event.kind === 'trimmed' || event.kind === 'expired') metrics.givenUp(event)
        log(event)
      }
    },
    onDeath: (error, waitMs) => {
      interested = undefined
      logger.error({ error, restart_in_ms: waitMs }, 'the delivery thread ended; nothing recorded is lost, it is started again')
    },
  })
  // The type of an answer follows from the name of the method, which is one of the store's.
  const call = <T>(method: string, args: readonly unknown[], limitMs?: number): Promise<T> => host.call(method, args, limitMs) as Promise<T>

  return {
    start: () => host.start(),
    get hasStarted() {
      return hasStarted
    },
    insertMany: (batch, behind = 0) => call('record', [batch, behind]),
    packing: createHandOver({ keepsContent, withoutOversize }),
    wantsContent: (generation) => (interested?.has(generation.workspaceId) ?? true) || keepsContent(generation),
    privacyLocked: config.destinations.privacyLocked,
    destinations: {
      list: (filter) => options.destinations.list(filter),
      get: (id, workspaceId) => options.destinations.get(id, workspaceId),
      insert: (destination, maxPerType) => call('insertDestination', [destination, maxPerType], WRITE_LIMIT_MS),
      update: (...args) => call<StoredDestination | undefined>('updateDestination', args, WRITE_LIMIT_MS),
      remove: (...args) => call<boolean>('removeDestination', args, WRITE_LIMIT_MS),
    },
    outbox: {
      status: (id) => call('status', [id]),
      deadLetters: (id, page) => call('deadLetters', [id, page]),
      replay: (id, now, letters) => call('replay', [id, now, letters], WRITE_LIMIT_MS),
      purge: (id, letters) => call('purge', [id, letters], WRITE_LIMIT_MS),
    },
    test: (destination) => call('test', [destination], TEST_LIMIT_MS),
    sendTest: (destination) => call('sendTest', [destination], TEST_LIMIT_MS),
    configure: (next) => {
      settings = settingsOf(next)
      // A thread that is just starting gets the settings with its data.
      call('configure', [settings]).catch(() => undefined)
    },
    refresh: () => void call('refresh', []).catch(() => undefined),
    close: (limitMs = CLOSE_MS) => host.close(limitMs),
  }
}

const settingsOf = ({ destinations, network, retention }: Config): DeliverySettings => ({
  retention,
  serviceName: destinations.serviceName,
  baseUrls: destinations.baseUrls,
  allowPrivate: network.allowPrivate.destinations,
})

function threadData({ config, databaseFile, secretKey, dataDirectory }: DeliveryHostOptions, owner: string): Omit<DeliveryThreadData, 'settings'> {
  const { url } = config.storage
  return {
    database: url === undefined ? { path: databaseFile } : { url: url.reveal() },
    secretKey,
    version: VERSION,
    directory: join(dataDirectory, 'exports'),
    privacyLocked: config.destinations.privacyLocked,
    owner,
    sends: config.server.role !== 'gateway',
  }
}

/** The running delivery threads of this process; one per gateway. */
export const threads = new Set<Worker>()

/** Sources have the file beside this one as TypeScript, a built package as JavaScript. */
const OWN_FILE = new URL(import.meta.url.endsWith('.ts') ? './delivery-worker.ts' : './delivery-worker.js', import.meta.url)

/** A thread that begins with this file. */
export const spawnFrom =
  (file: URL): SpawnThread =>
  (data, heapMb) => {
    keepWasmWrappersGeneric()
    const thread = new Worker(file, {
      workerData: data,
      name: 'signalbox-delivery',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    threads.add(thread)
    thread.once('exit', () => threads.delete(thread))
    return {
      send: (message) => thread.postMessage(message, []),
      listen: ({ message, error, exit }) => void thread.on('message', message).on('error', error).on('exit', exit),
      terminate: () => thread.terminate(),
    }
  }
