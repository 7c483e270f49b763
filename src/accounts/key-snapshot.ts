import type { Authentication, Authenticator } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type { KeyUse } from '../core/key-use.ts'
import type { ApiKey, Store } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { hashKey } from './api-key.ts'
import { secretsOf } from '../core/api-key.ts'
import { createFollower, type Follower } from './follower.ts'
import { createKnownKeys } from './known-keys.ts'
import { createKnownWorkspaces } from './known-workspaces.ts'
import type { LastKnownGood } from './known-file.ts'
import type { KnownAccounts } from './last-known-good.ts'
import { newerOf } from './newer-of.ts'
import { createLatestWrite } from './latest-write.ts'
import { createSharedLook } from './shared-look.ts'
import { applyChanges, endsOf, prepareAll } from './apply-accounts.ts'
import { untilSilent, within } from './load-limit.ts'

export type SnapshotEvent =
  /** The database does not answer; the content in memory stays in force. Reported once per outage. */
  | { readonly type: 'database-lost'; readonly error: unknown }
  | { readonly type: 'database-back'; readonly outageMs: number }
  | { readonly type: 'file-not-written'; readonly error: unknown }
  /** The store's secrets are encrypted with another key than the one this process started with. Reported once. */
  | { readonly type: 'secret-key-outdated' }

export interface KeySnapshotOptions {
  readonly store: Pick<Store, 'version'> & {
    readonly keys: Pick<Store['keys'], 'list' | 'revokedBefore' | 'changedSince'>
    readonly workspaces: Pick<Store['workspaces'], 'list'>
  }
  /** Called when the configuration has changed, to find out whether the store's secrets are encrypted with another key now. */
  readonly isSecretKeyOutdated?: () => Promise<boolean>
  readonly clock: Clock
  /** Keys from the operator's environment: they work even if the database was never reached. */
  readonly environmentKeys?: readonly ApiKey[]
  readonly lastKnownGood?: LastKnownGood<KnownAccounts>
  readonly onEvent?: (event: SnapshotEvent) => void
  /** Called when a secret is accepted, but at most once a minute for each. */
  readonly onUse?: (use: KeyUse) => void
  readonly timing?: Partial<SnapshotTiming>
}

export interface SnapshotTiming {
  /** Between looks at the store's version. */
  readonly pollMs: number
  /** The same while looks fail. */
  readonly failedPollMs: number
  /** For one look. After a lost answer the next look must still fit into the five seconds within which a revocation takes effect. */
  readonly versionLimitMs: number
  /** For reading keys or workspaces without getting any further: reading all of a large installation takes as long as it takes. */
  readonly loadLimitMs: number
  /** Between looks for unknown keys: wrong keys, however many, cost the database no more than this. */
  readonly lookAgainMs: number
  /** For one such look, for which a caller waits. */
  readonly lookAgainLimitMs: number
  /** After this long without contact, an unknown key may nevertheless exist. */
  readonly staleMs: number
  /** How long a revoked key is kept in full: longer than it takes to read an earlier request and look up its limits. */
  readonly rememberRevokedMs: number
}

const DEFAULT_TIMING: SnapshotTiming = {
  pollMs: 2_000,
  failedPollMs: 1_000,
  versionLimitMs: 1_000,
  loadLimitMs: 10_000,
  lookAgainMs: 100,
  lookAgainLimitMs: 500,
  staleMs: 5_000,
  rememberRevokedMs: 300_000,
}

export interface SnapshotStats {
  /** The source of the content: none yet, the last-known-good file, or the database. */
  readonly source: 'none' | 'file' | 'database'
  readonly version: number | undefined
  readonly keys: number
  readonly workspaces: number
  /** Milliseconds since the last contact with the database; undefined if there was none. */
  readonly contactAgeMs: number | undefined
  readonly failing: boolean
  /** Whether `start` was called. Before that the database may lack migrations and the environment's keys. */
  readonly prepared: boolean
  /** Whether the secret key was changed while this process runs. */
  readonly secretKeyOutdated: boolean
}

export interface KeySnapshot extends Authenticator {
  /** Loads the last-known-good file and the environment's keys, for a start without the database. False if that yields no keys. */
  restore(): Promise<boolean>
  /** Reads the database and then follows its version. Rejects if it cannot be read, but continues to follow it. */
  start(): Promise<void>
  /** Reads what changed, now. Rejects if the database cannot be asked; the content in memory stays. */
  refresh(): Promise<void>
  /** Applies a change made by this process; it is in force on return. */
  apply(key: ApiKey): void
  stats(): SnapshotStats
  close(): Promise<void>
}

