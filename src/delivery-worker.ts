import { parentPort, workerData } from 'node:worker_threads'
import { createDestinationSnapshot, type DestinationSnapshot } from './accounts/destination-snapshot.ts'
import { createEncryption } from './accounts/encryption.ts'
import type { Destination, DestinationContext } from './core/destination.ts'
import { GatewayError } from './core/error.ts'
import type { FinishedGeneration, GenerationContent } from './core/generation.ts'
import type { DestinationPatch, DestinationRecord, DurableOutbox, OutboxEntry, StoredDestination } from './core/outbox.ts'
import type { Store } from './core/store.ts'
import { releaseGone } from './delivery/gone-leases.ts'
import { sampleGeneration } from './delivery/sample-generation.ts'
import { createSelector, toOutboxEntry, type Selector } from './delivery/select.ts'
import { sendSample } from './delivery/send-sample.ts'
import { testConnection, type ConnectionTest } from './delivery/test-connection.ts'
import { answerCall, type FromThread, type QueueFigures, type ThreadMethods, type ToThread } from './delivery/thread-protocol.ts'
import { createTransport, type Transport } from './delivery/transport.ts'
import type { DeliveryEvent } from './delivery/worker-options.ts'
import { createDeliveryWorker, type DeliveryWorker } from './delivery/worker.ts'
import { DESTINATIONS } from './destinations/index.ts'
import { systemClock } from './lib/clock.ts'
import { createEgress, type Egress } from './lib/egress.ts'
import { randomId } from './lib/id.ts'
import { Secret } from './lib/secret.ts'
import { createStore } from './store/index.ts'

/** The operator's choices that may change while the thread runs. */
export interface DeliverySettings {
  readonly serviceName: string
  readonly baseUrls: { readonly [type: string]: string | null }
  readonly allowPrivate: boolean
}

/** What a delivery thread is started with. */
export interface DeliveryThreadData {
  readonly database: { readonly path: string } | { readonly url: string }
  readonly secretKey: Uint8Array
  readonly version: string
  /** Where destinations that write files may write. */
  readonly directory: string
  /** Names the leases of this process; a thread started again takes the same. */
  readonly owner: string
  readonly settings: DeliverySettings
}

/** One finished generation as it is handed over: short names, because they are written for each. */
export interface HandedOver {
  readonly g: FinishedGeneration['generation']
  /** Absent when neither a destination nor the workspace wants it. */
  readonly c?: GenerationContent
  /** The workspace keeps it with the record. */
  readonly k?: 1
}

const QUEUE_FIGURES_MS = 5_000
const SWEEP_MS = 60_000
const SWEEP_ROWS = 2_000
const STOP_MARGIN_MS = 500
/** Of a connection test with all its steps. */
const TEST_LIMIT_MS = 110_000

/** What runs in the delivery thread: the write path of generations, and the engine that sends them. */
class DeliveryThread {
  readonly #data: DeliveryThreadData
  readonly #post: (message: FromThread) => void
  readonly #store: Store
  readonly #outbox: DurableOutbox
  readonly #snapshot: DestinationSnapshot
  readonly #engine: DeliveryWorker
  readonly #transport: Transport
  #settings: DeliverySettings
  #wayOut: WayOut
  #selectors: ReadonlyMap<string, readonly Selector[]> = new Map()
  #timers: readonly NodeJS.Timeout[] = []

