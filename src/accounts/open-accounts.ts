import { setTimeout as sleep } from 'node:timers/promises'
import type { Encryption, KeyAccounts } from '../core/account.ts'
import type { FixedKeys } from '../core/config.ts'
import { asGatewayError, type GatewayError } from '../core/error.ts'
import type { Store } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { bootstrapKeys, environmentKeys, type GeneratedKey } from './bootstrap.ts'
import { isOutdated, verifySecretKey } from './encryption.ts'
import { createKeyUses } from './key-uses.ts'
import { createKeySnapshot, type KeySnapshot, type SnapshotEvent } from './key-snapshot.ts'
import { createKeyAccounts } from './keys.ts'
import type { LastKnownGood } from './known-file.ts'
import { createLastKnownGood, type KnownAccounts } from './last-known-good.ts'

export type AccountsEvent =
  | SnapshotEvent
  /** The database was unavailable at the start: until it answers, keys come from the environment and the last-known-good file. */
  | { readonly type: 'started-without-database'; readonly error: GatewayError; readonly keys: number }
  /** When keys were last used could not be written; it is kept, and written later. Emitted once until it can be written again. */
  | { readonly type: 'uses-not-written'; readonly error: unknown }
  /** A migration takes long, and the start waits for it. */
  | { readonly type: 'migrating'; readonly migration: string }
  /** The database is still not prepared, for another reason than before: it may answer by now and refuse something that a start needs. */
  | { readonly type: 'still-without-database'; readonly error: GatewayError }
  /** A first key was made: print it, because it is shown only once. */
  | ({ readonly type: 'key-generated' } & GeneratedKey)
  /** The database was prepared; `warnings` are sentences for the operator. Emitted once, at the start or when the database became available. */
  | { readonly type: 'ready'; readonly warnings: readonly string[] }
  /**
   * The database became available, and a start with it would have been refused (most likely because of a wrong secret key). The process should end.
   */
  | { readonly type: 'refused'; readonly error: GatewayError }

export interface AccountsOptions {
  readonly store: Store
  readonly encryption: Encryption
  readonly fixedKeys: Pick<FixedKeys, 'apiKey' | 'managementKey'>
  readonly clock: Clock
  readonly ids?: IdSource
  /** Where to store the last-known-good keys; if absent, they are not stored. */
  readonly lastKnownGoodFile?: string
  readonly onEvent?: (event: AccountsEvent) => void
  /** Called at the start about a database that cannot be used. Returns the error that the start should fail with if this is not an outage. */
  readonly refusal?: (failure: GatewayError) => GatewayError | undefined
  /** Between two attempts to reach a database that was unavailable at the start. */
  readonly retryMs?: number
}

export interface Accounts {
  readonly snapshot: KeySnapshot
  readonly keys: KeyAccounts
  /** Whether the database's content is in force, and the database answered when it was last asked. */
  answers(): boolean
  close(): Promise<void>
}

/**
 * Prepares the database (migrations, secret key, default workspace, first keys) and the snapshot for the hot path. An unavailable database does not
 * prevent the start: keys that are known without it work, and the preparation follows as soon as it answers. Rejects with what the operator must
 * repair: a wrong secret key, malformed keys.
 */
