import { sql, type Transaction } from 'kysely'
import type { Encryption } from '../core/account.ts'
import type { DurableOutbox, OutboxEntry } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import { createBulkInsert } from './bulk-insert.ts'
import { ContentKeys, sealContent, type ContentKey } from './content-keys.ts'
import type { Database, Tables } from './database.ts'
import type { InsertGenerations } from './generations.ts'
import { numberList, textList } from './id-list.ts'
import { cancelDeliveries, stripDeliveries } from './outbox-cleanup.ts'
import { createDeadLetters } from './outbox-dead.ts'
import { createDue } from './outbox-due.ts'
import { createLease } from './outbox-lease.ts'
import { retryDeliveries } from './outbox-retry.ts'
import { count, createSettle } from './outbox-settle.ts'
import { createSweep } from './outbox-sweep.ts'
import { createQueues } from './outbox-queue.ts'
import { createTrim } from './outbox-trim.ts'
import { RecentEntries } from './recent-entries.ts'
import { guarded, isStoreUnavailable, toStoreError } from './store-error.ts'
import { inTransaction } from './transaction.ts'

export interface OutboxOptions {
  readonly database: Database
  readonly encryption: Encryption
  readonly clock: Clock
  readonly insertGenerations: InsertGenerations
  /** See `StoreOptions`. */
  readonly recentBytes: number | undefined
  /** Messages for the operator; see `Store.outbox`. */
  readonly onProblem?: ((message: string) => void) | undefined
}

/** The outbox over a database. A delivery is a row until it is delivered. `due_at` says when it may be leased next, and is null once it is dead. */
export function createOutbox(options: OutboxOptions): DurableOutbox {
  const { database, encryption, clock } = options
  const { db, engine } = database
  const keys = new ContentKeys(db, encryption, clock)
  const recent = new RecentEntries(options.recentBytes)
  const settle = createSettle(database, clock)
  return {
    record: createRecord(options, keys, recent),
    due: createDue(database),
    lease: createLease({ database, keys, recent, settle, onProblem: options.onProblem }),
    extend: (owner, ids, until) =>
      inTransaction(db, async (trx) => {
        const extended = await trx
          .updateTable('outbox_deliveries')
          .set({ due_at: until })
          .where('seq', 'in', numberList(engine, ids.map(Number)))
          .where('owner', '=', owner)
          .returning('seq')
          .execute()
        return extended.map(({ seq }) => String(seq))
      }),
    settle,
    retryNow: (destinationId, now) => inTransaction(db, (trx) => retryDeliveries(trx, engine, destinationId, now)),
    releaseAll: (owner) =>
      inTransaction(db, async (trx) => {
        await trx
          .updateTable('outbox_deliveries')
          .set({ owner: null, due_at: sql`entered_at` })
          .where('owner', '=', owner)
          .execute()
      }),
    cancel: (destinationId) => inTransaction(db, (trx) => cancelDeliveries(trx, engine, destinationId)),
    stripContent: (destinationId) => inTransaction(db, (trx) => stripDeliveries(trx, engine, destinationId)),
    trim: createTrim(database, clock),
    sweep: createSweep(database, clock),
    queues: createQueues(database),
    owners: () =>
      guarded(async () => {
        const rows = await db.selectFrom('outbox_deliveries').select('owner').distinct().where('owner', 'is not', null).execute()
        return rows.flatMap(({ owner }) => (owner === null ? [] : [owner]))
      }),
    ...createDeadLetters(database, clock),
  }
}

interface SealedContent {
  /** Absent if there was no key to seal it with: the event is entered without content. */
  readonly row?: Tables['outbox_contents']
  readonly bytes: number
}

const DELIVERY_COLUMNS = ['generation_id', 'destination_id', 'entered_at', 'due_at', 'attempts', 'bytes', 'content_bytes'] as const

