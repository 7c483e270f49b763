import { vi } from 'vitest'
import { createEncryption } from '../accounts/encryption.ts'
import type { FinishedGeneration } from '../core/generation.ts'
import type { OutgoingRequest } from '../core/destination.ts'
import type { DestinationRecord, DurableOutbox, LeasedDelivery, Settlement } from '../core/outbox.ts'
import { DEFAULT_WORKSPACE_ID, type Store } from '../core/store.ts'
import { createHandOver, selectorsByWorkspace, toEntry } from '../delivery/hand-over.ts'
import { createDeliveryWorker, type DeliveryEvent, type DeliveryWorker } from '../delivery/worker.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { seeded } from './replay-server.ts'
import { sampleDestination, sampleGeneration } from './sample-records.ts'
import { createScheduledPlatform, type ScheduledPlatform } from './scheduled-platform.ts'
import { secretConfigs } from './secret-configs.ts'

export const START = 1_800_000_000_000
export const MINUTE = 60_000
/** Part of every message and answer. */
export const SPOKEN = 'said-canary'

export interface WorldDestination {
  readonly id: string
  record: DestinationRecord
  readonly platform: ScheduledPlatform
  readonly secrets: string[]
  /** What has to arrive: filled as generations are recorded, by an implementation of the rules that is independent of the worker's. */
  readonly owed: Set<string>
  deletedAt: number
  /** When it was switched off. */
  readonly off: { readonly from: number; to: number }[]
  privateFrom: number
  readonly changes: number[]
}

export interface Member {
  readonly name: string
  dead: boolean
  worker: DeliveryWorker
}

export interface WorldOptions {
  readonly seed: number
  /** Stores on the same database, one for each process. */
  readonly stores: readonly Store[]
  readonly wants: (destination: WorldDestination, generation: FinishedGeneration['generation']) => boolean
}

const never = (): Promise<never> => new Promise(() => undefined)

/** Destinations, workers and platforms on one clock, which only moves when told to. Needs the test's fake timers. */
export class World {
  readonly random: () => number
  readonly destinations: WorldDestination[] = []
  readonly members: Member[] = []
  readonly events: DeliveryEvent[] = []
  readonly recordedAt = new Map<string, number>()
  readonly #options: WorldOptions
  readonly #outboxes: DurableOutbox[]
  readonly #leased = new Map<string, LeasedDelivery>()
  #pending = 0
  #skew = 0
  #count = 0
  #born = 0
  /** Makes every second call of a worker to its outbox fail. */
  isStoreFailing = false

  constructor(options: WorldOptions) {
    this.#options = options
    this.random = seeded(options.seed)
    const encryption = createEncryption({ current: Buffer.alloc(32, 7) })
    this.#outboxes = options.stores.map((store) => store.outbox(encryption, (message) => this.events.push({ kind: 'problem', message })))
  }

  readonly now = (): number => Date.now() + this.#skew
  int = (n: number): number => Math.floor(this.random() * n)
  pick = <T>(list: readonly T[]): T => list[this.int(list.length)]!
  get outbox(): DurableOutbox {
    return this.#outboxes[0]!
  }
  get store(): Store {
    return this.#options.stores[0]!
  }

  async addDestination(changes: Partial<DestinationRecord> = {}): Promise<WorldDestination> {
    const n = this.destinations.length
    const id = `dest-${n}`
    const type = changes.type ?? this.pick(Object.keys(secretConfigs))
    const secret = `s3cr/t+${n}=${'abcdef'.repeat(2)}${n}0`
    const record: DestinationRecord = {
      ...sampleDestination(id),
      type,
      config: secretConfigs[type]!(`https://platform-${n}.test`, secret),
      createdAt: this.now(),
      updatedAt: this.now(),
      ...changes,
    }
    const platform = createScheduledPlatform(this.now, this.random)
    const destination: WorldDestination = {
      id,
      record,
      platform,
      secrets: [secret],
      owed: new Set(),
      deletedAt: Infinity,
      off: record.enabled ? [] : [{ from: this.now(), to: Infinity }],
      privateFrom: record.privacyMode ? 0 : Infinity,
      changes: [],
    }
    this.destinations.push(destination)
    await this.store.destinations.insert({ ...record, sealed: null }, 100)
    return destination
  }

