/**
 * Writes src/store/schema.sqlite.sql and schema.postgres.sql with the result of the migrations. With --check it only compares them, and fails if they
 * differ. PostgreSQL is SIGNALBOX_TEST_POSTGRES_URL or the usual local one; without one its file stays as it is (an error with --check --all).
 */
import { readFile, writeFile } from 'node:fs/promises'
import { dumpSchema } from '../src/store/dump-schema.ts'
import { migrate } from '../src/store/migrate.ts'
import { MIGRATIONS } from '../src/store/migrations/index.ts'
import { openDatabase, type DatabaseOptions } from '../src/store/open-database.ts'
import { systemClock } from '../src/lib/clock.ts'
import { findTestPostgres } from '../src/testing/postgres.ts'

const check = process.argv.includes('--check')
const all = process.argv.includes('--all')

async function migratedSchema(options: DatabaseOptions): Promise<string> {
  const database = openDatabase(options)
  try {
    await migrate(database, MIGRATIONS, systemClock)
    return await dumpSchema(database)
  } finally {
    await database.db.destroy()
  }
}

async function compareOrWrite(name: string, schema: string): Promise<void> {
  const file = new URL(`../src/store/${name}`, import.meta.url)
  const current = await readFile(file, 'utf8').catch(() => '')
  if (current === schema) return
  if (check) {
    console.error(`src/store/${name} is not what the migrations make: run node scripts/dump-schema.ts`)
    process.exitCode = 1
    return
  }
  await writeFile(file, schema)
  console.log(`src/store/${name} written`)
}

await compareOrWrite('schema.sqlite.sql', await migratedSchema({ path: ':memory:' }))

const postgres = await findTestPostgres('schema.postgres.sql')
if (postgres.available) {
  const schema = await postgres.createSchema()
  try {
    await compareOrWrite('schema.postgres.sql', await migratedSchema({ url: schema.url }))
  } finally {
    await schema.drop()
  }
} else if (all) {
  process.exitCode = 1
}