/** Records, contents and deliveries in one transaction. A generation that is known already enters nothing. */
function createRecord({ database, clock, insertGenerations, onProblem }: OutboxOptions, keys: ContentKeys, recent: RecentEntries) {
  const { db, engine } = database
  const insertContents = createBulkInsert(db, 'outbox_contents', ['id', 'key_id', 'body'])
  const insertDeliveries = createBulkInsert(db, 'outbox_deliveries', DELIVERY_COLUMNS)

  /** Which destinations still exist and may see content: the snapshot that selected them may be seconds old. */
  const readDestinations = async (trx: Transaction<Tables>, entries: readonly OutboxEntry[]): Promise<ReadonlyMap<string, boolean>> => {
    const ids = [...new Set(entries.flatMap((entry) => entry.deliveries.map((delivery) => delivery.destinationId)))]
    if (ids.length === 0) return new Map()
    const rows = await trx
      .selectFrom('destinations')
      .select(['id', 'privacy_mode'])
      .where('id', 'in', textList(engine, ids))
      .where('deleted_at', 'is', null)
      .execute()
    return new Map(rows.map((row) => [row.id, !row.privacy_mode]))
  }

  return async (entries: readonly OutboxEntry[]): Promise<void> => {
    if (entries.length === 0) return
    const sealed = await guarded(() => sealContents(entries, keys, onProblem))
    const entered = await inTransaction(db, async (trx) => {
      const seesContent = await readDestinations(trx, entries)
      const added = new Set(
        await insertGenerations(
          trx,
          entries.map(({ generation, record, keptContent }) => ({
            generation,
            ...(record === undefined ? {} : { record }),
            ...(keptContent === undefined ? {} : { content: keptContent }),
          })),
        ),
      )
      const { contents, deliveries, bodiesDropped } = rowsOf(
        entries.filter(({ generation }) => added.has(generation.id)),
        sealed,
        seesContent,
        clock.now(),
      )
      await insertContents(trx, contents)
      await insertDeliveries(trx, deliveries)
      for (const [destinationId, bodies_dropped] of bodiesDropped) await count(trx, destinationId, { bodies_dropped })
      return entries.filter(({ generation }) => added.delete(generation.id))
    })
    for (const entry of entered) recent.add(entry, clock.now())
  }
}

/** The rows for entries that are new. */
function rowsOf(entries: readonly OutboxEntry[], sealed: ReadonlyMap<string, SealedContent>, seesContent: ReadonlyMap<string, boolean>, now: number) {
  const contents: Tables['outbox_contents'][] = []
  const deliveries = []
  const dropped = new Map<string, number>()
  const entered = new Set<string>()
  for (const { generation, deliveries: wanted, bytes: size } of entries) {
    const { id } = generation
    // The same generation twice in a batch counts once.
    if (entered.has(id)) continue
    entered.add(id)
    const content = sealed.get(id)
    let seen = false
    for (const { destinationId, withContent } of wanted) {
      const mayNow = seesContent.get(destinationId)
      if (mayNow === undefined) continue
      const shown = withContent && mayNow && content !== undefined
      if (shown && content.row === undefined) dropped.set(destinationId, (dropped.get(destinationId) ?? 0) + 1)
      const contentBytes = shown && content.row !== undefined ? content.bytes : 0
      seen ||= contentBytes > 0
      const bytes = Math.max(1, size - (content?.bytes ?? 0) + contentBytes)
      deliveries.push({
        generation_id: id,
        destination_id: destinationId,
        entered_at: now,
        due_at: now,
        attempts: 0,
        bytes,
        content_bytes: contentBytes,
      })
    }
    if (seen && content?.row !== undefined) contents.push(content.row)
  }
  // In the same order in all processes, so that two which add to the same counters do not deadlock.
  return { contents, deliveries, bodiesDropped: [...dropped].sort(([a], [b]) => (a < b ? -1 : 1)) }
}

/**
 * Throws if the database is away, and the same entries come again. If a data key is not available (the secret key was changed while this process
 * runs, or a row was tampered with), the content is lost but never the record: spending and the event itself are stored without it.
 */
async function sealContents(
  entries: readonly OutboxEntry[],
  keys: ContentKeys,
  onProblem: OutboxOptions['onProblem'],
): Promise<ReadonlyMap<string, SealedContent>> {
  const sealed = new Map<string, SealedContent>()
  const current = new Map<string, ContentKey | undefined>()
  const keyOf = async (workspaceId: string): Promise<ContentKey | undefined> => {
    try {
      return await keys.current(workspaceId)
    } catch (error) {
      const fault = toStoreError(error)
      if (isStoreUnavailable(fault)) throw fault
      onProblem?.(`events are entered without what was said, for want of a key to encrypt it: ${fault.message}`)
      return undefined
    }
  }
  for (const { generation, content, deliveries } of entries) {
    if (content === undefined || !deliveries.some((delivery) => delivery.withContent)) continue
    const { id, workspaceId } = generation
    if (!current.has(workspaceId)) current.set(workspaceId, await keyOf(workspaceId))
    const key = current.get(workspaceId)
    const bytes = Buffer.byteLength(content)
    sealed.set(id, key === undefined ? { bytes } : { row: { id, key_id: key.id, body: sealContent(key, id, content) }, bytes })
  }
  return sealed
}
