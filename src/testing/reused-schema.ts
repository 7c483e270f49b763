import pg from 'pg'
import { afterAll } from 'vitest'
import type { Store } from '../core/store.ts'
import type { Secret } from '../lib/secret.ts'
import type { TestPostgres, TestSchema } from './postgres.ts'

interface Kept {
  readonly schema: TestSchema
  /** Empties every table and puts back what the migrations themselves had written. */
  readonly empty: string
  readonly shape: string
}

/**
 * Gives one test after the other a schema of PostgreSQL as a first migration leaves it. The next test gets the same one, emptied: creating twenty tables
 * and dropping them takes a quarter of a second, most of the time of most tests. A schema whose tables, columns, indexes, constraints, triggers or
 * functions are no longer those of the migrations is dropped and made anew. Belongs into a `describe`, at whose end the schemas are dropped.
 */
export function reuseSchemas(
  postgres: Extract<TestPostgres, { readonly available: true }>,
  createStore: (options: { readonly url: Secret }) => Promise<Store>,
): () => Promise<TestSchema> {
  const free: Kept[] = []
  afterAll(async () => {
    for (const { schema } of free.splice(0)) await schema.drop()
  })
  const create = async (): Promise<Kept> => {
    const schema = await postgres.createSchema()
    const store = await createStore({ url: schema.url })
    await store.migrate()
    await store.close()
    return withClient(schema.url, async (client) => ({ schema, empty: await emptying(client), shape: await shapeOf(client) }))
  }
  const isAsNew = ({ schema, empty, shape }: Kept): Promise<boolean> =>
    withClient(schema.url, async (client) => {
      if ((await shapeOf(client)) !== shape) return false
      await client.query(empty)
      return true
    })
  return async () => {
    let kept = free.pop()
    if (kept !== undefined && !(await isAsNew(kept))) {
      await kept.schema.drop()
      kept = undefined
    }
    const given = kept ?? (await create())
    return { ...given.schema, drop: async () => void free.push(given) }
  }
}

async function withClient<T>(url: Secret, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url.reveal(), connectionTimeoutMillis: 2_000, statement_timeout: 20_000 })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** All foreign keys cascade, so that the order does not matter; one that did not would fail here. */
async function emptying(client: pg.Client): Promise<string> {
  const tables = await client.query<{ readonly name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
  )
  const statements: string[] = []
  for (const { name } of tables.rows) {
    statements.push(`delete from ${name}`)
    const { rows } = await client.query<{ readonly row: string }>(`select to_json(${name}) #>> '{}' as row from ${name}`)
    for (const { row } of rows) statements.push(`insert into ${name} select * from json_populate_record(null::${name}, ${client.escapeLiteral(row)})`)
  }
  return ['begin', ...statements, 'commit'].join('; ')
}

const SHAPE = `
  with relations as (select oid, relname, relkind from pg_class where relnamespace = current_schema()::regnamespace)
  select md5(coalesce(string_agg(part, E'\\n' order by part), '')) as shape from (
    select relkind::text || ' ' || relname as part from relations
    union all select relname || ' ' || attname || ' ' || atttypid || ' ' || attnotnull || ' ' || attisdropped from pg_attribute join relations on oid = attrelid
    union all select relname || ' ' || conname || ' ' || convalidated from pg_constraint join relations on relations.oid = conrelid
    union all select relname || ' ' || tgname from pg_trigger join relations on relations.oid = tgrelid
    union all select proname from pg_proc where pronamespace = current_schema()::regnamespace
  ) parts`

async function shapeOf(client: pg.Client): Promise<string> {
  return (await client.query<{ readonly shape: string }>(SHAPE)).rows[0]!.shape
}
