import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { Secret } from '../lib/secret.ts'

const DEFAULT_URL = 'postgres://root@127.0.0.1:5432/test'

/** A PostgreSQL server for tests, or why there is none. */
export type TestPostgres =
  | {
      readonly available: true
      readonly createSchema: () => Promise<TestSchema>
      /** A database of its own with this encoding. */
      readonly createDatabase: (encoding: string) => Promise<Pick<TestSchema, 'url' | 'drop'>>
      /** A database of its own, whose owner is limited to this many connections. */
      readonly createNarrowDatabase: (connections: number) => Promise<Pick<TestSchema, 'url' | 'drop'>>
    }
  | { readonly available: false; readonly why: string }

/** A schema of its own, so that parallel runs do not affect each other. */
export interface TestSchema {
  /** Connections through it see only this schema. */
  readonly url: Secret
  /** The number of sessions that wait for a lock in it. */
  readonly waiting: () => Promise<number>
  readonly drop: () => Promise<void>
}

const WAITING = `
  select distinct waits.pid from pg_locks waits join pg_locks uses on uses.pid = waits.pid join pg_class on pg_class.oid = uses.relation
  where not waits.granted and relnamespace = current_schema()::regnamespace`

/**
 * The database named by SIGNALBOX_TEST_POSTGRES_URL, or else the usual local one if it answers. If a named one does not answer, that is an error, because
 * somebody wanted it tested. Without any, a visible message says which tests are skipped.
 */
export async function findTestPostgres(whatIsSkipped: string): Promise<TestPostgres> {
  const named = process.env['SIGNALBOX_TEST_POSTGRES_URL']
  const url = named ?? DEFAULT_URL
  try {
    await query(url, 'select 1')
  } catch (error) {
    if (named !== undefined) throw new Error('SIGNALBOX_TEST_POSTGRES_URL names a database that does not answer', { cause: error })
    const why = `no PostgreSQL at ${DEFAULT_URL}; name one in SIGNALBOX_TEST_POSTGRES_URL`
    console.warn(`\n*** SKIPPED: ${whatIsSkipped}: ${why} ***\n`)
    return { available: false, why }
  }
  return {
    available: true,
    createSchema: async () => {
      const schema = `signalbox_test_${randomBytes(8).toString('hex')}`
      await query(url, `create schema ${schema}`)
      const scoped = new URL(url)
      scoped.searchParams.set('options', `-c search_path=${schema}`)
      return {
        url: new Secret(scoped.toString()),
        waiting: () => query(scoped.toString(), WAITING),
        drop: async () => void (await query(url, `drop schema ${schema} cascade`)),
      }
    },
    createDatabase: async (encoding) => {
      const name = `signalbox_test_${randomBytes(8).toString('hex')}`
      await query(url, `create database ${name} encoding '${encoding}' locale 'C' template template0`)
      const own = new URL(url)
      own.pathname = `/${name}`
      return { url: new Secret(own.toString()), drop: async () => void (await query(url, `drop database ${name} with (force)`)) }
    },
    createNarrowDatabase: async (connections) => {
      const name = `signalbox_test_${randomBytes(8).toString('hex')}`
      await query(url, `create role ${name} login password '${name}' connection limit ${connections}`)
      await query(url, `create database ${name} owner ${name}`)
      const own = new URL(url)
      Object.assign(own, { pathname: `/${name}`, username: name, password: name })
      const drop = async (): Promise<void> => {
        await query(url, `drop database ${name} with (force)`)
        await query(url, `drop role ${name}`)
      }
      return { url: new Secret(own.toString()), drop }
    },
  }
}

/** Resolves with the number of rows. */
async function query(url: string, statement: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, statement_timeout: 20_000 })
  await client.connect()
  try {
    // Dropping a schema sends notices about its content, which tests do not need.
    client.on('notice', () => undefined)
    return (await client.query(statement)).rows.length
  } finally {
    await client.end()
  }
}
