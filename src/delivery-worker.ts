import { hostname } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createDestinationSnapshot } from './accounts/destination-snapshot.ts'
import { createEncryption } from './accounts/encryption.ts'
import type { Destination, DestinationContext } from './core/destination.ts'
import { GatewayError } from './core/error.ts'
import type { FinishedGeneration, GenerationContent } from './core/generation.ts'
import type { DestinationPatch, DestinationRecord, OutboxEntry, StoredDestination } from './core/outbox.ts'
import { sampleGeneration } from './delivery/sample-generation.ts'
import { createSelector, toOutboxEntry, type Selector } from './delivery/select.ts'
import { sendSample } from './delivery/send-sample.ts'
import { testConnection } from './delivery/test-connection.ts'
import { answerCall, type FromThread, type QueueFigures, type ThreadMethods, type ToThread } from './delivery/thread-protocol.ts'
import { createTransport, type Transport } from './delivery/transport.ts'
import type { DeliveryEvent } from './delivery/worker-options.ts'
import { createDeliveryWorker } from './delivery/worker.ts'
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

/** Composes what runs in the delivery thread: the write path of generations, and the engine that sends them. */
async function serveThread(data: DeliveryThreadData, post: (message: FromThread) => void): Promise<ThreadMethods> {
  const clock = systemClock
  const { database, version, directory, owner } = data
  const encryption = createEncryption({ current: Buffer.from(data.secretKey) })
  const store = await createStore('path' in database ? { path: database.path } : { url: new Secret(database.url), maxConnections: 4 })
  const outbox = store.outbox(encryption)
  const onEvent = (event: DeliveryEvent): void => post({ kind: 'event', event })
  const problem = (error: unknown): void => onEvent({ kind: 'problem', message: error instanceof Error ? error.message : String(error) })
  let { settings } = data
  let wayOut = openWayOut(settings, version)
  const transport: Transport = (request, timeoutMs, signal) => wayOut.transport(request, timeoutMs, signal)
  let selectors: ReadonlyMap<string, readonly Selector[]> = new Map()

  const snapshot = createDestinationSnapshot({
    store,
    encryption,
    clock,
    onChange: (destinations) => {
      selectors = selectorsByWorkspace(destinations, onEvent)
      post({ kind: 'interest', workspaces: [...selectors].filter(([, each]) => each.some(needsContent)).map(([workspace]) => workspace) })
      engine.wake()
    },
    onProblem: (message, destinationId) => onEvent({ kind: 'problem', message, ...(destinationId === undefined ? {} : { destinationId }) }),
  })
  const engine = createDeliveryWorker({
    outbox,
    types: DESTINATIONS,
    destination: (id) => snapshot.get(id),
    transport,
    clock,
    random: Math.random,
    owner,
    service: {
      get name() {
        return settings.serviceName
      },
      version,
    },
    get baseUrls() {
      return settings.baseUrls
    },
    directory,
    onEvent,
  })
  const timers = [
    setInterval(() => void readQueues(store, outbox).then((queues) => post({ kind: 'queues', queues }), problem), QUEUE_FIGURES_MS),
    setInterval(() => void outbox.sweep(SWEEP_ROWS).catch(problem), SWEEP_MS),
  ]
  // The database may be away at the start; then leases run out by themselves.
  await releaseGone(outbox, owner, 'path' in database).catch(problem)
  await snapshot.start()
  engine.start()

  /** The change is in the store: it is in force here too when the caller hears of it. */
  const changed = async <T>(result: T): Promise<T> => {
    await snapshot.refresh().catch(problem)
    engine.wake()
    return result
  }
  const typeOf = (name: string): Destination => {
    const type = DESTINATIONS.get(name)
    if (type === undefined) throw new GatewayError('invalid_request', `There is no destination type ${name}`)
    return type
  }
  const contextOf = (destination: DestinationRecord): DestinationContext => {
    const baseUrl = settings.baseUrls[destination.type]
    return {
      destinationId: destination.id,
      serviceName: settings.serviceName,
      serviceVersion: version,
      ...(baseUrl === undefined || baseUrl === null ? {} : { baseUrl }),
      directory,
      now: clock.now(),
      attempt: 0,
    }
  }
  const unlimited = new AbortController().signal

  return {
    async record(text: string) {
      // Recorded without knowing the destinations, it would never reach them.
      if (!snapshot.loaded) await snapshot.refresh()
      const entries = (JSON.parse(text) as readonly HandedOver[]).map((each) => toEntry(each, selectors.get(each.g.workspaceId) ?? []))
      await outbox.record(entries)
      if (entries.some((entry) => entry.deliveries.length > 0)) engine.wake()
    },
    insertDestination: async (destination: StoredDestination, maxPerType: number) =>
      changed(await store.destinations.insert(destination, maxPerType)),
    updateDestination: async (id: string, workspaceId: string, patch: DestinationPatch, revision: number) =>
      changed(await store.destinations.update(id, workspaceId, patch, revision)),
    removeDestination: async (id: string, workspaceId: string) => changed(await store.destinations.remove(id, workspaceId)),
    status: (id: string) => outbox.status(id),
    deadLetters: (id: string, page: { readonly offset: number; readonly limit: number }) => outbox.deadLetters(id, page),
    replay: async (id: string, now: number, letters: readonly string[] | undefined) => changed(await outbox.replay(id, now, letters)),
    purge: (id: string, letters: readonly string[] | undefined) => outbox.purge(id, letters),
    async test(destination: DestinationRecord) {
      const type = typeOf(destination.type)
      return testConnection(type, type.settings.parse(destination.config), contextOf(destination), transport, clock, unlimited)
    },
    async sendTest(destination: DestinationRecord) {
      const sample = sampleGeneration(`gen-${Math.floor(clock.now() / 1000)}-${randomId(20)}`, destination.workspaceId, clock.now())
      return sendSample(typeOf(destination.type), destination, sample, contextOf(destination), transport, clock, unlimited)
    },
    async configure(next: DeliverySettings) {
      const before = settings
      settings = next
      if (next.allowPrivate === before.allowPrivate) return
      const { egress } = wayOut
      wayOut = openWayOut(next, version)
      await egress.close()
    },
    async stop(deadlineMs: number) {
      for (const timer of timers) clearInterval(timer)
      await engine.stop(Math.max(0, deadlineMs - STOP_MARGIN_MS))
      await snapshot.close()
      await wayOut.egress.close()
      await store.close()
    },
  }
}

