import { createDestinationSnapshot, type DestinationSnapshot } from '../accounts/destination-snapshot.ts'
import { createEncryption } from '../accounts/encryption.ts'
import { proxiesOf } from '../config/proxies.ts'
import type { DestinationPatch, DestinationRecord, DurableOutbox, GivenUp, StoredDestination } from '../core/outbox.ts'
import type { Store } from '../core/store.ts'
import { createConnectionTests, type ConnectionTests } from '../delivery/connection-tests.ts'
import { releaseGone } from '../delivery/gone-leases.ts'
import { shownStatus } from '../delivery/shown-status.ts'
import { needsContent, selectorsByWorkspace, toEntry, type PackedGeneration } from '../delivery/hand-over.ts'
import type { Selector } from '../delivery/select.ts'
import { gatewayContextOf, type GatewayContext } from '../delivery/gateway-context.ts'
import {
  type DeliverySettings,
  type DeliveryThreadData,
  type FromThread,
  type QueueFigures,
  type ThreadMethods,
} from '../delivery/thread-protocol.ts'
import type { Transport } from '../delivery/transport.ts'
import { trimQueues } from '../delivery/trim-queues.ts'
import type { DeliveryEvent } from '../delivery/worker-options.ts'
import { createDeliveryWorker, type DeliveryWorker } from '../delivery/worker.ts'
import { openDestinationClient, type DestinationClient } from '../delivery/destination-client.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { systemClock } from '../lib/clock.ts'
import { randomId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import { errorLine } from '../lib/error-line.ts'
import { createRetentionJob, createStore, type RetentionJob } from '../store/index.ts'

const QUEUE_FIGURES_MS = 5_000
const SWEEP_MS = 60_000
const SWEEP_ROWS = 2_000
const STOP_MARGIN_MS = 500
/** A few batches of records. If more wait, this thread cannot keep up: it then only records, and sends later. */
const MAX_BEHIND = 1_000

/** What runs in the delivery thread: the write path of generations and the engine that sends them. */
class DeliveryThread {
  readonly #data: DeliveryThreadData
  readonly #post: (message: FromThread) => void
  readonly #store: Store
  readonly #outbox: DurableOutbox
  readonly #snapshot: DestinationSnapshot
  readonly #engine: DeliveryWorker
  readonly #transport: Transport
  readonly #tests: ConnectionTests
  readonly #retention: RetentionJob
  #settings: DeliverySettings
  #client: DestinationClient
  readonly #gatewayContext: GatewayContext
  #selectors: ReadonlyMap<string, readonly Selector[]> = new Map()
  /** Why destinations select nothing, by their ids. */
  #unusable: ReadonlyMap<string, string> = new Map()
  #timers: readonly NodeJS.Timeout[] = []
  /** How many records wait in the gateway's memory. */
  #behind = 0

  constructor(data: DeliveryThreadData, store: Store, post: (message: FromThread) => void) {
    const encryption = createEncryption({ current: Buffer.from(data.secretKey) })
    this.#data = data
    this.#post = post
    this.#store = store
    this.#outbox = store.outbox(encryption, (message) => this.#tell({ kind: 'problem', message }))
    this.#settings = data.settings
    this.#gatewayContext = gatewayContextOf(() => this.#settings, data)
    this.#client = clientOf(data.settings, data)
    this.#transport = (request, timeoutMs, signal) => this.#client.transport(request, timeoutMs, signal)
    this.#tests = createConnectionTests({
      types: DESTINATIONS,
      gatewayContext: this.#gatewayContext,
      transport: this.#transport,
      clock: systemClock,
      newId: randomId,
    })
    this.#snapshot = createDestinationSnapshot({
      store,
      encryption,
      clock: systemClock,
      onChange: (destinations) => this.#take(destinations),
      onProblem: (message, destinationId) => this.#tell({ kind: 'problem', message, ...(destinationId === undefined ? {} : { destinationId }) }),
    })
    this.#engine = this.#createEngine()
    this.#retention = createRetentionJob({
      store: store.retention,
      facts: store.facts,
      standIn: !data.sends,
      clock: store.clock,
      random: Math.random,
      settings: () => this.#settings.retention,
      onReport: (report) => this.#post({ kind: 'retention', report }),
      onFailure: this.#complain,
    })
  }

  async #sweep(): Promise<void> {
    const onExpired = (expired: GivenUp): void => this.#tell({ kind: 'expired', ...expired })
    await this.#outbox.sweep(SWEEP_ROWS, this.#settings.retention.deadLettersMs, onExpired).catch(this.#complain)
    // Processes that send keep the queues within bounds. While no such process runs, the one that fills the queues does it.
    if (!this.#data.sends) await this.#trim().catch(this.#complain)
  }

  async #trim(): Promise<void> {
    const { destinations } = await this.#store.destinations.list({})
    await trimQueues(this.#outbox, destinations, (event) => this.#tell(event))
  }

  #createEngine(): DeliveryWorker {
    const gatewayContext = this.#gatewayContext
    return createDeliveryWorker({
      outbox: this.#outbox,
      types: DESTINATIONS,
      destination: (id) => this.#seen(this.#snapshot.get(id)),
      transport: this.#transport,
      clock: this.#store.clock,
      random: Math.random,
      owner: this.#data.owner,
      service: gatewayContext.service,
      get baseUrls() {
        return gatewayContext.baseUrls
      },
      directory: gatewayContext.directory,
      onEvent: (event) => this.#tell(event),
      // What is in the outbox is safe and can wait; what is in memory is not.
      putOff: () => this.#behind > MAX_BEHIND,
    })
  }

  async start(): Promise<void> {
    const figures = (): Promise<void> => readQueues(this.#store, this.#outbox).then((queues) => this.#post({ kind: 'queues', queues }))
    this.#timers = [setInterval(() => void figures().catch(this.#complain), QUEUE_FIGURES_MS)]
    // If the database is away now, the leases run out by themselves.
    if (this.#data.sends) await releaseGone(this.#outbox, this.#data.owner, 'path' in this.#data.database).catch(this.#complain)
    await this.#snapshot.start()
    this.#timers = [...this.#timers, setInterval(() => void this.#sweep(), SWEEP_MS)]
    // The clock may have been set back while the gateway was down.
    void this.#sweep()
    this.#retention.start()
    if (this.#data.sends) this.#engine.start()
  }

  methods(): ThreadMethods {
    const store = this.#store.destinations
    const outbox = this.#outbox
    return {
      record: (batch: readonly PackedGeneration[], behind: number) => this.#record(batch, behind),
      insertDestination: async (destination: StoredDestination, maxPerType: number) => this.#changed(await store.insert(destination, maxPerType)),
      updateDestination: async (id: string, workspaceId: string, patch: DestinationPatch, revision: number) =>
        this.#changed(await store.update(id, workspaceId, patch, revision)),
      removeDestination: async (id: string, workspaceId: string) => this.#changed(await store.remove(id, workspaceId)),
      status: async (id: string) => shownStatus(await outbox.status(id), this.#unusable.get(id), systemClock.now()),
      deadLetters: (id: string, page: { readonly offset: number; readonly limit: number }) => outbox.deadLetters(id, page),
      replay: async (id: string, now: number, letters: readonly string[] | undefined) => this.#changed(await outbox.replay(id, now, letters)),
      purge: (id: string, letters: readonly string[] | undefined) => outbox.purge(id, letters),
      test: (destination: DestinationRecord) => this.#tests.test(destination),
      sendTest: (destination: DestinationRecord) => this.#tests.sendTest(destination),
      configure: (settings: DeliverySettings) => this.#configure(settings),
      refresh: () => this.#changed(undefined),
      stop: (deadlineMs: number) => this.#stop(deadlineMs),
    }
  }

  #tell(event: DeliveryEvent): void {
    this.#post({ kind: 'event', event })
  }

  readonly #complain = (error: unknown): void => this.#tell({ kind: 'problem', message: errorLine(error) })

  #seen<T extends DestinationRecord | undefined>(destination: T): T {
    return destination !== undefined && this.#data.privacyLocked ? { ...destination, privacyMode: true } : destination
  }

  #take(stored: ReadonlyMap<string, DestinationRecord>): void {
    const destinations = new Map([...stored].map(([id, destination]) => [id, this.#seen(destination)]))
    const unusable = new Map<string, string>()
    this.#selectors = selectorsByWorkspace(destinations, (destinationId, message) => {
      unusable.set(destinationId, message)
      this.#tell({ kind: 'problem', destinationId, message })
    })
    this.#unusable = unusable
    const wanting = [...this.#selectors].filter(([, selectors]) => selectors.some(needsContent))
    this.#post({ kind: 'interest', workspaces: wanting.map(([workspace]) => workspace) })
    this.#engine.wake()
  }

  async #record(batch: readonly PackedGeneration[], behind: number): Promise<void> {
    this.#behind = behind
    // A record stored before the destinations are known would never reach them.
    if (!this.#snapshot.loaded) await this.#snapshot.refresh()
    const entries = batch.map((each) => toEntry(each, (workspaceId) => this.#selectors.get(workspaceId) ?? []))
    await this.#outbox.record(entries)
    if (entries.some((entry) => entry.deliveries.length > 0)) this.#engine.wake()
  }

  /** Runs after a change was stored: it is in force in this thread, too, when the caller hears of it. */
  async #changed<T>(result: T): Promise<T> {
    await this.#snapshot.refresh().catch(this.#complain)
    this.#engine.wake()
    return result
  }

  async #configure(next: DeliverySettings): Promise<void> {
    const policyChanged = next.allowPrivate !== this.#settings.allowPrivate
    this.#settings = next
    if (!policyChanged) return
    const before = this.#client
    this.#client = clientOf(next, this.#data)
    await before.close()
  }

  async #stop(deadlineMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#retention.stop()
    await this.#engine.stop(Math.max(0, deadlineMs - STOP_MARGIN_MS))
    await this.#snapshot.close()
    await this.#client.close()
    await this.#store.close()
  }
}

const clientOf = ({ allowPrivate }: DeliverySettings, { version }: DeliveryThreadData): DestinationClient =>
  openDestinationClient({ allowPrivate, userAgent: `signalbox/${version}`, proxies: proxiesOf(process.env) })

async function readQueues(store: Store, outbox: DurableOutbox): Promise<readonly QueueFigures[]> {
  const byType = new Map<string, QueueFigures>()
  const queues = new Map((await outbox.queues()).map((queue) => [queue.destinationId, queue]))
  for (const { id, type } of (await store.destinations.list({})).destinations) {
    const { queued = 0, oldestAt } = queues.get(id) ?? {}
    const sum = byType.get(type)
    const oldest = Math.min(sum?.oldestAt ?? Infinity, oldestAt ?? Infinity)
    byType.set(type, { type, queued: (sum?.queued ?? 0) + queued, oldestAt: Number.isFinite(oldest) ? oldest : undefined })
  }
  return [...byType.values()]
}

/** Opens the store and starts to deliver. Resolves with what the gateway may call; `stop` ends everything that was opened. */
export async function serveThread(data: DeliveryThreadData, post: (message: FromThread) => void): Promise<ThreadMethods> {
  const { database } = data
  const store = await createStore('path' in database ? { path: database.path } : { url: new Secret(database.url), maxConnections: 4 })
  const thread = new DeliveryThread(data, store, post)
  await thread.start()
  return thread.methods()
}
