import { sql } from 'kysely'
import type { GenerationContent } from '../core/generation.ts'
import type { LeasedDelivery, LeaseOptions } from '../core/outbox.ts'
import { openContent, type ContentKeys } from './content-keys.ts'
import type { Database } from './database.ts'
import { decodeGeneration } from './generation-row.ts'
import { numberList } from './id-list.ts'
import { inTransaction } from './transaction.ts'

interface LeasedRow {
  readonly seq: number
  readonly generation_id: string
  readonly attempts: number
  readonly entered_at: number
  readonly bytes: number
  readonly record: string | null
  readonly key_id: string | null
  readonly body: Uint8Array | null
}

/** See `Outbox.lease`. Rows another process is about to take are passed over in PostgreSQL; SQLite has one writer at a time. */
export function createLease({ db, engine }: Database, keys: ContentKeys) {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``

  const take = (destinationId: string, { owner, records, bytes, now, leaseMs }: LeaseOptions): Promise<readonly LeasedRow[]> =>
    inTransaction(db, async (trx) => {
      const waiting = await sql<{ seq: number; bytes: number }>`
        select seq, bytes from outbox_deliveries where destination_id = ${destinationId} and due_at <= ${now}
        order by due_at, seq limit ${records} ${skipLocked}`.execute(trx)
      const taken: number[] = []
      let size = 0
      for (const row of waiting.rows) {
        if (taken.length > 0 && size + row.bytes > bytes) break
        size += row.bytes
        taken.push(row.seq)
      }
      if (taken.length === 0) return []
      const ids = numberList(engine, taken)
      await sql`update outbox_deliveries set owner = ${owner}, due_at = ${now + leaseMs} where seq in ${ids}`.execute(trx)
      const rows = await sql<LeasedRow>`
        select d.seq, d.generation_id, d.attempts, d.entered_at, d.bytes, g.record, c.key_id, c.body
        from outbox_deliveries d
        left join generations g on g.id = d.generation_id
        left join outbox_contents c on c.id = d.generation_id and d.content_bytes > 0
        where d.seq in ${ids} order by d.entered_at, d.seq`.execute(trx)
      // Without its record, which somebody deleted by hand, there is nothing to send.
      const lost = rows.rows.filter((row) => row.record === null).map((row) => row.seq)
      if (lost.length > 0) await sql`delete from outbox_deliveries where seq in ${numberList(engine, lost)}`.execute(trx)
      return rows.rows.filter((row) => row.record !== null)
    })

  const readContent = async ({ generation_id, key_id, body }: LeasedRow): Promise<GenerationContent | undefined> => {
    if (key_id === null || body === null) return undefined
    const key = await keys.get(key_id)
    const text = key && openContent(key, generation_id, body)
    return text === undefined ? undefined : (JSON.parse(text) as GenerationContent)
  }

  return async (destinationId: string, options: LeaseOptions): Promise<readonly LeasedDelivery[]> => {
    const leased: LeasedDelivery[] = []
    for (const row of await take(destinationId, options)) {
      const content = await readContent(row)
      leased.push({
        id: String(row.seq),
        destinationId,
        generation: decodeGeneration(row.record ?? ''),
        ...(content === undefined ? {} : { content }),
        attempts: row.attempts,
        enteredAt: row.entered_at,
        bytes: row.bytes,
      })
    }
    return leased
  }
}
