import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { GatewayError } from '../core/error.ts'
import type { Generation } from '../core/generation.ts'
import type { GenerationFilter, GenerationPage, GenerationStore } from '../core/store.ts'
import { nextTurn } from '../lib/next-turn.ts'
import type { Db, Engine, Tables } from './database.ts'
import { decodeGeneration } from './generation-row.ts'
import { textList } from './id-list.ts'
import { guarded } from './store-error.ts'

export interface GenerationListBounds {
  /** Rows one page looks at. */
  readonly scanRows: number
  /** Rows of one statement. SQLite works in the thread that serves, which has others to serve between two of them. */
  readonly stepRows: number
  /** Size of the records of one page, beyond the first of them. */
  readonly pageBytes: number
}

/**
 * Only workspace and time have an index; everything else is compared row by row. In an SQLite file of 200,000 records of 3 KB, on a busy
 * machine, a step takes some 2 ms and all steps of a page together some 15.
 */
const BOUNDS: GenerationListBounds = { scanRows: 2_000, stepRows: 250, pageBytes: 2_000_000 }

/** A place in the order of the list: what comes behind it is older, or as old with a smaller id. */
interface Place {
  readonly at: number
  readonly id: string
}

interface ScannedRow {
  readonly created_at: number
  readonly id: string
  readonly bytes: number
  readonly matched: number
}

export function createGenerationList(db: Db, engine: Engine, bounds = BOUNDS): GenerationStore['list'] {
  return async (filter, { limit, cursor }) => {
    const place = cursor === undefined ? undefined : readCursor(cursor)
    return guarded(async () => {
      const { ids, nextCursor } = await scan(db, filter, limit, place, bounds)
      return { generations: await readRecords(db, engine, ids), nextCursor }
    })
  }
}

interface Scanned extends Pick<GenerationPage, 'nextCursor'> {
  readonly ids: readonly string[]
}

/** Looks for rows that match without reading a record, step by step, until a page is full, a bound is hit or nothing is left. */
async function scan(db: Db, filter: GenerationFilter, limit: number, start: Place | undefined, bounds: GenerationListBounds): Promise<Scanned> {
  const ids: string[] = []
  let bytes = 0
  let place = start
  // Where every row matches, one more than wanted tells whether there is more.
  const step = isSelective(filter) ? bounds.stepRows : limit + 1
  for (let scanned = 0; scanned < bounds.scanRows; scanned += step) {
    if (scanned > 0) await nextTurn()
    const rows = await scanStep(db, filter, place, step)
    for (const row of rows) {
      if (row.matched === 1) {
        if (ids.length === limit || (ids.length > 0 && bytes + row.bytes > bounds.pageBytes)) return { ids, nextCursor: writeCursor(place) }
        ids.push(row.id)
        bytes += row.bytes
      }
      place = { at: row.created_at, id: row.id }
    }
    if (rows.length < step) return { ids, nextCursor: null }
    if (ids.length === limit) break
  }
  return { ids, nextCursor: writeCursor(place) }
}

const isSelective = ({ model, provider, status, errorType, keyHash, sessionId }: GenerationFilter): boolean =>
  [model, provider, status, errorType, keyHash, sessionId].some((wanted) => wanted !== undefined)

/** The next rows by workspace and time alone, in the order of an index, and which of them match. */
async function scanStep(db: Db, filter: GenerationFilter, place: Place | undefined, rows: number): Promise<readonly ScannedRow[]> {
  const { workspaceId, from, to } = filter
  let query = db
    .selectFrom('generations')
    // The size is known without reading the record.
    .select(['created_at', 'id', sql<number>`octet_length(record)`.as('bytes')])
    .select((eb) => eb.case().when(matches(eb, filter)).then(eb.lit(1)).else(eb.lit(0)).end().as('matched'))
  if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
  if (from !== undefined) query = query.where('created_at', '>=', from)
  if (to !== undefined) query = query.where('created_at', '<', to)
  if (place !== undefined) {
    const { at, id } = place
    // The first condition is what the index is entered by.
    query = query.where('created_at', '<=', at).where((eb) => eb.or([eb('created_at', '<', at), eb('id', '<', id)]))
  }
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(rows).execute()
}

function matches(eb: ExpressionBuilder<Tables, 'generations'>, filter: GenerationFilter): Expression<SqlBool> {
  const { model, provider, status, errorType, keyHash, sessionId } = filter
  const wanted = { provider, status, error_type: errorType, key_hash: keyHash, session_id: sessionId }
  const equal = (Object.keys(wanted) as (keyof typeof wanted)[]).flatMap((column) => {
    const value = wanted[column]
    return value === undefined ? [] : [eb(column, '=', value)]
  })
  const named = model === undefined ? [] : [eb.or([eb('model', '=', model), eb('requested_model', '=', model)])]
  return eb.and([...equal, ...named])
}

/** In the order of the ids. What was deleted a moment ago is not among them. */
async function readRecords(db: Db, engine: Engine, ids: readonly string[]): Promise<readonly Generation[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('generations').select(['id', 'record']).where('id', 'in', textList(engine, ids)).execute()
  const records = new Map(rows.map(({ id, record }) => [id, record]))
  return ids.flatMap((id) => {
    const record = records.get(id)
    return record === undefined ? [] : [decodeGeneration(record)]
  })
}

/** Opaque to callers: what it holds may change with any version. */
const writeCursor = (place: Place | undefined): string | null =>
  place === undefined ? null : Buffer.from(JSON.stringify([place.at, place.id])).toString('base64url')

function readCursor(cursor: string): Place {
  try {
    const text = Buffer.from(cursor, 'base64url').toString()
    const [at, id, ...rest] = JSON.parse(text) as readonly unknown[]
    // PostgreSQL takes neither the one character nor a number beyond its columns.
    if (Number.isSafeInteger(at) && typeof id === 'string' && !id.includes('\0') && rest.length === 0) return { at: at as number, id }
  } catch {
    // Not one of ours, as any other.
  }
  throw new GatewayError('invalid_request', 'cursor: the next_cursor of the page before is expected', { path: 'cursor' })
}
