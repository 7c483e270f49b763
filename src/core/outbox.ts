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

/** A registered destination of any type. `config` is complete: defaults are filled in, and secrets are in the clear. Lives in memory only. */
export interface DestinationRecord {
  readonly id: string
  readonly workspaceId: string
  readonly type: string
  readonly name: string
  readonly enabled: boolean
  /** Stopped by its owner: queued deliveries remain, and new ones are still accepted. */
  readonly paused: boolean
  readonly config: JsonObject
  /** Hashes of the keys whose calls it receives; null: all keys. */
  readonly apiKeyHashes: readonly string[] | null
  readonly filterRules: FilterRules | null
  readonly samplingRate: number
  readonly privacyMode: boolean
  readonly broadcast: BroadcastGroups
  /** Increases with every change; writers state the revision they read. */
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface BroadcastGroups {
  readonly cost: boolean
  readonly identity: boolean
  readonly requestContext: boolean
}

/** The stored form: the secrets of `config` are in `sealed`, an envelope that only accounts/ can open; `config` has the rest. */
export interface StoredDestination extends DestinationRecord {
  readonly sealed: string | null
}

export type DestinationPatch = Partial<Omit<StoredDestination, 'id' | 'workspaceId' | 'type' | 'revision' | 'createdAt'>>

/** Rows of destinations. Deleted ones are invisible to every method. */
export interface DestinationStore {
  /** Ordered by creation (then id), so that pages are stable. `total` counts all matches. */
  list(filter: {
    readonly workspaceId?: string
    readonly offset?: number
    readonly limit?: number
  }): Promise<{ readonly destinations: readonly StoredDestination[]; readonly total: number }>
  get(id: string, workspaceId?: string): Promise<StoredDestination | undefined>
  /** Counts and inserts in one transaction. Throws GatewayError `conflict` if the workspace already has `maxPerType` destinations of this type. */
  insert(destination: StoredDestination, maxPerType: number): Promise<void>
  /**
   * Applies the patch if the row still has `revision`, and increments it. Throws GatewayError `conflict` if the revision has changed. Turning on
   * `privacyMode` removes the content that only this destination was waiting for (`Outbox.stripContent`): most of a long queue in steps beforehand,
   * the rest in the same transaction. Every change makes deliveries that wait for a retry due (`Outbox.retryNow`).
   */
  update(id: string, workspaceId: string, patch: DestinationPatch, revision: number): Promise<StoredDestination | undefined>
  /**
   * Marks the destination deleted, erases `sealed` and cancels its deliveries in one transaction; most of a long queue is cancelled in steps
   * beforehand. False if there is none.
   */
  remove(id: string, workspaceId: string): Promise<boolean>
}

// ---- the outbox ----

/** A delivery to be made. (generation, destination) is unique: a second entry changes nothing. */
export interface NewDelivery {
  readonly destinationId: string
  /** Whether this destination may see content at the time of entry. */
  readonly withContent: boolean
}

/** A finished generation to be stored, with the destinations that were selected for it. */
export interface OutboxEntry {
  readonly generation: Generation
  /** The generation as JSON, if it has already been serialised. */
  readonly record?: string
  /**
   * A `GenerationContent` as JSON, with placeholders for media. Absent if no selected destination may see content. Kept only until the last delivery
   * is settled.
   */
  readonly content?: string
  readonly deliveries: readonly NewDelivery[]
  /**
   * Content that the workspace asked to keep with the record, with placeholders for media, as `GenerationStore.insertMany` takes it. Deliveries do
   * not use it.
   */
  readonly keptContent?: GenerationContent
  /** Size of the event as canonical JSON. Limits of batches and of the queue are measured by it. */
  readonly bytes: number
}

/** Work that is due for one destination. Counting may stop at the caller's cap, because more makes no difference to the caller. */
export interface DueWork {
  readonly destinationId: string
  /** Deliveries that may be leased now. */
  readonly records: number
  readonly bytes: number
  /** When the oldest of them was entered. */
  readonly oldestAt: number
  /** At least one of them was tried before; a retry need not wait for a batch to fill. */
  readonly retried: boolean
}

export interface LeasedDelivery {
  /** Identifies the delivery in `settle`. */
  readonly id: string
  readonly destinationId: string
  readonly generation: Generation
  /** Absent if the destination may not see it, or if it was dropped to keep the queue within bounds. */
  readonly content?: GenerationContent
  /** Attempts so far. */
  readonly attempts: number
  readonly enteredAt: number
  readonly bytes: number
}

export type DeadReason = 'rejected' | 'too-large' | 'expired' | 'gave-up' | 'encode-failed' | 'overflow'

/** The result of a leased delivery. */
export type Settlement =
  | { readonly id: string; readonly state: 'delivered' }
  /** Can be leased again from `at` on; counts as an attempt. */
  | { readonly id: string; readonly state: 'retry'; readonly at: number; readonly status: number; readonly error: string }
  /** Returned without an attempt: shutdown, or a paused destination. */
  | { readonly id: string; readonly state: 'released'; readonly at?: number }
  /** Kept for inspection and replay until purged. */
  | { readonly id: string; readonly state: 'dead'; readonly reason: DeadReason; readonly status: number; readonly error: string }

/** The state of sending to a destination; the newest report of any process wins. */
export interface DeliveryHealth {
  readonly breaker: 'closed' | 'open' | 'half-open' | 'unauthorized'
  /** Nothing is sent before this time. */
  readonly until?: number
  readonly lastSuccessAt?: number
  readonly lastErrorAt?: number
  /** HTTP status; 0 if there was no response. */
  readonly lastStatus?: number
  /** A short excerpt without secrets. */
  readonly lastError?: string
}

/** Events that the platform refused within an accepted batch, and warnings. They are counted, but not kept. */
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
 * The durable queue between finished generations and destinations; SQLite and PostgreSQL pass the same contract suite. A delivery is due, leased,
 * waiting for its retry, or dead; a delivered one is deleted. Leases expire, so that a crashed worker loses nothing. With PostgreSQL, several
 * processes lease from the same queue (`for update skip locked`).
 */
export interface Outbox {
  /** In one transaction: generations as `GenerationStore.insertMany` writes them, their events and their deliveries. Nothing is entered twice. */
  record(entries: readonly OutboxEntry[]): Promise<void>
  /**
   * What can be leased at `now`, per destination; counting stops at `cap` records, and at the first of destinations to which `maySend` says that
   * nothing can be sent: they have the longest queues. `nextAt` is when the next retry or expiring lease becomes due.
   */
  due(
    now: number,
    cap: number,
    maySend?: (destinationId: string) => boolean,
  ): Promise<{ readonly work: readonly DueWork[]; readonly nextAt: number | undefined }>
  /**
   * Leases deliveries of one destination, oldest first, until `records` or `bytes` is reached (at least one, if any is due). No other worker gets
   * them before `now + leaseMs`. `settle` requires the same `owner`.
   */
  lease(destinationId: string, options: LeaseOptions): Promise<readonly LeasedDelivery[]>
  /** Extends leases. Returns the ids that are still held. */
  extend(owner: string, ids: readonly string[], until: number): Promise<readonly string[]>
  /** In one transaction. Ignores deliveries that `owner` no longer leases; returns how many were settled. */
  settle(owner: string, settlements: readonly Settlement[], counts?: DeliveryCounts): Promise<number>
  /**
   * Makes deliveries that wait for a retry due, because the reason for waiting is gone. Leased and dead deliveries do not change; returns how many
   * were waiting. `DestinationStore.update` does this in its own transaction. Workers do it for deliveries that they returned before they knew of the
   * change.
   */
  retryNow(destinationId: string, now: number): Promise<number>
  /** Ends all leases of `owner` (shutdown). */
  releaseAll(owner: string): Promise<void>
  /** Deletes everything queued for a destination, including dead letters; returns how many. */
  cancel(destinationId: string): Promise<number>
  /** Removes the content from queued deliveries of this destination, and deletes content that no other destination waits for. */
  stripContent(destinationId: string): Promise<void>
  /**
   * Keeps a destination's queue within bounds: drops the oldest bodies first, then the oldest deliveries (dead, reason `overflow`). Returns what was
   * dropped; `status` counts it, too.
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
  /** Makes the given dead letters due again, or all if no ids are given, and resets their number of attempts. Returns how many. */
  replay(destinationId: string, now: number, ids?: readonly string[]): Promise<number>
  purge(destinationId: string, ids?: readonly string[]): Promise<number>
}

/** Deliveries of one destination that became dead letters before any attempt. */
export interface GivenUp {
  readonly destinationId: string
  readonly type: string
  readonly deliveries: number
}

/** An outbox in a database, which needs regular cleanup. */
export interface DurableOutbox extends Outbox {
  /**
   * Deletes all deliveries of deleted destinations, and some of what else is no longer needed: content of settled deliveries that a crash or race left
   * behind, dead letters older than `deadLetterMs` (default 30 days; `Infinity`: none), data keys without content. Takes about `limit` rows at a time
   * and returns how many it deleted. Also repairs times after the clock was set back: deliveries due far ahead become due, and leases that end far ahead end soon
   * unless their holder renews them. Deliveries that have waited longer than any type allows become dead letters (`expired`), even if no worker
   * sends; `onExpired` is called with them.
   */
  sweep(limit: number, deadLetterMs?: number, onExpired?: (expired: GivenUp) => void): Promise<number>
  /** How much waits, for each destination with a queue or dead letters. */
  queues(): Promise<readonly (Pick<DeliveryStatus, 'queued' | 'oldestAt'> & { readonly destinationId: string })[]>
  /** All owners of leases, including expired leases. Reads the leases, never the queue: a process that starts waits for it. */
  owners(): Promise<readonly string[]>
}

export interface LeaseOptions {
  readonly owner: string
  readonly records: number
  readonly bytes: number
  readonly now: number
  readonly leaseMs: number
}
