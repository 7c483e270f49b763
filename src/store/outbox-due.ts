import { sql } from 'kysely'
import type { DueWork, Outbox } from '../core/outbox.ts'
import { nextTurn } from '../lib/next-turn.ts'
import type { Database } from './database.ts'
import { numberList, textList } from './id-list.ts'
import { QUEUES } from './outbox-queue.ts'
import { guarded } from './store-error.ts'

interface QueueRow {
  readonly id: string
  /** The delivery that is due first. */
  readonly first: number | null
  readonly next_at: number | null
}

interface DueRow {
  readonly destination_id: string
  readonly records: number
  readonly bytes: number
  readonly oldest_at: number
  readonly attempts: number
}

/** What one queue has: records, their bytes, when the oldest was entered, and the most tries of any. */
type Counted = readonly [records: number, bytes: number, oldestAt: number | null, attempts: number]

/** Queues of one statement. SQLite counts twenty with 2,000 records each in some milliseconds. */
const COUNTED_AT_ONCE = 20

/**
 * See `Outbox.due`. Looks are as frequent as batches of records, so they take two statements, however many destinations have a queue, and one more for
 * every twenty that may be sent something.
 */
export function createDue({ db, engine }: Database): Outbox['due'] {
  const jsonArray = sql.raw(engine === 'sqlite' ? 'json_array' : 'json_build_array')
  const queues = (now: number) =>
    sql<QueueRow>`${QUEUES} select id,
        (select seq from outbox_deliveries where destination_id = ids.id and due_at <= ${now} order by due_at limit 1) as first,
        (select min(due_at) from outbox_deliveries where destination_id = ids.id and due_at > ${now}) as next_at
      from ids where id is not null`.execute(db)

  const count = async (ids: readonly string[], now: number, cap: number): Promise<readonly DueRow[]> => {
    const { rows } = await sql<{ readonly id: string; readonly counted: string }>`
      with asked(id) as ${textList(engine, ids)}
      select id, cast((
        select ${jsonArray}(count(*), coalesce(sum(bytes), 0), min(entered_at), max(attempts))
        from (select bytes, entered_at, attempts from outbox_deliveries
              where destination_id = asked.id and due_at <= ${now} order by due_at limit ${cap}) as waiting) as text) as counted
      from asked`.execute(db)
    return rows.flatMap(({ id, counted }) => {
      const [records, bytes, oldest_at, attempts] = JSON.parse(counted) as Counted
      // They may have been leased since.
      return oldest_at === null ? [] : [{ destination_id: id, records, bytes, oldest_at, attempts }]
    })
  }

  const readFirst = async (found: readonly QueueRow[], now: number): Promise<readonly DueRow[]> => {
    if (found.length === 0) return []
    const ids = numberList(
      engine,
      found.map(({ first }) => first ?? 0),
    )
    const { rows } = await sql<DueRow>`
      select destination_id, 1 as records, bytes, entered_at as oldest_at, attempts from outbox_deliveries
      where seq in ${ids} and due_at <= ${now}`.execute(db)
    return rows
  }

  return (now, cap, maySend = () => true) =>
    guarded(async () => {
      const { rows } = await queues(now)
      const due = rows.filter(({ first }) => first !== null)
      // Asked once: destinations may be paused or resumed while the queues are counted.
      const open = new Set(due.map(({ id }) => id).filter(maySend))
      const found: DueRow[] = []
      const ids = [...open]
      for (let at = 0; at < ids.length; at += COUNTED_AT_ONCE) {
        if (at > 0) await nextTurn()
        found.push(...(await count(ids.slice(at, at + COUNTED_AT_ONCE), now, cap)))
      }
      const others = due.filter(({ id }) => !open.has(id))
      found.push(...(await readFirst(others, now)))
      const next = rows.flatMap(({ next_at }) => (next_at === null ? [] : [next_at]))
      return { work: found.map(toWork), nextAt: next.length === 0 ? undefined : Math.min(...next) }
    })
}

const toWork = ({ destination_id, records, bytes, oldest_at, attempts }: DueRow): DueWork => ({
  destinationId: destination_id,
  records,
  bytes,
  oldestAt: oldest_at,
  retried: attempts > 0,
})
