import { expressionBuilder, sql, type RawBuilder, type SqlBool } from 'kysely'
import { GatewayError } from '../core/error.ts'
import type { ActivityFilter, ActivityRow, SpendStore } from '../core/store.ts'
import { compareText } from '../lib/compare-text.ts'
import { ExactSum } from '../lib/exact-sum.ts'
import { nextTurn } from '../lib/next-turn.ts'
import type { Db, Engine, Tables } from './database.ts'
import { textList } from './id-list.ts'
import { guarded } from './store-error.ts'

export interface ActivityBounds {
  /** Rows of a report. */
  readonly reportRows: number
  /** Rows that one statement adds up. SQLite blocks the thread that serves calls meanwhile; PostgreSQL only has fewer statements with more rows. */
  readonly stepRows: number
}

/** About fifteen megabytes of JSON. */
const REPORT_ROWS = 50_000
/** Adding up a thousand rows in SQLite takes about 5 ms. */
const STEP_ROWS: { readonly [E in Engine]: number } = { sqlite: 1_000, postgres: 50_000 }

/** Where a step ends: the columns of the primary key behind the day. */
type Place = Pick<Tables['activity'], 'workspace_id' | 'key_hash' | 'model' | 'endpoint_id'>
const PLACE = ['workspace_id', 'key_hash', 'model', 'endpoint_id'] as const

interface Step {
  readonly day: number
  /** It begins behind this place; undefined: at the beginning of the day. */
  readonly after: Place | undefined
  /** It ends with this one; undefined: with the day. */
  readonly last: Place | undefined
}

/** A row of the report while the steps are added up. */
type Sums = { -readonly [K in keyof Counts]: Counts[K] } & { readonly usd: ExactSum; readonly byokUsd: ExactSum }
type Counts = Omit<ActivityRow, 'usd' | 'byokUsd'>

const tooManyRows = (limit: number): GatewayError =>
  new GatewayError('invalid_request', `The report would have more than ${limit} rows; ask for one date, workspace_id or api_key_hash`)

/**
 * See `SpendStore.activity`. Of a few thousand keys, thirty days are a few hundred thousand rows. SQLite takes a second to add them up, so it does that
 * in steps along the primary key, and calls are served in between.
 */
export function createActivityReport(db: Db, engine: Engine, bounds: Partial<ActivityBounds> = {}): SpendStore['activity'] {
  const { reportRows = REPORT_ROWS, stepRows = STEP_ROWS[engine] } = bounds
  return (filter) =>
    guarded(async () => {
      if (filter.keyHashes?.length === 0) return []
      const report: ActivityRow[] = []
      for (let day = await lastDay(db, filter.from, filter.to); day !== undefined; day = await lastDay(db, filter.from, day)) {
        const left = reportRows - report.length
        const rows = await readDay(db, engine, filter, day, { reportRows: left, stepRows })
        if (rows === undefined) throw tooManyRows(reportRows)
        report.push(...rows)
      }
      return report
    })
}

/** The last day with any activity before `to`. */
async function lastDay(db: Db, from: number, to: number): Promise<number | undefined> {
  const { day } = await db
    .selectFrom('activity')
    .select(({ fn }) => fn.max<number | null>('day').as('day'))
    .where('day', '>=', from)
    .where('day', '<', to)
    .executeTakeFirstOrThrow()
  return day ?? undefined
}

/** The most expensive first. Undefined as soon as there are more than the report may have: a single day may have more than fit into memory. */
async function readDay(
  db: Db,
  engine: Engine,
  filter: ActivityFilter,
  day: number,
  { reportRows, stepRows }: ActivityBounds,
): Promise<readonly ActivityRow[] | undefined> {
  const sums = new Map<string, Sums>()
  let after: Place | undefined
  do {
    await nextTurn()
    const last = await endOfStep(db, engine, filter, { day, after }, stepRows)
    for (const row of await addUp(db, engine, filter, { day, after, last })) merge(sums, row)
    if (sums.size > reportRows) return undefined
    after = last
  } while (after !== undefined)
  const rows = [...sums.values()].map((row) => ({ ...row, usd: row.usd.value, byokUsd: row.byokUsd.value }))
  return rows.sort((a, b) => b.usd - a.usd || compareText(a.model, b.model) || compareText(a.endpointId, b.endpointId))
}

/**
 * Compares the primary key behind the day, in a form that the index is searched with: a workspace that is asked for is a condition of its own and
 * comes before the rest.
 */