  async change(destination: WorldDestination, changes: Partial<DestinationRecord>): Promise<void> {
    if (destination.deletedAt < Infinity) return
    const before = destination.record
    const { config: _config, ...rest } = changes
    const updated = await this.store.destinations.update(destination.id, DEFAULT_WORKSPACE_ID, { ...rest, updatedAt: this.now() }, before.revision)
    if (updated === undefined) throw new Error('it was to be changed')
    destination.record = { ...before, ...changes, revision: updated.revision }
    destination.changes.push(this.now())
    if (changes.enabled === false && before.enabled) destination.off.push({ from: this.now(), to: Infinity })
    if (changes.enabled === true && !before.enabled) destination.off.at(-1)!.to = this.now()
    if (changes.privacyMode === true && !before.privacyMode) destination.privateFrom = this.now()
    this.wake()
  }

  async rotate(destination: WorldDestination): Promise<void> {
    const secret = `n3w/t+${destination.id}${'q'.repeat(8)}${destination.secrets.length}`
    destination.secrets.push(secret)
    const url = `https://platform-${this.destinations.indexOf(destination)}.test`
    await this.change(destination, { config: secretConfigs[destination.record.type]!(url, secret) })
  }

  async remove(destination: WorldDestination): Promise<void> {
    if (destination.deletedAt < Infinity) return
    await this.store.destinations.remove(destination.id, DEFAULT_WORKSPACE_ID)
    destination.deletedAt = this.now()
    this.wake()
  }

  wake(): void {
    for (const { worker, dead } of this.members) if (!dead) worker.wake()
  }

  startWorker(at = 0): Member {
    const name = `host-${at}/${++this.#born}`
    const member = { name, dead: false } as Member
    member.worker = createDeliveryWorker({
      outbox: this.#guarded(member, this.#outboxes[at % this.#outboxes.length]!),
      types: DESTINATIONS,
      destination: (id) => this.destinations.find((each) => each.id === id && each.deletedAt === Infinity)?.record,
      transport: (request, timeoutMs, signal) => this.#platformOf(request).transportFor(member)(request, timeoutMs, signal),
      clock: { now: this.now, monotonic: () => Date.now() - START },
      random: this.random,
      owner: name,
      service: { name: 'signalbox', version: '1' },
      baseUrls: {},
      onEvent: (event) => this.events.push(event),
      tuning: { pollMs: 30_000 },
    })
    this.members.push(member)
    member.worker.start()
    return member
  }

