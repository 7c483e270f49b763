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
  readonly content_bytes: number
}

interface Passes {
  /** Only deliveries that have content. */
  readonly bodies: boolean
  readonly drop: (trx: Trx, destinationId: string, ids: readonly number[]) => Promise<readonly Dropped[]>
  /** What is too much, oldest first; undefined if the queue fits. */
  readonly choose: (found: Bounds, candidates: readonly Candidate[]) => readonly Candidate[] | undefined
}

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
   * The oldest by entry, not by their next try. Read once per trim and outside of any transaction: no index has this order, and one more would cost
   * every insert more than this read costs a full queue.
   */
  const oldest = async (destinationId: string, limit: number, bodies: boolean): Promise<readonly Candidate[]> => {
    const withBody = bodies ? sql`and content_bytes > 0` : sql``
    const { rows } = await sql<Candidate>`
      select seq, content_bytes from outbox_deliveries
      where destination_id = ${destinationId} and due_at is not null and owner is null ${withBody}
      order by entered_at, seq limit ${limit}`.execute(db)
    return rows
  }

  const stillQueued = (ids: readonly number[]) => sql`seq in ${numberList(engine, ids)} and due_at is not null and owner is null`

  const dropBodies = async (trx: Trx, destinationId: string, ids: readonly number[]): Promise<readonly Dropped[]> => {
    const { rows } = await sql<Dropped>`
      update outbox_deliveries set bytes = bytes - content_bytes, content_bytes = 0
      where ${stillQueued(ids)} and content_bytes > 0 returning generation_id`.execute(trx)
    await count(trx, destinationId, { bodies_dropped: rows.length })
    return rows
  }

  const dropDeliveries = async (trx: Trx, destinationId: string, ids: readonly number[]): Promise<readonly Dropped[]> => {
    const { rows } = await sql<Dropped>`
      update outbox_deliveries set due_at = null, died_at = ${clock.now()}, reason = 'overflow', last_error = 'the queue was full', last_status = 0,
        bytes = bytes - content_bytes, content_bytes = 0
      where ${stillQueued(ids)} returning generation_id`.execute(trx)
    await count(trx, destinationId, { dropped: rows.length })
    return rows
  }

  /** Deliveries leased or delivered since are left alone. */
  const dropInSteps = async (candidates: readonly Candidate[], drop: (trx: Trx, ids: readonly number[]) => Promise<readonly Dropped[]>) => {
    let dropped = 0
    await inSteps(db, candidates, async (trx, some) => {
      const rows = await drop(
        trx,
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
   * measured, for each pass anew: all then choose the same ones, and what one has dropped no other counts as its own excess.
   */
  const dropPasses = async (destinationId: string, { bodies, drop, choose }: Passes): Promise<number> => {
    let dropped = 0
    if (choose(await size(destinationId), []) === undefined) return dropped
    for (;;) {
      const candidates = await oldest(destinationId, AT_ONCE, bodies)
      const chosen = choose(await size(destinationId), candidates)
      if (chosen === undefined || candidates.length === 0) return dropped
      dropped += await dropInSteps(chosen, (trx, ids) => drop(trx, destinationId, ids))
    }
  }

  return async (destinationId: string, bounds: Bounds): Promise<{ readonly bodies: number; readonly deliveries: number }> => {
    const bodies = await dropPasses(destinationId, {
      bodies: true,
      drop: dropBodies,
      choose: ({ bytes }, candidates) => (bytes > bounds.bytes ? takeUntil(candidates, bytes - bounds.bytes) : undefined),
    })
    // If removing content was not enough, deliveries are dropped until the rest fits.
    const deliveries = await dropPasses(destinationId, {
      bodies: false,
      drop: dropDeliveries,
      choose: ({ records, bytes }, candidates) => {
        if (records > bounds.records) return candidates.slice(0, records - bounds.records)
        return bytes > bounds.bytes ? candidates.slice(0, Math.max(1, Math.ceil(((bytes - bounds.bytes) / bytes) * records))) : undefined
      },
    })
    await forgetOldest(db, engine, destinationId)
    return { bodies, deliveries }
  }
}

/** As many as are needed to free that much. */
function takeUntil(candidates: readonly Candidate[], excess: number): readonly Candidate[] {
  let freed = 0
  return candidates.filter((row) => {
    if (freed >= excess) return false
    freed += row.content_bytes
    return true
  })
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
