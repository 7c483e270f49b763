import { sql, type Transaction } from 'kysely'
import type { Generation, GenerationContent } from '../core/generation.ts'
import type { DurableOutbox, LeasedDelivery, LeaseOptions, Settlement } from '../core/outbox.ts'
import { errorLine } from '../lib/error-line.ts'
import { openContent, type ContentKeys } from './content-keys.ts'
import type { Database, Tables } from './database.ts'
import { decodeContent, decodeGeneration } from './generation-row.ts'
import { numberList } from './id-list.ts'
import type { RecentEntries, RecentEntry } from './recent-entries.ts'
import { isStoreUnavailable, toStoreError } from './store-error.ts'
import { inTransaction } from './transaction.ts'

type Trx = Transaction<Tables>

interface WaitingRow {
  readonly seq: number
  readonly generation_id: string
  readonly attempts: number
  readonly entered_at: number
  readonly bytes: number
  readonly content_bytes: number
}

/** What the database holds of a delivery's event. */
interface StoredEvent {
  readonly seq: number
  readonly record: string | null
  readonly key_id: string | null
  readonly body: Uint8Array | null
}

interface Event {
  readonly generation: Generation
  readonly content: GenerationContent | undefined
}

/** `later`: this process cannot read it now. Its lease will expire, and another process may read it. */
type Reading = Event | 'later' | { readonly unreadable: string }

export interface LeaseParts {
  readonly database: Database
  readonly keys: Pick<ContentKeys, 'get'>
  readonly recent: RecentEntries
  readonly settle: DurableOutbox['settle']
  readonly onProblem: ((message: string) => void) | undefined
}

/** See `Outbox.lease`. In PostgreSQL rows that another process is about to take are skipped; SQLite has one writer at a time. */
export function createLease({ database: { db, engine }, keys, recent, settle, onProblem }: LeaseParts) {
  const skipLocked = engine === 'postgres' ? sql`for update skip locked` : sql``

  const choose = async (trx: Trx, destinationId: string, { owner, records, bytes, now, leaseMs }: LeaseOptions): Promise<readonly WaitingRow[]> => {
    const waiting = await sql<WaitingRow>`
      select seq, generation_id, attempts, entered_at, bytes, content_bytes from outbox_deliveries
      where destination_id = ${destinationId} and due_at <= ${now} order by due_at, seq limit ${records} ${skipLocked}`.execute(trx)
    const taken: WaitingRow[] = []
    let size = 0
    for (const row of waiting.rows) {
      if (taken.length > 0 && size + row.bytes > bytes) break
      size += row.bytes
      taken.push(row)
    }
    if (taken.length === 0) return []
    const ids = numberList(
      engine,
      taken.map(({ seq }) => seq),
    )
    await sql`update outbox_deliveries set owner = ${owner}, due_at = ${now + leaseMs} where seq in ${ids}`.execute(trx)
    return taken.sort((a, b) => a.entered_at - b.entered_at || a.seq - b.seq)
  }

  const read = async (trx: Trx, rows: readonly WaitingRow[]): Promise<readonly StoredEvent[]> => {
    if (rows.length === 0) return []
    const ids = numberList(
      engine,
      rows.map(({ seq }) => seq),
    )
    const stored = await sql<StoredEvent>`
      select d.seq, g.record, c.key_id, c.body
      from outbox_deliveries d
      left join generations g on g.id = d.generation_id
      left join outbox_contents c on c.id = d.generation_id and d.content_bytes > 0
      where d.seq in ${ids}`.execute(trx)
    // The record was deleted by hand, so there is nothing to send.
    const lost = stored.rows.filter((row) => row.record === null).map((row) => row.seq)
    if (lost.length > 0) await sql`delete from outbox_deliveries where seq in ${numberList(engine, lost)}`.execute(trx)
    return stored.rows.filter((row) => row.record !== null)
  }

  /** Undefined if nobody can read the content any more: the event is then sent without. */
  const openBody = async (generationId: string, keyId: string, body: Uint8Array): Promise<GenerationContent | undefined | 'later'> => {
    try {
      const key = await keys.get(keyId)
      const text = key && openContent(key, generationId, body)
      return text === undefined ? undefined : decodeContent(text)
    } catch (error) {
      const fault = toStoreError(error)
      // The secret key was changed while this process runs, and a process with the new key can read it. Or the database has just gone away.
      const waits = isStoreUnavailable(fault) || fault.errorType === 'precondition_failed'
      onProblem?.(`${waits ? 'events wait' : 'events go without what was said'}: ${errorLine(fault)}`)
      return waits ? 'later' : undefined
    }
  }

  const openEvent = async (generationId: string, { record, key_id, body }: StoredEvent): Promise<Reading> => {
    let generation
    try {
      generation = decodeGeneration(record ?? '')
    } catch (error) {
      return { unreadable: toStoreError(error).message }
    }
    const content = key_id === null || body === null ? undefined : await openBody(generationId, key_id, body)
    return content === 'later' ? content : { generation, content }
  }

  return async (destinationId: string, options: LeaseOptions): Promise<readonly LeasedDelivery[]> => {
    const remembered = new Map<number, RecentEntry>()
    const { rows, stored } = await inTransaction(db, async (trx) => {
      const chosen = await choose(trx, destinationId, options)
      const missing = chosen.filter(({ seq, generation_id }) => {
        const entry = recent.take(generation_id)
        if (entry !== undefined) remembered.set(seq, entry)
        return entry === undefined
      })
      return { rows: chosen, stored: new Map((await read(trx, missing)).map((event) => [event.seq, event])) }
    })
    // From here on the rows are leased. One that cannot be read must not affect the others.
    const leased: LeasedDelivery[] = []
    const dead: Settlement[] = []
    for (const row of rows) {
      const { seq, generation_id, content_bytes } = row
      const entry = remembered.get(seq)
      const storedEvent = stored.get(seq)
      const event = entry === undefined ? storedEvent && (await openEvent(generation_id, storedEvent)) : recall(entry, content_bytes > 0)
      if (event === undefined || event === 'later') continue
      if ('unreadable' in event) dead.push({ id: String(seq), state: 'dead', reason: 'encode-failed', status: 0, error: event.unreadable })
      else leased.push(toDelivery(destinationId, row, event))
    }
    if (dead.length > 0) await settle(options.owner, dead).catch((error: unknown) => onProblem?.(errorLine(toStoreError(error))))
    return leased
  }
}

const toDelivery = (destinationId: string, { seq, attempts, entered_at, bytes }: WaitingRow, { generation, content }: Event): LeasedDelivery => ({
  id: String(seq),
  destinationId,
  generation,
  ...(content === undefined ? {} : { content }),
  attempts,
  enteredAt: entered_at,
  bytes,
})

function recall({ generation, content }: RecentEntry, withContent: boolean): Event {
  return { generation, content: withContent && content !== undefined ? decodeContent(content) : undefined }
}