  /** The outbox as one worker sees it: a dead worker gets no more results. */
  #guarded(member: Member, outbox: DurableOutbox): DurableOutbox {
    return new Proxy(outbox, {
      get: (target, key: keyof DurableOutbox) => {
        const method = target[key] as (...args: readonly unknown[]) => Promise<unknown>
        return async (...args: readonly unknown[]) => {
          if (member.dead) return never()
          if (this.isStoreFailing && this.random() < 0.5) throw new Error('database is locked')
          this.#pending++
          try {
            const result = await method(...args)
            if (key === 'lease') for (const each of result as readonly LeasedDelivery[]) this.#leased.set(each.id, each)
            if (key === 'settle') this.#noted(member, args[1] as readonly Settlement[])
            return member.dead ? await never() : result
          } finally {
            this.#pending--
          }
        }
      },
    })
  }

  /** An acknowledgement counts once the worker has recorded it. */
  #noted({ name }: Member, settlements: readonly Settlement[]): void {
    const deliveries = settlements.flatMap(({ id }) => this.#leased.get(id) ?? [])
    const ids = new Set(deliveries.map(({ generation }) => generation.id))
    const { platform } = this.destinations.find(({ id }) => id === deliveries[0]?.destinationId) ?? {}
    for (const arrival of platform?.arrivals ?? [])
      if (arrival.sender === name && arrival.endedAt <= this.now() && arrival.ids.some((id) => ids.has(id))) arrival.isNoted = true
  }

  /** Types without an address in their config are identified by their credentials. */
  #platformOf({ url, headers }: OutgoingRequest): ScheduledPlatform {
    const n = /platform-(\d+)/.exec(url)?.[1]
    const sent = JSON.stringify(headers)
    const found =
      n === undefined ? this.destinations.find(({ secrets }) => secrets.some((secret) => sent.includes(secret))) : this.destinations[Number(n)]
    if (found === undefined) throw new Error(`nobody knows ${url}`)
    return found.platform
  }

  /** Dies at once: the worker may not have recorded what it was just told. */
  kill(member: Member): void {
    member.dead = true
    for (const { platform } of this.destinations)
      for (const arrival of platform.arrivals) if (arrival.sender === member.name && !arrival.isNoted) arrival.told = false
  }

  async stop(member: Member): Promise<void> {
    let done = false
    const stopped = member.worker.stop(5_000).then(() => (done = true))
    await this.advance(6_000)
    if (!done) throw new Error('a worker did not stop in time')
    await stopped
    member.dead = true
  }

  jump(ms: number): void {
    this.#skew += ms
    this.wake()
  }

  async record(count: number, size: () => number): Promise<string[]> {
    const packing = createHandOver({ keepsContent: () => false, withoutOversize: (generation) => generation })
    const selectors = selectorsByWorkspace(
      new Map(this.destinations.filter(({ deletedAt }) => deletedAt === Infinity).map(({ id, record }) => [id, record])),
      (destinationId, message) => this.events.push({ kind: 'problem', destinationId, message }),
    )
    const finished = Array.from({ length: count }, () => this.#finish(size()))
    await this.outbox.record(finished.map((each) => toEntry(packing.pack(each), (workspace) => selectors.get(workspace) ?? [])))
    for (const { generation } of finished) {
      this.recordedAt.set(generation.id, this.now())
      for (const destination of this.destinations) if (this.#options.wants(destination, generation)) destination.owed.add(generation.id)
    }
    this.wake()
    return finished.map(({ generation }) => generation.id)
  }

  #finish(size: number): FinishedGeneration {
    const id = `gen-${1_800_000_000 + this.#count}-${String(this.#count++).padStart(20, 'G')}`
    const session = this.random() < 0.5 ? `session-${this.int(6)}` : undefined
    const { sessionId: _session, ...base } = sampleGeneration(id, {
      startedAt: this.now() - 900,
      endedAt: this.now(),
      metadata: { gid: id },
      keyHash: this.pick(['a', 'b']).repeat(64),
      model: this.pick(['acme/small', 'acme/large']),
      requestedModel: 'acme/small',
      trace: this.random() < 0.3 ? { trace_id: `trace-${this.int(5)}` } : {},
    })
    const said = (text: string) => `${SPOKEN} ${text}`
    return {
      generation: { ...base, ...(session === undefined ? {} : { sessionId: session }) },
      content: {
        instructions: SPOKEN,
        input: [{ type: 'message', role: 'user', content: said('word '.repeat(size / 5)) }],
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said('ok') }] }],
      },
    }
  }

  /** Lets time pass, in steps from timer to timer; after each step all pending work completes. */
  async advance(ms: number): Promise<void> {
    const end = Date.now() + ms
    await this.settle()
    while (Date.now() < end) {
      const before = Date.now()
      await vi.advanceTimersToNextTimerAsync()
      if (Date.now() === before && vi.getTimerCount() === 0) vi.setSystemTime(end)
      await this.settle()
    }
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#pending === 0 ? quiet + 1 : 0) await new Promise((resolve) => setImmediate(resolve))
  }
}
