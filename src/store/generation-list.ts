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
  /** Rows that one page scans. */
  readonly scanRows: number
  /** Rows of one statement. SQLite blocks the thread that serves calls, which has to get its turn between two statements. */
  readonly stepRows: number
  /** Bytes of the records on one page, not counting the first record. */
  readonly pageBytes: number
}

/**
 * Only workspace and time are indexed; everything else is compared row by row. With 200,000 records of 3 KB in SQLite on a busy machine, a step takes
 * about 2 ms, and all steps of a page about 15.
 */
const BOUNDS: GenerationListBounds = { scanRows: 2_000, stepRows: 250, pageBytes: 2_000_000 }

/** A position in the list: rows after it are older, or as old with a smaller id. */
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

/** Finds matching rows without reading records, step by step, until a page is full, a bound is reached or no rows are left. */
async function scan(db: Db, filter: GenerationFilter, limit: number, start: Place | undefined, bounds: GenerationListBounds): Promise<Scanned> {
  const ids: string[] = []
  let bytes = 0
  let place = start
  // If every row matches, one row more than wanted tells whether there are more.
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

/** The next rows in the order of the index (workspace and time), and which of them match. */
async function scanStep(db: Db, filter: GenerationFilter, place: Place | undefined, rows: number): Promise<readonly ScannedRow[]> {
  const { workspaceId, from, to } = filter
  let query = db
    .selectFrom('generations')
    // `octet_length` does not read the record.
    .select(['created_at', 'id', sql<number>`octet_length(record)`.as('bytes')])
    .select((eb) => eb.case().when(matches(eb, filter)).then(eb.lit(1)).else(eb.lit(0)).end().as('matched'))
  if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
  if (from !== undefined) query = query.where('created_at', '>=', from)
  if (to !== undefined) query = query.where('created_at', '<', to)
  if (place !== undefined) {
    const { at, id } = place
    // The first condition lets the index find the position.
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

/** In the order of the ids, without those deleted a moment ago. */
async function readRecords(db: Db, engine: Engine, ids: readonly string[]): Promise<readonly Generation[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('generations').select(['id', 'record']).where('id', 'in', textList(engine, ids)).execute()
  const records = new Map(rows.map(({ id, record }) => [id, record]))
  return ids.flatMap((id) => {
    const record = records.get(id)
    return record === undefined ? [] : [decodeGeneration(record)]
  })
}

/** Opaque to callers, because its content may change with any version. */
const writeCursor = (place: Place | undefined): string | null =>
  place === undefined ? null : Buffer.from(JSON.stringify([place.at, place.id])).toString('base64url')

function readCursor(cursor: string): Place {
  try {
    const text = Buffer.from(cursor, 'base64url').toString()
    const [at, id, ...rest] = JSON.parse(text) as readonly unknown[]
    // PostgreSQL accepts neither NUL nor a number beyond its column.
    if (Number.isSafeInteger(at) && typeof id === 'string' && !id.includes('\0') && rest.length === 0) return { at: at as number, id }
  } catch {
    // Not JSON, so not one of ours either.
  }
  throw new GatewayError('invalid_request', 'cursor: the next_cursor of the page before is expected', { path: 'cursor' })
}