function openWayOut({ allowPrivate }: DeliverySettings, version: string): { readonly egress: Egress; readonly transport: Transport } {
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

type ThreadStore = Awaited<ReturnType<typeof createStore>>

async function readQueues(store: ThreadStore, outbox: ReturnType<ThreadStore['outbox']>): Promise<readonly QueueFigures[]> {
  const byType = new Map<string, QueueFigures>()
  for (const { id, type } of (await store.destinations.list({})).destinations) {
    const { queued, oldestAt } = await outbox.status(id)
    const sum = byType.get(type)
    const oldest = Math.min(sum?.oldestAt ?? Infinity, oldestAt ?? Infinity)
    byType.set(type, { type, queued: (sum?.queued ?? 0) + queued, oldestAt: Number.isFinite(oldest) ? oldest : undefined })
  }
  return [...byType.values()]
}

/**
 * Ends leases nobody holds any more: this process's own, from a thread that died, and with an embedded database those of processes of this
 * machine that are gone. Those of other machines end by themselves.
 */
async function releaseGone(outbox: ReturnType<ThreadStore['outbox']>, self: string, embedded: boolean): Promise<void> {
  for (const owner of await outbox.owners()) {
    const [host, pid] = owner.split('/')
    const gone = embedded && host === hostname() && !isAlive(Number(pid))
    if (owner === self || gone) await outbox.releaseAll(owner)
  }
}

function isAlive(pid: number): boolean {
  // Our own number under another name was somebody's who died before us.
  if (!Number.isInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const port = parentPort
if (port !== null) {
  const post = (message: FromThread): void => port.postMessage(message)
  // Calls that arrive during the start wait in the port's own queue of promises.
  const methods = serveThread(workerData as DeliveryThreadData, post)
  port.on('message', (message: ToThread) => void methods.then((ready) => answerCall(ready, message, post)))
}