function isBeside(place: Place, operator: '>' | '<=', { workspaceId }: ActivityFilter): RawBuilder<SqlBool> {
  const columns = workspaceId === undefined ? PLACE : PLACE.slice(1)
  const names = sql.join(columns.map((column) => sql.ref(column)))
  return sql<SqlBool>`(${names}) ${sql.raw(operator)} (${sql.join(columns.map((column) => place[column]))})`
}

function rowsOf(db: Pick<Db, 'selectFrom'>, filter: ActivityFilter, { day, after }: Pick<Step, 'day' | 'after'>) {
  let query = db.selectFrom('activity').where('day', '=', day)
  if (filter.workspaceId !== undefined) query = query.where('workspace_id', '=', filter.workspaceId)
  return after === undefined ? query : query.where(isBeside(after, '>', filter))
}

/**
 * Undefined if the rest of the day is less than a step. Rows of keys that were not asked for count too: the step passes over them one by one. SQLite
 * reads them from the index, in order. PostgreSQL may sort the whole rest of the day, so it asks first, without an order, whether there is an end.
 */
function endOfStep(db: Db, engine: Engine, filter: ActivityFilter, from: Pick<Step, 'day' | 'after'>, stepRows: number): Promise<Place | undefined> {
  const any = rowsOf(expressionBuilder<Tables>(), filter, from)
    .select(sql`1`.as('found'))
    .offset(stepRows - 1)
    .limit(1)
  return rowsOf(db, filter, from)
    .select(PLACE)
    .$if(engine === 'postgres', (query) => query.where((each) => each.exists(any)))
    .orderBy('workspace_id')
    .orderBy('key_hash')
    .orderBy('model')
    .orderBy('endpoint_id')
    .offset(stepRows - 1)
    .limit(1)
    .executeTakeFirst()
}

async function addUp(db: Db, engine: Engine, filter: ActivityFilter, step: Step): Promise<readonly ActivityRow[]> {
  let query = rowsOf(db, filter, step)
    .select(['model', 'endpoint_id'])
    .$if(filter.acrossWorkspaces !== true, (each) => each.select('workspace_id').groupBy('workspace_id'))
    .select(({ fn }) => [
      // A renamed provider is still one provider.
      fn.max('provider_name').as('provider_name'),
      fn.sum<number | string>('requests').as('requests'),
      fn.sum<number | string>('input_tokens').as('input_tokens'),
      fn.sum<number | string>('output_tokens').as('output_tokens'),
      fn.sum<number | string>('reasoning_tokens').as('reasoning_tokens'),
      exactSum(engine, 'usd').as('usd'),
      exactSum(engine, 'byok_usd').as('byok_usd'),
    ])
    .groupBy(['model', 'endpoint_id'])
  if (step.last !== undefined) query = query.where(isBeside(step.last, '<=', filter))
  if (filter.keyHashes !== undefined) query = query.where('key_hash', 'in', textList(engine, filter.keyHashes))
  return (await query.execute()).map((row) => ({
    day: step.day,
    ...(row.workspace_id === undefined ? {} : { workspaceId: row.workspace_id }),
    model: row.model,
    endpointId: row.endpoint_id,
    providerName: row.provider_name,
    // PostgreSQL sums integers as decimals, which arrive as text.
    requests: Number(row.requests),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    usd: Number(row.usd),
    byokUsd: Number(row.byok_usd),
  }))
}

/** SQLite's `sum` keeps what an addition cannot hold. PostgreSQL's does not, so it adds up decimals. */
const exactSum = (engine: Engine, column: 'usd' | 'byok_usd'): RawBuilder<number | string> =>
  sql`sum(${engine === 'sqlite' ? amount(column) : sql`${amount(column)}::numeric`})`
const amount = (column: 'usd' | 'byok_usd'): RawBuilder<number> => sql`(${sql.ref(column)} + ${sql.ref(`${column}_rest`)})`

function merge(sums: Map<string, Sums>, row: ActivityRow): void {
  const key = `${row.workspaceId ?? ''}\0${row.model}\0${row.endpointId}`
  const sum = sums.get(key)
  if (sum === undefined) {
    sums.set(key, { ...row, usd: new ExactSum(row.usd), byokUsd: new ExactSum(row.byokUsd) })
    return
  }
  if (row.providerName > sum.providerName) sum.providerName = row.providerName
  sum.requests += row.requests
  sum.inputTokens += row.inputTokens
  sum.outputTokens += row.outputTokens
  sum.reasoningTokens += row.reasoningTokens
  sum.usd.add(row.usd)
  sum.byokUsd.add(row.byokUsd)
}
