import { sql, type Transaction } from 'kysely'
import { DESTINATION_DEFAULTS } from '../core/destination.ts'
import type { GivenUp } from '../core/outbox.ts'
import type { Clock } from '../lib/clock.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { CONTENT_KEY_LIFETIME_MS } from './content-keys.ts'
import type { Database, Engine, Tables } from './database.ts'
import { numberList, textList } from './id-list.ts'
import { dropUnseenContent, withContent } from './outbox-cleanup.ts'
import { destinationsInQueue } from './outbox-queue.ts'
import { retryFarAhead, shortenLeases } from './outbox-retry.ts'
import { inTransaction } from './transaction.ts'

/** How long dead letters are kept, unless the operator says otherwise. */
const DEAD_LETTER_MS = 30 * 24 * 3_600_000
/** Some types wait less, none waits longer. */
const LONGEST_WAIT_MS = DESTINATION_DEFAULTS.maxAgeMs
const TOO_OLD = `older than ${LONGEST_WAIT_MS / 3_600_000} hours`

type Trx = Transaction<Tables>
/** Changes at most `limit` rows of one destination, and returns how many. */
type Step = (trx: Trx, engine: Engine, destinationId: string, now: number, limit: number) => Promise<number>
type OnExpired = (expired: GivenUp) => void

/** See `DurableOutbox.sweep`. Contents are checked piece by piece; each call continues where the last one stopped. */
export function createSweep(database: Database, clock: Clock) {
  const { db, engine } = database
  let cursor = ''

  const some = (trx: Trx, id: string, limit: number) =>
    trx.selectFrom('outbox_deliveries').select(['seq', 'generation_id', 'content_bytes']).where('destination_id', '=', id).limit(limit)

  const deleteDeliveries = async (trx: Trx, rows: readonly { seq: number; generation_id: string; content_bytes: number }[]): Promise<number> => {
    if (rows.length === 0) return 0
    const ids = rows.map((row) => row.seq)
    await trx.deleteFrom('outbox_deliveries').where('seq', 'in', numberList(engine, ids)).execute()
    await dropUnseenContent(trx, engine, withContent(rows))
    return rows.length
  }

  /** Repeats a step until nothing is left, because each step holds the write lock. Returns the number of rows changed. */
  const allOf = async (step: Step, id: string, limit: number): Promise<number> => {
    for (let changed = 0; ; await nextTurn()) {
      const last = await inTransaction(db, (trx) => step(trx, engine, id, clock.now(), limit))
      changed += last
      if (last !== limit) return changed
    }
  }

  /** Repairs times set by a wrong clock before ages are checked. Returns how many deliveries were too old. */
  const bringUpToDate = async (id: string, limit: number): Promise<number> => {
    await allOf(retryFarAhead, id, limit)
    await allOf(shortenLeases, id, limit)
    return allOf(expireWaiting, id, limit)
  }

  const sweepDeliveries = async (limit: number, deadLetterMs: number, onExpired: OnExpired): Promise<number> => {
    const queued = await destinationsInQueue(database)
    if (queued.length === 0) return 0
    const existing = await db
      .selectFrom('destinations')
      .select(['id', 'type'])
      .where('id', 'in', textList(engine, queued))
      .where('deleted_at', 'is', null)
      .execute()
    const alive = new Map(existing.map(({ id, type }) => [id, type]))
    let swept = 0
    for (const id of queued) {
      const type = alive.get(id)
      // All at once: it went with its workspace, and nothing of what its callers said may stay for hours.
      if (type === undefined) {
        swept += await allOf(async (trx) => deleteDeliveries(trx, await some(trx, id, limit).execute()), id, limit)
        continue
      }
      const diedBefore = clock.now() - Math.min(deadLetterMs, clock.now())
      swept += await inTransaction(db, async (trx) => deleteDeliveries(trx, await some(trx, id, limit).where('died_at', '<', diedBefore).execute()))
      const deliveries = await bringUpToDate(id, limit)
      if (deliveries > 0) onExpired({ destinationId: id, type, deliveries })
    }
    return swept
  }

  const sweepContents = async (limit: number): Promise<number> => {
    const page = await db.selectFrom('outbox_contents').select('id').where('id', '>', cursor).orderBy('id').limit(limit).execute()
    cursor = page.length < limit ? '' : (page.at(-1)?.id ?? '')
    if (page.length === 0) return 0
    const before = page.map(({ id }) => id)
    return inTransaction(db, async (trx) => {
      await dropUnseenContent(trx, engine, before)
      const left = await trx.selectFrom('outbox_contents').select('id').where('id', 'in', textList(engine, before)).execute()
      return before.length - left.length
    })
  }

  const sweepKeys = (): Promise<number> =>
    inTransaction(db, async (trx) => {
      const { numAffectedRows = 0n } = await sql`
        delete from outbox_keys where created_at < ${clock.now() - CONTENT_KEY_LIFETIME_MS}
        and not exists (select 1 from outbox_contents c where c.key_id = outbox_keys.id)`.execute(trx)
      return Number(numAffectedRows)
    })

  return async (limit: number, deadLetterMs = DEAD_LETTER_MS, onExpired: OnExpired = () => undefined): Promise<number> =>
    (await sweepDeliveries(limit, deadLetterMs, onExpired)) + (await sweepContents(limit)) + (await sweepKeys())
}

/**
 * Sending finds out what is too old. For a destination that is switched off, paused or broken nobody sends, and its queue would keep records and
 * content from expiring. Two tries are about an hour apart at most, so old deliveries are found by their due time, which is indexed. Returns how many
 * it gave up, at most `limit`.
 */
async function expireWaiting(trx: Trx, engine: Engine, destinationId: string, now: number, limit: number): Promise<number> {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``
  const before = now - LONGEST_WAIT_MS
  const { numAffectedRows = 0n } = await sql`
    update outbox_deliveries set due_at = null, died_at = ${now}, reason = 'expired', last_status = 0, last_error = ${TOO_OLD} where seq in (
      select seq from outbox_deliveries
      where destination_id = ${destinationId} and due_at < ${before} and entered_at < ${before} and owner is null
      limit ${limit} ${skipLocked}
    )`.execute(trx)
  return Number(numAffectedRows)
}