/** Longer than any key; hashing a longer token is a waste. */
const MAX_TOKEN_CHARS = 1_024
const MISSING: Authentication = { ok: false, reason: 'missing' }
const UNKNOWN: Authentication = { ok: false, reason: 'unknown' }

/** Keys and workspaces in memory, for the hot path. They follow the database, and stay in force when it is unavailable. */
export function createKeySnapshot(options: KeySnapshotOptions): KeySnapshot {
  const { store, clock, environmentKeys = [], lastKnownGood, onEvent = () => undefined } = options
  const timing: SnapshotTiming = { ...DEFAULT_TIMING, ...options.timing }

  const keys = createKnownKeys({ now: () => clock.now(), rememberRevokedMs: timing.rememberRevokedMs, onUse: options.onUse ?? (() => undefined) })
  const workspaces = createKnownWorkspaces()
  let source: SnapshotStats['source'] = 'none'
  let version: number | undefined
  const secretKey = watchSecretKey(options, timing.versionLimitMs)
  let prepared = false
  /** Changes made by this process since the last read began, whose results may be older. The next look reads these keys again. */
  let changes = new Map<string, ApiKey>()
  const saving = lastKnownGood && savingIn(lastKnownGood, onEvent)

  const follower = createFollower({
    synchronize,
    clock,
    pollMs: timing.pollMs,
    failedPollMs: timing.failedPollMs,
    onLost: (error) => onEvent({ type: 'database-lost', error }),
    onBack: (outageMs) => onEvent({ type: 'database-back', outageMs }),
  })

  /** Resolves with what puts it in force. */
  async function prepare(known: KnownAccounts, from: 'file' | 'database'): Promise<() => void> {
    const replace = await prepareAll(keys, workspaces, known)
    return () => {
      replace()
      ;[version, source] = [known.version, from]
    }
  }

  async function synchronize(anew: boolean): Promise<void> {
    const again = [...changes.keys()]
    changes = new Map()
    // The version is read first, so that changes during the read are read again at the next look.
    const current = await within(timing.versionLimitMs, store.version())
    const seen = source === 'database' && !anew ? version : undefined
    if (current === seen && again.length === 0) return
    const known = (prepared && seen !== undefined && (await readChanges(seen, again))) || (await readAll(current))
    for (const key of newerOf(changes, keys.key)) keys.put(key)
    await secretKey.look()
    saving?.put(known)
  }

  /** Undefined if what changed cannot be told, so that everything has to be read. */
  async function readChanges(seen: number, again: readonly string[]): Promise<(() => KnownAccounts) | undefined> {
    const changed = await within(timing.loadLimitMs, store.keys.changedSince(seen, again))
    if (changed === undefined) return undefined
    applyChanges(keys, endsOf(changed, changes), new Set())
    // A large installation has tens of thousands of workspaces, and its keys change all the time.
    const list = changed.onlyKeys ? undefined : await workspaces.recognize(await untilSilent(timing.loadLimitMs, store.workspaces.list))
    applyChanges(keys, changed, list === undefined ? new Set() : workspaces.replace(list))
    version = changed.version
    return () => ({ version: changed.version, keys: keys.all(), gone: keys.gone(), workspaces: workspaces.all() })
  }

  async function readAll(current: number): Promise<() => KnownAccounts> {
    const [since, knowsGone] = [clock.now() - timing.rememberRevokedMs, source === 'database']
    const accounts = await untilSilent(timing.loadLimitMs, (onStep) => readAccounts(store, since, knowsGone, onStep))
    const known: KnownAccounts = { version: current, ...accounts }
    // Until `start` has prepared the database, the absence of the environment's keys there does not mean that they are revoked.
    await prepare(prepared ? known : { ...known, keys: inForce(known, environmentKeys) }, 'database').then((putInForce) => putInForce())
    return () => ({ ...known, gone: keys.gone() })
  }

  /** An unknown key is certainly wrong only while the database is in contact. */
  const mayBeKnownElsewhere = (): boolean => source !== 'database' || (follower.failing && (follower.contactAgeMs ?? Infinity) > timing.staleMs)

  function authenticate(bearer: string): Authentication {
    if (bearer === '') return MISSING
    const found = keys.authenticate(bearer.length > MAX_TOKEN_CHARS ? '' : hashKey(bearer))
    if (found !== undefined) return found
    if (mayBeKnownElsewhere()) throw uncheckable(timing.pollMs)
    return UNKNOWN
  }

  async function restore(): Promise<boolean> {
    const known = await lastKnownGood?.read()
    const putInForce = known && (await prepare({ ...known, keys: inForce(known, environmentKeys) }, 'file'))
    // The database was reached meanwhile and is more current.
    if (source === 'database') return true
    putInForce?.()
    if (known === undefined) for (const key of environmentKeys) keys.put(key)
    return keys.size > 0
  }

  return {
    authenticate,
    lookAgain: secondLook(follower, clock, timing, () => source === 'database'),
    ended: keys.ended,
    key: keys.key,
    workspace: workspaces.get,
    restore,
    start: () => {
      prepared = true
      version = undefined
      return follower.start()
    },
    refresh: () => follower.refresh(),
    apply: (key) => {
      changes.set(key.hash, key)
      keys.put(key)
      void follower.refresh().catch(() => undefined)
    },
    stats: () => ({
      source,
      version,
      keys: keys.size,
      workspaces: workspaces.size,
      contactAgeMs: follower.contactAgeMs,
      failing: follower.failing,
      prepared,
      secretKeyOutdated: secretKey.outdated,
    }),
    close: () => follower.close().then(() => saving?.settled()),
  }
}

