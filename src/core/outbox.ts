import type { Generation, GenerationContent } from './generation.ts'
import type { JsonObject } from './item.ts'

export interface FilterRule {
  readonly field: string
  readonly operator: string
  readonly value?: string | number
}
export interface FilterRules {
  readonly enabled?: boolean
  readonly groups: readonly { readonly logic?: 'and' | 'or'; readonly rules: readonly FilterRule[] }[]
}

/** A registered destination, whatever its type. `config` is complete: defaults filled in, secrets in the clear. Lives in memory only. */
export interface DestinationRecord {
  readonly id: string
  readonly workspaceId: string
  readonly type: string
  readonly name: string
  readonly enabled: boolean
  /** Stopped by its owner: queued deliveries stay, new ones are still accepted. */
  readonly paused: boolean
  readonly config: JsonObject
  /** Key hashes it listens to; null for every key. */
  readonly apiKeyHashes: readonly string[] | null
  readonly filterRules: FilterRules | null
  readonly samplingRate: number
  readonly privacyMode: boolean
  readonly broadcast: BroadcastGroups
  /** Grows with every change; writers name the one they read. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface BroadcastGroups {
  readonly cost: boolean
  readonly identity: boolean
  readonly requestContext: boolean
}

/** As stored: what is secret in `config` lies in `sealed`, an envelope only accounts/ can open; `config` holds the rest. */
export interface StoredDestination extends DestinationRecord {
  readonly sealed: string | null
}

export type DestinationPatch = Partial<Omit<StoredDestination, 'id' | 'workspaceId' | 'type' | 'revision' | 'createdAt'>>

/** Rows of destinations. Deleted ones are invisible to every method. */
export interface DestinationStore {
  /** In order of creation (then id), so that pages are stable. `total` counts all matches. */
  list(filter: {
    readonly workspaceId?: string
    readonly offset?: number
    readonly limit?: number
  }): Promise<{ readonly destinations: readonly StoredDestination[]; readonly total: number }>
  get(id: string, workspaceId?: string): Promise<StoredDestination | undefined>
  /** Counts and inserts in one transaction. Throws GatewayError `conflict` when the workspace has `maxPerType` of this type already. */
  insert(destination: StoredDestination, maxPerType: number): Promise<void>
  /**
   * Applies the patch if the row still has `revision`, and adds one to it. Throws GatewayError `conflict` when it has moved on.
   * Turning `privacyMode` on strips the bodies only this destination was waiting for, the last of them in the same transaction
   * (`Outbox.stripContent`) and the most of a long queue before it, in steps; every change makes due what waits to be tried again (`Outbox.retryNow`).
   */
  update(id: string, workspaceId: string, patch: DestinationPatch, revision: number): Promise<StoredDestination | undefined>
  /** Marks it deleted, wipes `sealed` and cancels its deliveries in one transaction, most of a long queue before it, in steps. False when there is none. */
  remove(id: string, workspaceId: string): Promise<boolean>
}

// ---- the outbox ----

/** A delivery to be made. (generation, destination) is unique: entering one twice changes nothing. */
export interface NewDelivery {
  readonly destinationId: string
  /** Whether this destination may see content at the time of entry. */
  readonly withContent: boolean
}

/** A finished generation on its way into the store, with the destinations it was selected for. */
export interface OutboxEntry {
  readonly generation: Generation
  /** The generation as JSON, if it has been written already. */
  readonly record?: string
  /** A `GenerationContent` as JSON, media replaced by placeholders. Absent when no selected destination may see content. Kept only until the last delivery is settled. */
  readonly content?: string
  readonly deliveries: readonly NewDelivery[]
  /** Content the workspace asked to keep with the record, media replaced by placeholders, as `GenerationStore.insertMany` takes it; no concern of the deliveries. */
  readonly keptContent?: GenerationContent
  /** Size of the event as canonical JSON: the measure of batches and of the queue's bounds. */
  readonly bytes: number
}

/** Work that waits for one destination. Counting may stop at the caller's cap: what is beyond makes no difference to it. */
export interface DueWork {
  readonly destinationId: string
  /** Deliveries that may be leased now. */
  readonly records: number
  readonly bytes: number
  /** When the oldest of them was entered. */
  readonly oldestAt: number
  /** One of them was tried before: a retry need not wait for a batch to fill. */
  readonly retried: boolean
}

export interface LeasedDelivery {
  /** Names the delivery to `settle`. */
  readonly id: string
  readonly destinationId: string
  readonly generation: Generation
  /** Absent when the destination may not see it or when it was dropped to keep the queue within bounds. */
  readonly content?: GenerationContent
  /** Tries so far. */
  readonly attempts: number
  readonly enteredAt: number
  readonly bytes: number
}

export type DeadReason = 'rejected' | 'too-large' | 'expired' | 'gave-up' | 'encode-failed' | 'overflow'

/** What became of a leased delivery. */
export type Settlement =
  | { readonly id: string; readonly state: 'delivered' }
  /** To be leased again from `at` on; counts as a try. */
  | { readonly id: string; readonly state: 'retry'; readonly at: number; readonly status: number; readonly error: string }
  /** Given back untried: shutdown, a paused destination. */
  | { readonly id: string; readonly state: 'released'; readonly at?: number }
  /** Kept for inspection and replay until purged. */
  | { readonly id: string; readonly state: 'dead'; readonly reason: DeadReason; readonly status: number; readonly error: string }

/** How sending to a destination goes; the newest report of any process wins. */
export interface DeliveryHealth {
  readonly breaker: 'closed' | 'open' | 'half-open' | 'unauthorized'
  /** Nothing is sent before this time. */
  readonly until?: number
  readonly lastSuccessAt?: number
  readonly lastErrorAt?: number
  /** HTTP status; 0 when no answer came. */
  readonly lastStatus?: number
  /** A short excerpt free of secrets. */
  readonly lastError?: string
}

/** Events refused by the platform within an accepted batch, and warnings: counted, not kept. */
export interface DeliveryCounts {
  readonly delivered?: number
  readonly rejected?: number
}

export interface DeliveryStatus {
  readonly queued: number
  readonly queuedBytes: number
  readonly oldestAt: number | undefined
  readonly delivered: number
  readonly rejected: number
  readonly dropped: number
  /** Deliveries that lost their content to keep the queue within bounds. */
  readonly bodiesDropped?: number
  readonly dead: number
  readonly health: DeliveryHealth | undefined
}

export interface DeadLetter {
  readonly id: string
  readonly destinationId: string
  readonly generationId: string
  readonly reason: DeadReason
  readonly status: number
  readonly error: string
  readonly attempts: number
  readonly enteredAt: number
  readonly diedAt: number
}

/**
 * The durable queue between finished generations and destinations; SQLite and PostgreSQL pass one contract suite.
 * A delivery is due, leased, waiting for its retry, or dead; a delivered one is gone. Leases end by themselves, so a crashed
 * worker loses nothing; with PostgreSQL several processes lease from the same queue (`for update skip locked`).
 */
export interface Outbox {
  /** One transaction: generations as `GenerationStore.insertMany` writes them, their events, their deliveries. Nothing is entered twice. */
  record(entries: readonly OutboxEntry[]): Promise<void>
  /** What can be leased at `now`, per destination; counting stops at `cap` records. `nextAt` is when a waiting retry or an expiring lease comes due. */
  due(now: number, cap: number): Promise<{ readonly work: readonly DueWork[]; readonly nextAt: number | undefined }>
  /**
   * Takes deliveries of one destination, oldest first, until `records` or `bytes` is reached (at least one, if any is due).
   * Nobody else gets them before `now + leaseMs`. `owner` must be given back to `settle`.
   */
  lease(destinationId: string, options: LeaseOptions): Promise<readonly LeasedDelivery[]>
  /** Holds leases longer. Returns the ids still held. */
  extend(owner: string, ids: readonly string[], until: number): Promise<readonly string[]>
  /** One transaction. Deliveries no longer leased by `owner` are left alone; returns how many were settled. */
  settle(owner: string, settlements: readonly Settlement[], counts?: DeliveryCounts): Promise<number>
  /**
   * Makes due what waits to be tried again: what it waited for is over. Leased and dead deliveries stay as they are; returns how many were
   * waiting. `DestinationStore.update` does so in its own transaction; workers do it for what went back before they knew of the change.
   */
  retryNow(destinationId: string, now: number): Promise<number>
  /** Ends every lease of `owner` (shutdown). */
  releaseAll(owner: string): Promise<void>
  /** Deletes what waits for a destination, dead letters included; returns how many. */
  cancel(destinationId: string): Promise<number>
  /** Queued deliveries of this destination no longer carry content; content nobody else waits for is deleted. */
  stripContent(destinationId: string): Promise<void>
  /**
   * Keeps a destination's queue within bounds: drops the oldest bodies first, then the oldest deliveries (dead, reason `overflow`).
   * Returns what was dropped; counted in `status`.
   */
  trim(
    destinationId: string,
    bounds: { readonly records: number; readonly bytes: number },
  ): Promise<{ readonly bodies: number; readonly deliveries: number }>
  report(destinationId: string, health: DeliveryHealth): Promise<void>
  status(destinationId: string): Promise<DeliveryStatus>
  deadLetters(
    destinationId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly letters: readonly DeadLetter[]; readonly total: number }>
  /** Makes dead letters due again with a fresh count of tries; all of them when no ids are given. Returns how many. */
  replay(destinationId: string, now: number, ids?: readonly string[]): Promise<number>
  purge(destinationId: string, ids?: readonly string[]): Promise<number>
}

/** Deliveries of one destination that nobody tried before they became dead letters. */
export interface GivenUp {
  readonly destinationId: string
  readonly type: string
  readonly deliveries: number
}

/** An outbox in a database, which needs cleaning now and then. */
export interface DurableOutbox extends Outbox {
  /**
   * Deletes some of what nobody waits for any more: deliveries of deleted destinations, content of settled deliveries that a crash or race left
   * behind, dead letters older than `deadLetterMs` (default 30 days; `Infinity`: none), data keys without content. Looks at about `limit` rows and
   * returns how many it deleted. Also repairs times after the clock was set back: deliveries due far ahead become due, and leases that end far ahead
   * end soon unless their holder renews them. Deliveries that have waited longer than any type allows become dead letters (`expired`), even if nobody
   * sends; `onExpired` is told about them.
   */
  sweep(limit: number, deadLetterMs?: number, onExpired?: (expired: GivenUp) => void): Promise<number>
  /** Who holds leases, ended ones included. Reads the whole queue: for the start of a process. */
  owners(): Promise<readonly string[]>
}

export interface LeaseOptions {
  readonly owner: string
  readonly records: number
  readonly bytes: number
  readonly now: number
  readonly leaseMs: number
}