  constructor(data: DeliveryThreadData, store: Store, post: (message: FromThread) => void) {
    const encryption = createEncryption({ current: Buffer.from(data.secretKey) })
    this.#data = data
    this.#post = post
    this.#store = store
    this.#outbox = store.outbox(encryption)
    this.#settings = data.settings
    this.#wayOut = openWayOut(data.settings, data.version)
    this.#transport = (request, timeoutMs, signal) => this.#wayOut.transport(request, timeoutMs, signal)
    this.#snapshot = createDestinationSnapshot({
      store,
      encryption,
      clock: systemClock,
      onChange: (destinations) => this.#take(destinations),
      onProblem: (message, destinationId) => this.#tell({ kind: 'problem', message, ...(destinationId === undefined ? {} : { destinationId }) }),
    })
    this.#engine = this.#createEngine()
  }

  #createEngine(): DeliveryWorker {
    const settings = (): DeliverySettings => this.#settings
    const { version, owner, directory } = this.#data
    return createDeliveryWorker({
      outbox: this.#outbox,
      types: DESTINATIONS,
      destination: (id) => this.#snapshot.get(id),
      transport: this.#transport,
      clock: systemClock,
      random: Math.random,
      owner,
      // Read at every use: the operator may change them while the thread runs.
      service: {
        get name() {
          return settings().serviceName
        },
        version,
      },
      get baseUrls() {
        return settings().baseUrls
      },
      directory,
      onEvent: (event) => this.#tell(event),
    })
  }

  async start(): Promise<void> {
    const figures = (): Promise<void> => readQueues(this.#store, this.#outbox).then((queues) => this.#post({ kind: 'queues', queues }))
    this.#timers = [
      setInterval(() => void figures().catch(this.#complain), QUEUE_FIGURES_MS),
      setInterval(() => void this.#outbox.sweep(SWEEP_ROWS).catch(this.#complain), SWEEP_MS),
    ]
    // The database may be away at the start; then leases run out by themselves.
    await releaseGone(this.#outbox, this.#data.owner, 'path' in this.#data.database).catch(this.#complain)
    await this.#snapshot.start()
    this.#engine.start()
  }

  methods(): ThreadMethods {
    const store = this.#store.destinations
    const outbox = this.#outbox
    return {
      record: (text: string) => this.#record(text),
      insertDestination: async (destination: StoredDestination, maxPerType: number) => this.#changed(await store.insert(destination, maxPerType)),
      updateDestination: async (id: string, workspaceId: string, patch: DestinationPatch, revision: number) =>
        this.#changed(await store.update(id, workspaceId, patch, revision)),
      removeDestination: async (id: string, workspaceId: string) => this.#changed(await store.remove(id, workspaceId)),
      status: (id: string) => outbox.status(id),
      deadLetters: (id: string, page: { readonly offset: number; readonly limit: number }) => outbox.deadLetters(id, page),
      replay: async (id: string, now: number, letters: readonly string[] | undefined) => this.#changed(await outbox.replay(id, now, letters)),
      purge: (id: string, letters: readonly string[] | undefined) => outbox.purge(id, letters),
      test: (destination: DestinationRecord) => this.#test(destination),
      sendTest: (destination: DestinationRecord) => this.#sendTest(destination),
      configure: (settings: DeliverySettings) => this.#configure(settings),
      stop: (deadlineMs: number) => this.#stop(deadlineMs),
    }
  }

  #tell(event: DeliveryEvent): void {
    this.#post({ kind: 'event', event })
  }

  readonly #complain = (error: unknown): void => this.#tell({ kind: 'problem', message: error instanceof Error ? error.message : String(error) })

  #take(destinations: ReadonlyMap<string, DestinationRecord>): void {
    this.#selectors = selectorsByWorkspace(destinations, (event) => this.#tell(event))
    const wanting = [...this.#selectors].filter(([, selectors]) => selectors.some(needsContent))
    this.#post({ kind: 'interest', workspaces: wanting.map(([workspace]) => workspace) })
    this.#engine.wake()
  }

  async #record(text: string): Promise<void> {
    // Recorded without knowing the destinations, it would never reach them.
    if (!this.#snapshot.loaded) await this.#snapshot.refresh()
    const entries = (JSON.parse(text) as readonly HandedOver[]).map((each) => toEntry(each, this.#selectors.get(each.g.workspaceId) ?? []))
    await this.#outbox.record(entries)
    if (entries.some((entry) => entry.deliveries.length > 0)) this.#engine.wake()
  }

  /** The change is in the store: it is in force here too when the caller hears of it. */
  async #changed<T>(result: T): Promise<T> {
    await this.#snapshot.refresh().catch(this.#complain)
    this.#engine.wake()
    return result
  }

  #contextOf(destination: DestinationRecord): DestinationContext {
    const baseUrl = this.#settings.baseUrls[destination.type]
    return {
      destinationId: destination.id,
      serviceName: this.#settings.serviceName,
      serviceVersion: this.#data.version,
      ...(baseUrl === undefined || baseUrl === null ? {} : { baseUrl }),
      directory: this.#data.directory,
      now: systemClock.now(),
      attempt: 0,
    }
  }

  async #test(destination: DestinationRecord): Promise<ConnectionTest> {
    const type = typeOf(destination)
    const settings: unknown = type.settings.parse(destination.config)
    return testConnection(type, settings, this.#contextOf(destination), this.#transport, systemClock, AbortSignal.timeout(TEST_LIMIT_MS))
  }

  async #sendTest(destination: DestinationRecord): Promise<ConnectionTest> {
    const now = systemClock.now()
    const sample = sampleGeneration(`gen-${Math.floor(now / 1000)}-${randomId(20)}`, destination.workspaceId, now)
    return sendSample({
      type: typeOf(destination),
      destination,
      sample,
      context: this.#contextOf(destination),
      transport: this.#transport,
      clock: systemClock,
      signal: AbortSignal.timeout(TEST_LIMIT_MS),
    })
  }

  async #configure(next: DeliverySettings): Promise<void> {
    const policyChanged = next.allowPrivate !== this.#settings.allowPrivate
    this.#settings = next
    if (!policyChanged) return
    const { egress } = this.#wayOut
    this.#wayOut = openWayOut(next, this.#data.version)
    await egress.close()
  }

  async #stop(deadlineMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#engine.stop(Math.max(0, deadlineMs - STOP_MARGIN_MS))
    await this.#snapshot.close()
    await this.#wayOut.egress.close()
    await this.#store.close()
  }
}

