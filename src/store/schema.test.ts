import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { findTestPostgres } from '../testing/postgres.ts'
import { dumpSchema } from './dump-schema.ts'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { openDatabase, type DatabaseOptions } from './open-database.ts'

async function migratedSchema(options: DatabaseOptions): Promise<string> {
  const database = openDatabase(options)
  try {
    await migrate(database, MIGRATIONS, systemClock)
    return await dumpSchema(database)
  } finally {
    await database.db.destroy()
  }
}

const committed = (name: string) => readFile(new URL(name, import.meta.url), 'utf8')

describe('the schema in git is what the migrations make (else: node scripts/dump-schema.ts)', () => {
  it('for SQLite', async () => {
    expect(await migratedSchema({ path: ':memory:' })).toBe(await committed('schema.sqlite.sql'))
  })

  it('covers every table', async () => {
    const schema = await committed('schema.sqlite.sql')
    const tables = [...schema.matchAll(/^create table "(\w+)"/gim)].map(([, name]) => name)
    expect(tables).toEqual([
      'activity',
      'api_keys',
      'config_version',
      'destinations',
      'facts',
      'generation_content',
      'generations',
      'guardrail_keys',
      'guardrails',
      'kept_answers',
      'key_uses',
      'migrations',
      'outbox_contents',
      'outbox_counters',
      'outbox_deliveries',
      'outbox_keys',
      'own_keys',
      'preset_versions',
      'presets',
      'spend',
      'workspaces',
    ])
  })
})

const postgres = await findTestPostgres('the schema dump of PostgreSQL')
describe.skipIf(!postgres.available)('the schema in git is what the migrations make, in PostgreSQL', () => {
  if (!postgres.available) return
  it('too', async () => {
    const schema = await postgres.createSchema()
    try {
      expect(await migratedSchema({ url: schema.url })).toBe(await committed('schema.postgres.sql'))
    } finally {
      await schema.drop()
    }
  })
})