function watchSecretKey({ isSecretKeyOutdated, onEvent }: KeySnapshotOptions, limitMs: number) {
  let outdated = false
  return {
    look: async (): Promise<void> => {
      const before = outdated
      outdated = isSecretKeyOutdated !== undefined && (await within(limitMs, isSecretKeyOutdated()))
      if (outdated && !before) onEvent?.({ type: 'secret-key-outdated' })
    },
    get outdated() {
      return outdated
    },
  }
}

/** What is written is put together only when it is. */
const savingIn = (file: LastKnownGood<KnownAccounts>, onEvent: (event: SnapshotEvent) => void) =>
  createLatestWrite<() => KnownAccounts>(
    (known) => file.write(known()),
    (error) => onEvent({ type: 'file-not-written', error }),
  )

async function readAccounts({ keys, workspaces }: KeySnapshotOptions['store'], revokedSince: number, knowsGone: boolean, onStep: () => void) {
  const revoked = knowsGone ? [] : keys.revokedBefore(revokedSince)
  const lists = await Promise.all([keys.list({ revokedSince }, onStep), revoked])
  // Keys are read in steps. Read before the last of them, a workspace made meanwhile would be missing, and its keys would have none of its limits.
  return { keys: lists[0], workspaces: await workspaces.list(onStep), gone: lists[1] }
}

function secondLook(follower: Follower, clock: Clock, timing: SnapshotTiming, isRead: () => boolean): Authenticator['lookAgain'] {
  return createSharedLook({
    clock,
    everyMs: timing.lookAgainMs,
    worthIt: () => isRead() && !follower.failing,
    // The reason of a failure is reported as the loss of the database. A key that could not be checked is not called wrong.
    look: () =>
      within(timing.lookAgainLimitMs, follower.refresh()).catch(() => {
        throw uncheckable(timing.pollMs)
      }),
  })
}

const uncheckable = (retryAfterMs: number) =>
  new GatewayError('provider_overloaded', 'The API key cannot be checked at the moment; try again', { retryAfterMs, failover: 'never' })

/**
 * The keys of the last-known-good file, or of a database that is not prepared yet, together with those of the environment. Keys of an earlier
 * environment are no longer valid, even if the database does not know yet.
 */
function inForce({ keys: stored, gone = [] }: KnownAccounts, environmentKeys: readonly ApiKey[]): readonly ApiKey[] {
  const named = new Map(environmentKeys.map((key) => [key.hash, key]))
  // Settings that people made stay in force: that the key is disabled, when it expires, what it may spend. So does a revocation by a person, but not
  // one by an earlier change of the variable.
  const inUse = stored
    .filter((key) => key.origin !== 'environment' || named.has(key.hash))
    .map((key) => (key.origin === 'environment' ? { ...key, revokedAt: null } : key))
  for (const hash of [...inUse.flatMap((key) => secretsOf(key).map((secret) => secret.hash)), ...gone]) named.delete(hash)
  return [...inUse, ...named.values()]
}