function typeOf({ type: name }: DestinationRecord): Destination {
  const type = DESTINATIONS.get(name)
  if (type === undefined) throw new GatewayError('invalid_request', `There is no destination type ${name}`)
  return type
}

interface WayOut {
  readonly egress: Egress
  readonly transport: Transport
}

function openWayOut({ allowPrivate }: DeliverySettings, version: string): WayOut {
  const egress = createEgress({ allowPrivate, userAgent: `signalbox/${version}` })
  return { egress, transport: createTransport(egress) }
}

function selectorsByWorkspace(
  destinations: ReadonlyMap<string, DestinationRecord>,
  onEvent: (event: DeliveryEvent) => void,
): ReadonlyMap<string, readonly Selector[]> {
  const grouped = new Map<string, Selector[]>()
  for (const destination of destinations.values()) {
    if (!destination.enabled) continue
    try {
      const group = grouped.get(destination.workspaceId)
      const selector = createSelector(destination)
      if (group === undefined) grouped.set(destination.workspaceId, [selector])
      else group.push(selector)
    } catch (error) {
      onEvent({ kind: 'problem', destinationId: destination.id, message: error instanceof Error ? error.message : String(error) })
    }
  }
  return grouped
}

/** Whether a destination sends content, or chooses by it. */
function needsContent({ destination }: Selector): boolean {
  const { privacyMode, filterRules } = destination
  return !privacyMode || (filterRules?.groups.some(({ rules }) => rules.some(({ field }) => field === 'input' || field === 'output')) ?? false)
}

const NOTHING_SAID: GenerationContent = { input: [], output: [] }

function toEntry({ g: generation, c: content, k: keep }: HandedOver, selectors: readonly Selector[]): OutboxEntry {
  const kept = keep === 1 && content !== undefined ? { keptContent: content } : {}
  if (selectors.length === 0) return { generation, deliveries: [], bytes: 0, ...kept }
  if (content !== undefined) return { ...toOutboxEntry({ generation, content }, selectors), ...kept }
  // Finished before anybody wanted its content: what came after it is told of the call alone.
  const { deliveries, bytes } = toOutboxEntry({ generation, content: NOTHING_SAID }, selectors)
  return { generation, deliveries: deliveries.map(({ destinationId }) => ({ destinationId, withContent: false })), bytes }
}

async function readQueues(store: Store, outbox: DurableOutbox): Promise<readonly QueueFigures[]> {
  const byType = new Map<string, QueueFigures>()
  for (const { id, type } of (await store.destinations.list({})).destinations) {
    const { queued, oldestAt } = await outbox.status(id)
    const sum = byType.get(type)
    const oldest = Math.min(sum?.oldestAt ?? Infinity, oldestAt ?? Infinity)
    byType.set(type, { type, queued: (sum?.queued ?? 0) + queued, oldestAt: Number.isFinite(oldest) ? oldest : undefined })
  }
  return [...byType.values()]
}

async function serveThread(data: DeliveryThreadData, post: (message: FromThread) => void): Promise<ThreadMethods> {
  const { database } = data
  const store = await createStore('path' in database ? { path: database.path } : { url: new Secret(database.url), maxConnections: 4 })
  const thread = new DeliveryThread(data, store, post)
  await thread.start()
  return thread.methods()
}

const port = parentPort
if (port !== null) {
  const post = (message: FromThread): void => port.postMessage(message)
  // Calls that arrive during the start wait for it.
  const methods = serveThread(workerData as DeliveryThreadData, post)
  port.on('message', (message: ToThread) => void methods.then((ready) => answerCall(ready, message, post)))
}