export async function openAccounts(options: AccountsOptions): Promise<Accounts> {
  const {
    store,
    encryption,
    fixedKeys,
    clock,
    ids,
    lastKnownGoodFile,
    onEvent = () => undefined,
    refusal = () => undefined,
    retryMs = 1_000,
  } = options
  const lastKnownGood = lastKnownGoodFile === undefined ? undefined : createLastKnownGood(lastKnownGoodFile)
  const uses = createKeyUses({ store: store.keyUses, now: () => clock.now(), onFailure: (error) => onEvent({ type: 'uses-not-written', error }) })
  const snapshot = createKeySnapshot({
    store,
    isSecretKeyOutdated: () => isOutdated(encryption, store.facts),
    clock,
    environmentKeys: environmentKeys(fixedKeys, clock),
    ...(lastKnownGood === undefined ? {} : { lastKnownGood }),
    onEvent,
    onUse: uses.note,
  })
  const keys = createKeyAccounts({ store, clock, uses, ...(ids ? { ids } : {}), onChange: (key) => snapshot.apply(key) })
  const closing = new AbortController()

  /** Undefined when done; the error if the database is unavailable. Rejects if the start must be refused. */
  async function prepare(onSlow?: (migration: string) => void): Promise<GatewayError | undefined> {
    try {
      await store.migrate(onSlow)
      await verifySecretKey(encryption, store.facts)
      const emptied = await emptiedDatabase(store, lastKnownGood)
      const onGenerated = (generated: GeneratedKey) => onEvent({ type: 'key-generated', ...generated })
      const warnings = await bootstrapKeys({ store, fixedKeys, clock, onGenerated, ...(ids ? { ids } : {}) })
      const ofDatabase = [emptied, await store.encodingFault(), await store.newerSchema()]
      onEvent({ type: 'ready', warnings: [...warnings, ...ofDatabase.filter((each) => each !== undefined)] })
    } catch (error) {
      const failure = asGatewayError(error)
      if (failure.errorType !== 'provider_overloaded') throw failure
      return failure
    }
    // From here on the snapshot follows by itself, whether or not this first look succeeds. If the database is unavailable again, keys that are known
    // without it stay in force.
    await snapshot.start().catch(() => snapshot.restore())
    return undefined
  }

  async function keepPreparing(first: GatewayError): Promise<void> {
    const awaySince = clock.monotonic()
    let reportedReason = reasonFor(first)
    while (!closing.signal.aborted) {
      await sleep(retryMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      if (closing.signal.aborted) return
      const failure = await prepare()
      if (failure === undefined) return onEvent({ type: 'database-back', outageMs: clock.monotonic() - awaySince })
      if (reasonFor(failure) !== reportedReason) onEvent({ type: 'still-without-database', error: failure })
      reportedReason = reasonFor(failure)
    }
  }

  const initialFailure = await prepare((migration) => onEvent({ type: 'migrating', migration }))
  let preparing: Promise<void> = Promise.resolve()
  if (initialFailure) {
    const refused = refusal(initialFailure)
    if (refused !== undefined) throw refused
    await snapshot.restore()
    onEvent({ type: 'started-without-database', error: initialFailure, keys: snapshot.stats().keys })
    preparing = keepPreparing(initialFailure).catch((error: unknown) => onEvent({ type: 'refused', error: asGatewayError(error) }))
  }
  return {
    snapshot,
    keys,
    answers: () => {
      const { source, failing } = snapshot.stats()
      return source === 'database' && !failing
    },
    close: async () => {
      closing.abort()
      await preparing
      await snapshot.close()
      await uses.close()
    },
  }
}

/**
 * A sentence for the operator if the database is empty although keys were read from it earlier: most likely it is another one, or its file was copied
 * without its journal. Whoever wants to begin anew loses nothing by it. Undefined otherwise.
 */
async function emptiedDatabase({ keys }: Pick<Store, 'keys'>, lastKnownGood: LastKnownGood<KnownAccounts> | undefined): Promise<string | undefined> {
  if (await keys.any()) return undefined
  const known = (await lastKnownGood?.read())?.keys.length ?? 0
  if (known === 0) return undefined
  return (
    `The database is empty, but this data directory has served ${known} ${known === 1 ? 'key' : 'keys'} before: keys, budgets, records and destinations ` +
    'of then are missing. If it should have them, stop and restore it: a backup, the right database URL, or the -wal file beside an SQLite file'
  )
}

const reasonFor = ({ message, cause }: GatewayError): string => (cause instanceof Error ? cause.message : message)
