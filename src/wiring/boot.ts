import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { databaseFileIn, notWritable, openDataDirectory, type DataDirectory } from '../accounts/data-directory.ts'
import { createEncryption } from '../accounts/encryption.ts'
import type { GeneratedKey } from '../accounts/bootstrap.ts'
import { openAccounts, type Accounts, type AccountsEvent } from '../accounts/open-accounts.ts'
import type { Encryption } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import { GatewayError } from '../core/error.ts'
import type { Store } from '../core/store.ts'
import { systemClock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import type { Logger } from '../lib/logger.ts'
import { createStore, type StoreOptions } from '../store/index.ts'
import { databaseRefusal } from './database-refusal.ts'

/** The state of a running gateway: database, secrets and accounts. */
export interface Boot {
  readonly store: Store
  readonly encryption: Encryption
  readonly accounts: Accounts
  /** Keys made by this start: shown once. */
  readonly generated: readonly GeneratedKey[]
  /** Told of keys that are made later, because the database was away at the start. */
  onGenerated(listener: (key: GeneratedKey) => void): void
  readonly directory: DataDirectory
  close(): Promise<void>
}

/** The store of a configuration, without touching it. */
export async function openStore(
  config: Config,
  options: Pick<StoreOptions, 'onClockDifference'> = {},
): Promise<{ readonly store: Store; readonly directory: DataDirectory }> {
  const { secretKey } = config.keys
  const directory = await openDataDirectory({ path: config.dataDir, ...(secretKey === undefined ? {} : { secretKey }) })
  const store = await createStore(config.storage.url === undefined ? { path: directory.databaseFile } : { url: config.storage.url, ...options })
  return { store, directory }
}

/**
 * The store of an installation that exists, for commands beside a gateway: nothing is made. In the wrong directory a new installation would
 * answer instead. Throws GatewayError `not_found` with the file it looked for, `invalid_request` for one that may not be used.
 */
export async function openExistingStore(config: Config, options: Pick<StoreOptions, 'synchronous'> = {}): Promise<Store> {
  if (config.storage.url !== undefined) return createStore({ url: config.storage.url })
  const path = databaseFileIn(config.dataDir)
  const failure = await failureOf(access(path))
  // A directory of the gateway's own user: whoever may not look in cannot say that nothing is there.
  if (failure?.code === 'EACCES') throw notWritable(dirname(path), path, failure, 'cannot be read')
  if (failure !== undefined) {
    const advice = 'is this the right data directory (--data, SIGNALBOX_DATA_DIR)? signalbox serve makes a new one, or migrate'
    throw new GatewayError('not_found', `There is no database at ${path}: ${advice}`)
  }
  // Who only reads writes as well: into the files beside it, by which readers and the writer know of each other.
  const readOnly = await failureOf(access(path, constants.R_OK | constants.W_OK))
  if (readOnly !== undefined) throw notWritable(dirname(path), path, readOnly)
  return createStore({ path, ...options })
}

const failureOf = (work: Promise<void>): Promise<NodeJS.ErrnoException | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  )

/** The same with its secret key. `synchronous: full` for what must not be taken back by a loss of power once a file outside says that it happened. */
export async function openExisting(
  config: Config,
  options: Pick<StoreOptions, 'synchronous'> = {},
): Promise<{ readonly store: Store; readonly directory: DataDirectory }> {
  const { secretKey } = config.keys
  const store = await openExistingStore(config, options)
  try {
    return { store, directory: await openDataDirectory({ path: config.dataDir, existing: true, ...defined({ secretKey }) }) }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Opens data directory, database, secret key and accounts. A database that is away does not stop the start; a data directory or a file in it
 * that cannot be used does.
 * `refused` is called when it comes back and turns out to belong to another secret key: the process should end.
 * Throws GatewayError with a sentence for the operator.
 */
export async function boot(config: Config, logger: Logger, refused: (error: Error) => void): Promise<Boot> {
  const { store, directory } = await openStore(config, { onClockDifference: (aheadMs) => logClocks(logger, aheadMs) })
  const encryption = createEncryption({ current: directory.secretKey })
  const generated: GeneratedKey[] = []
  let tell: (key: GeneratedKey) => void = () => undefined
  try {
    const accounts = await openAccounts({
      store,
      encryption,
      fixedKeys: config.keys,
      clock: systemClock,
      lastKnownGoodFile: directory.lastKnownGoodFile,
      // A server that does not answer may come back; a file of somebody else, or one that is no database, is not mended by waiting.
      refusal: (failure) => (config.storage.url === undefined ? databaseRefusal(directory, failure) : undefined),
      onEvent: (event) => {
        if (event.type === 'key-generated') {
          generated.push(event)
          tell(event)
        } else if (event.type === 'refused') refused(event.error)
        else log(logger, event)
      },
    })
    return {
      store,
      encryption,
      accounts,
      generated,
      onGenerated: (listener) => void (tell = listener),
      directory,
      async close() {
        await accounts.close()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

function logClocks(logger: Logger, aheadMs: number): void {
  if (aheadMs === 0) return logger.info({}, 'the clocks of this process and of the database agree again')
  logger.warn(
    { ahead_ms: aheadMs },
    "the clock of this process is not the database's: deliveries and retention go by the database's, calls and budgets by this one's",
  )
}

function log(logger: Logger, event: Exclude<AccountsEvent, { readonly type: 'key-generated' | 'refused' }>): void {
  switch (event.type) {
    case 'ready':
      for (const warning of event.warnings) logger.warn({}, warning)
      return
    case 'started-without-database':
      return logger.warn({ error: event.error, keys: event.keys }, 'the database cannot be used: serving with the keys known without it')
    case 'migrating':
      return logger.info({ migration: event.migration }, 'the database is being brought up to date: nothing is served before that is done')
    case 'still-without-database':
      return logger.warn({ error: event.error }, 'the database still cannot be used, for another reason')
    case 'database-lost':
      return logger.warn({ error: event.error }, 'the database does not answer: the last known keys stay in force')
    case 'database-back':
      return logger.info({ outage_ms: event.outageMs }, 'the database answers again')
    case 'file-not-written':
      return logger.warn({ error: event.error }, 'the last-known-good file could not be written')
  }
}
