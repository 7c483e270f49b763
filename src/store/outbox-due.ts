import { sql } from 'kysely'
import type { DueWork, Outbox } from '../core/outbox.ts'
import type { Database } from './database.ts'
import { numberList } from './id-list.ts'
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

/**
 * See `Outbox.due`. Looks are as frequent as batches of records, so they take two statements, however many destinations have a queue, and one more for
 * each that may be sent something.
 */
export function createDue({ db, engine }: Database): Outbox['due'] {
  const queues = (now: number) =>
    sql<QueueRow>`${QUEUES} select id,
        (select seq from outbox_deliveries where destination_id = ids.id and due_at <= ${now} order by due_at limit 1) as first,
        (select min(due_at) from outbox_deliveries where destination_id = ids.id and due_at > ${now}) as next_at
      from ids where id is not null`.execute(db)

  const count = async (id: string, now: number, cap: number): Promise<readonly DueRow[]> => {
    const { rows } = await sql<Omit<DueRow, 'destination_id' | 'oldest_at'> & { readonly oldest_at: number | null }>`
      select count(*) as records, cast(coalesce(sum(bytes), 0) as bigint) as bytes, min(entered_at) as oldest_at, max(attempts) as attempts
      from (select bytes, entered_at, attempts from outbox_deliveries
            where destination_id = ${id} and due_at <= ${now} order by due_at limit ${cap}) as waiting`.execute(db)
    // They may have been leased since.
    return rows.flatMap(({ oldest_at, ...row }) => (oldest_at === null ? [] : [{ ...row, destination_id: id, oldest_at }]))
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
      for (const id of open) found.push(...(await count(id, now, cap)))
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
