import { sql } from 'kysely'
import type { Store } from '../core/store.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { randomId } from '../lib/id.ts'
import { createAnswerStore } from './answers.ts'
import { readVersion, watchVersion } from './config-version.ts'
import { createDatabaseClock } from './database-clock.ts'
import type { Db } from './database.ts'
import { createDestinationStore } from './destinations.ts'
import { encodingFault } from './encoding.ts'
import { createFactStore } from './facts.ts'
import { createGenerationInsert, createGenerationStore } from './generations.ts'
import { createGuardrailStore } from './guardrails.ts'
import { createKeyUseStore } from './key-uses.ts'
import { createKeyStore } from './keys.ts'
import { migrate, migrationFault, newerSchema, pendingMigrations } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'
import { openDatabase, type DatabaseOptions } from './open-database.ts'
import { createOwnKeyStore } from './own-keys.ts'
import { createPresetStore } from './presets.ts'
import { listenForChanges } from './postgres-listen.ts'
import { createSpendStore } from './spend.ts'
import { createOutbox } from './outbox.ts'
import { createRetentionStore } from './retention.ts'
import { countForeignSecrets, rewrapSecrets } from './secrets.ts'
import { guarded } from './store-error.ts'
import { inTransaction } from './transaction.ts'
import { createWorkspaceStore } from './workspaces.ts'

export { withoutOversize } from './generation-row.ts'
export { createRetentionJob, type RetentionJob } from './retention-job.ts'
export { UNPACKED } from './generation-queue.ts'
export { createGenerationSink } from './write-behind.ts'
export { fileFaultOf, type FileFault } from './store-error.ts'
export type { GenerationSinkOptions, GenerationSinkStats, SinkEvent, WriteBehindSink } from './write-behind.ts'

export interface StoreOptions extends DatabaseOptions {
  readonly clock?: Clock
  /** Called with how many milliseconds this process is ahead of the database when that becomes too much, and with 0 when it is over. */
  readonly onClockDifference?: (aheadMs: number) => void
  /** Default: all of ours. Tests pass others. */
  readonly migrations?: readonly Migration[]
  /** Bytes of entries that the outbox remembers until their first lease. Default: some megabytes; 0: everything is read from the database. */
  readonly recentBytes?: number
}

/** Enough to need new pages, whatever is free in the existing ones. */
const PROBE_BYTES = 65_536

/** Commits and leaves nothing behind. It must commit, because a disk is asked for space only then. */
function proveRoom(db: Db): Promise<void> {
  const name = `probe:${randomId(12)}`
  return inTransaction(db, async (trx) => {
    await trx
      .insertInto('facts')
      .values({ name, value: randomId(PROBE_BYTES) })
      .execute()
    await trx.deleteFrom('facts').where('name', '=', name).execute()
  })
}

/** SQLite has no notifications, and reading the version takes microseconds. */
const WATCH_MS = 250

/**
 * The store over SQLite (`path`) or PostgreSQL (`url`). Connects at first use; `migrate` must run before anything else. Throws GatewayError
 * `invalid_request` for options that can never work.
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const { migrations = MIGRATIONS, recentBytes } = options
  const clock = createDatabaseClock(options.clock ?? systemClock, options.onClockDifference)
  const database = openDatabase(options)
  const { db, engine } = database
  const insertGenerations = createGenerationInsert(db)
  let closing: Promise<void> | undefined
  return {
    keys: createKeyStore(db),
    keyUses: createKeyUseStore(db),
    workspaces: createWorkspaceStore(db, clock),
    generations: createGenerationStore(database, insertGenerations),
    answers: createAnswerStore(db),
    spend: createSpendStore(db, engine),
    ownKeys: createOwnKeyStore(db),
    presets: createPresetStore(db),
    guardrails: createGuardrailStore(db),
    facts: createFactStore(db),
    destinations: createDestinationStore(database, clock),
    retention: createRetentionStore(database),
    outbox: (encryption, onProblem) => createOutbox({ database, encryption, clock, insertGenerations, recentBytes, onProblem }),
    rewrapSecrets: (rewrap) => rewrapSecrets(db, rewrap),
    foreignSecrets: (keyId) => guarded(() => countForeignSecrets(db, keyId)),
    clock,
    version: () => readVersion(db, clock),
    watch: (onChange) =>
      options.url === undefined ? watchVersion(() => readVersion(db, clock), onChange, WATCH_MS) : listenForChanges(options.url, onChange),
    migrate: (onSlow) => guarded(() => migrate(database, migrations, clock, onSlow)),
    pendingMigrations: () => guarded(() => pendingMigrations(db, engine, migrations)),
    newerSchema: () => guarded(() => newerSchema(db, engine, migrations)),
    migrationFault: () => guarded(() => migrationFault(db, engine)),
    encodingFault: () => guarded(() => encodingFault(db, engine)),
    ping: () => guarded(async () => void (await sql`select 1`.execute(db))),
    proveWritable: () => inTransaction(db, async (trx) => void (await sql`update outbox_deliveries set owner = owner where 1 = 0`.execute(trx))),
    proveRoom: () => proveRoom(db),
    close: () => (closing ??= guarded(() => db.destroy())),
  }
}
