import { sql, type Transaction } from 'kysely'
import type { Clock } from '../lib/clock.ts'
import { nextTurn } from '../lib/next-turn.ts'
import type { Database, Db, Engine, Tables } from './database.ts'
import { numberList } from './id-list.ts'
import { dropUnseenContent } from './outbox-cleanup.ts'
import { count } from './outbox-settle.ts'
import { AT_ONCE, inSteps, STEP } from './outbox-steps.ts'
import { inTransaction } from './transaction.ts'

/** Dead letters kept per destination; the oldest are deleted first. */
const MAX_DEAD_LETTERS = 100_000

type Trx = Transaction<Tables>

interface Bounds {
  readonly records: number
  readonly bytes: number
}

interface Candidate {
  readonly seq: number
  readonly bytes: number
  readonly content_bytes: number
}

type Column = 'bytes' | 'content_bytes'

/** Drops something of these deliveries, if nobody has leased or settled them meanwhile, and returns those that it found. */
type Drop = (trx: Trx, destinationId: string, ids: readonly number[]) => Promise<readonly Dropped[]>

interface Dropped {
  readonly generation_id: string
}

/** See `Outbox.trim`. Leased deliveries are left alone. */
export function createTrim({ db, engine }: Database, clock: Clock) {
  const size = async (destinationId: string): Promise<Bounds> => {
    const { rows } = await sql<Bounds>`
      select count(*) as records, cast(coalesce(sum(bytes), 0) as bigint) as bytes
      from outbox_deliveries where destination_id = ${destinationId} and due_at is not null`.execute(db)
    return rows[0] ?? { records: 0, bytes: 0 }
  }

  /**
   * The oldest by entry, not by their next try. Read outside of any transaction: no index has this order, and one more would cost every insert more than
   * this read costs a full queue.
   */
  const oldest = async (destinationId: string, column: Column): Promise<readonly Candidate[]> => {
    const withBody = column === 'content_bytes' ? sql`and content_bytes > 0` : sql``
    const { rows } = await sql<Candidate>`
      select seq, bytes, content_bytes from outbox_deliveries
      where destination_id = ${destinationId} and due_at is not null and owner is null ${withBody}
      order by entered_at, seq limit ${AT_ONCE}`.execute(db)
    return rows
  }

  const stillQueued = (ids: readonly number[]) => sql`seq in ${numberList(engine, ids)} and due_at is not null and owner is null`

  const dropBodies: Drop = async (trx, destinationId, ids) => {
    const { rows } = await sql<Dropped>`
      update outbox_deliveries set bytes = bytes - content_bytes, content_bytes = 0
      where ${stillQueued(ids)} and content_bytes > 0 returning generation_id`.execute(trx)
    await count(trx, destinationId, { bodies_dropped: rows.length })
    return rows
  }

  const dropDeliveries: Drop = async (trx, destinationId, ids) => {
    const { rows } = await sql<Dropped>`
      update outbox_deliveries set due_at = null, died_at = ${clock.now()}, reason = 'overflow', last_error = 'the queue was full', last_status = 0,
        bytes = bytes - content_bytes, content_bytes = 0
      where ${stillQueued(ids)} returning generation_id`.execute(trx)
    await count(trx, destinationId, { dropped: rows.length })
    return rows
  }

  /** Deliveries leased or delivered since are left alone. */
  const dropInSteps = async (destinationId: string, candidates: readonly Candidate[], drop: Drop): Promise<number> => {
    let dropped = 0
    await inSteps(db, candidates, async (trx, some) => {
      const rows = await drop(
        trx,
        destinationId,
        some.map(({ seq }) => seq),
      )
      await dropUnseenContent(
        trx,
        engine,
        rows.map((row) => row.generation_id),
      )
      dropped += rows.length
    })
    return dropped
  }

  /**
   * Drops the oldest until the queue fits or nothing is left to drop. Other processes may trim it at the same time. So the oldest are read before it is
   * measured, for each pass anew: all then choose the same ones, and what one has dropped no other counts as its own excess. `missing`: bytes that are
   * too many all the same.
   */
  const dropOldest = async (destinationId: string, bounds: Bounds, column: Column, drop: Drop): Promise<{ dropped: number; missing: number }> => {
    let dropped = 0
    for (;;) {
      const candidates = await oldest(destinationId, column)
      const { records, bytes } = await size(destinationId)
      const { chosen, missing } = tooMuch(candidates, column, { records: records - bounds.records, bytes: bytes - bounds.bytes })
      dropped += await dropInSteps(destinationId, chosen, drop)
      // What has come in meanwhile is left to the next trim: while more comes in than goes out, this one would never end.
      if (chosen.length < AT_ONCE) return { dropped, missing }
    }
  }

  return async (destinationId: string, bounds: Bounds): Promise<{ readonly bodies: number; readonly deliveries: number }> => {
    const { records, bytes } = await size(destinationId)
    let [bodies, deliveries, missing] = [0, 0, 0]
    if (bytes > bounds.bytes)
      ({ dropped: bodies, missing } = await dropOldest(destinationId, { ...bounds, records: Infinity }, 'content_bytes', dropBodies))
    // If removing content was not enough, deliveries are dropped until the rest fits.
    if (records > bounds.records || missing > 0) {
      const left = { ...bounds, ...(missing > 0 ? {} : { bytes: Infinity }) }
      ;({ dropped: deliveries } = await dropOldest(destinationId, left, 'bytes', dropDeliveries))
    }
    await forgetOldest(db, engine, destinationId)
    return { bodies, deliveries }
  }
}

/** As many of the oldest as are needed to free that much, and the bytes that are missing even then. */
function tooMuch(
  candidates: readonly Candidate[],
  column: Column,
  excess: Bounds,
): { readonly chosen: readonly Candidate[]; readonly missing: number } {
  let [records, bytes] = [0, 0]
  for (const row of candidates) {
    if (records >= excess.records && bytes >= excess.bytes) break
    records++
    bytes += row[column]
  }
  return { chosen: candidates.slice(0, records), missing: Math.max(0, excess.bytes - bytes) }
}

/** However they died: the bound on the queue does not limit what a destination refuses. */
async function forgetOldest(db: Db, engine: Engine, destinationId: string): Promise<void> {
  while ((await forgetSome(db, engine, destinationId)) === STEP) await nextTurn()
}

function forgetSome(db: Db, engine: Engine, destinationId: string): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ seq: number; generation_id: string }>`
      select seq, generation_id from outbox_deliveries where destination_id = ${destinationId} and died_at is not null
      order by died_at desc, seq desc limit ${STEP} offset ${MAX_DEAD_LETTERS}`.execute(trx)
    if (rows.length === 0) return 0
    const ids = numberList(
      engine,
      rows.map((row) => row.seq),
    )
    await trx.deleteFrom('outbox_deliveries').where('seq', 'in', ids).execute()
    await dropUnseenContent(
      trx,
      engine,
      rows.map((row) => row.generation_id),
    )
    return rows.length
  })
}
