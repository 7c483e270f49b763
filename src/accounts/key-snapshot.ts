import type { Authentication, AuthenticationFailure, Authenticator } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import type { ApiKey, Store, Workspace } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { hashKey } from './api-key.ts'
import { createFollower, type Follower } from './follower.ts'
import type { KnownAccounts, LastKnownGood } from './last-known-good.ts'
import { newerOf } from './newer-of.ts'
import { createLatestWrite } from './latest-write.ts'
import { createSecondLook } from './second-look.ts'

export type SnapshotEvent =
  /** The database does not answer; what is in memory stays in force. Said once per outage. */
  | { readonly type: 'database-lost'; readonly error: unknown }
  | { readonly type: 'database-back'; readonly outageMs: number }
  | { readonly type: 'file-not-written'; readonly error: unknown }

export interface KeySnapshotOptions {
  readonly store: Pick<Store, 'version'> & {
    readonly keys: Pick<Store['keys'], 'list' | 'revokedBefore'>
    readonly workspaces: Pick<Store['workspaces'], 'list'>
  }
  /** Asked whenever the configuration has changed: whether the secrets of the store are encrypted with another key by now. */
  readonly isSecretKeyOutdated?: () => Promise<boolean>
  readonly clock: Clock
  /** Keys named by the operator's environment: they serve even before the database was ever reached. */
  readonly environmentKeys?: readonly ApiKey[]
  readonly lastKnownGood?: LastKnownGood<KnownAccounts>
  readonly onEvent?: (event: SnapshotEvent) => void
  readonly timing?: Partial<SnapshotTiming>
}

export interface SnapshotTiming {
  /** Between looks at the store's version. */
  readonly pollMs: number
  /** The same while it fails. */
  readonly failedPollMs: number
  /** For one look: small, so that a lost answer and the next look still fit into the five seconds a revocation may take. */
  readonly versionLimitMs: number
  /** For reading all keys. */
  readonly loadLimitMs: number
  /** Between looks for keys that are not known here: wrong keys, however many, cost the database no more than this. */
  readonly lookAgainMs: number
  /** For one of them: a caller waits for it. */
  readonly lookAgainLimitMs: number
  /** Without contact for this long, a key that is not known here may exist all the same. */
  readonly staleMs: number
  /** How long all of a revoked key is kept: longer than a request that came before takes to be read and to look for its limits. */
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
  /** Where the content comes from: nowhere yet, the last-known-good file, the database. */
  readonly source: 'none' | 'file' | 'database'
  readonly version: number | undefined
  readonly keys: number
  readonly workspaces: number
  /** Milliseconds since the database was last heard; undefined when it never was. */
  readonly contactAgeMs: number | undefined
  readonly failing: boolean
  /** Whether `start` was called: before that the database may lack migrations and the keys of the environment. */
  readonly prepared: boolean
  /** The secret key was changed while this process runs. */
  readonly secretKeyOutdated: boolean
}

export interface KeySnapshot extends Authenticator {
  /** Takes over the last-known-good file and the environment's keys, for a start without the database. False when that gave no keys. */
  restore(): Promise<boolean>
  /** Reads the database and from then on follows its version. Rejects when it cannot be read, and follows it all the same. */
  start(): Promise<void>
  /** Reads changes now. Rejects if the database cannot be read; what is in memory stays. */
  refresh(): Promise<void>
  /** A change made by this process: in force when this returns. */
  apply(key: ApiKey): void
  stats(): SnapshotStats
  close(): Promise<void>
}

/** Longer than any key; a longer token is not worth hashing. */
const MAX_TOKEN_CHARS = 1_024
const MISSING: Authentication = { ok: false, reason: 'missing' }
const UNKNOWN: Authentication = { ok: false, reason: 'unknown' }
const REVOKED: Authentication = { ok: false, reason: 'revoked' }
const DISABLED: Authentication = { ok: false, reason: 'disabled' }
const EXPIRED: Authentication = { ok: false, reason: 'expired' }

type Accepted = Extract<Authentication, { ok: true }>

/** Keys and workspaces in memory, as the hot path reads them. They follow the database, and outlive it. */
export function createKeySnapshot(options: KeySnapshotOptions): KeySnapshot {
  const { store, clock, environmentKeys = [], lastKnownGood, isSecretKeyOutdated = () => Promise.resolve(false), onEvent = () => undefined } = options
  const timing: SnapshotTiming = { ...DEFAULT_TIMING, ...options.timing }

  let keys = new Map<string, Accepted>()
  /** Hashes of keys revoked long ago: that they are is all anybody asks of them. As they only become more, they are read once and then added to. */
  const gone = new Set<string>()
  let workspaces = new Map<string, Workspace>()
  let source: SnapshotStats['source'] = 'none'
  let version: number | undefined
  let secretKeyOutdated = false
  let prepared = false
  /** By this process since the last reading began: what was read then may be older. */
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

  function install(known: KnownAccounts, from: 'file' | 'database'): void {
    const isGone = ({ revokedAt }: ApiKey): boolean => revokedAt !== null && revokedAt < clock.now() - timing.rememberRevokedMs
    // Whatever is not listed any more was revoked some time ago, or went with its workspace.
    for (const hash of [...keys.keys(), ...(known.gone ?? [])]) gone.add(hash)
    keys = new Map(known.keys.filter((key) => !isGone(key)).map((key) => [key.hash, accept(key)]))
    for (const key of known.keys) gone[isGone(key) ? 'add' : 'delete'](key.hash)
    workspaces = new Map(known.workspaces.map((workspace) => [workspace.id, workspace]))
    version = known.version
    source = from
  }

  async function synchronize(anew: boolean): Promise<void> {
    changes = new Map()
    // The version is read first: whatever changes during the read is read again at the next look.
    const current = await within(timing.versionLimitMs, store.version())
    if (current === version && source === 'database' && !anew) return
    const lists = Promise.all([readAccounts(store, clock.now() - timing.rememberRevokedMs, source === 'database'), isSecretKeyOutdated()])
    const [accounts, outdated] = await within(timing.loadLimitMs, lists)
    const known: KnownAccounts = { version: current, ...accounts }
    // Until it was told of them, a database that answers does not know the keys of the environment: it has not revoked them.
    install(prepared ? known : { ...known, keys: inForce(known, environmentKeys) }, 'database')
    for (const key of newerOf(changes, (hash) => keys.get(hash)?.key)) {
      keys.set(key.hash, accept(key))
      gone.delete(key.hash)
    }
    // At the next look, not now: whoever changes keys all the time would keep what others have revoked from being heard of.
    if (changes.size > 0) version = undefined
    secretKeyOutdated = outdated
    saving?.put({ ...known, gone: [...gone] })
  }

  /** An unknown key is only known to be wrong while the database is heard. */
  const mayBeKnownElsewhere = (): boolean => source !== 'database' || (follower.failing && (follower.contactAgeMs ?? Infinity) > timing.staleMs)

  function authenticate(bearer: string): Authentication {
    if (bearer === '') return MISSING
    const hash = bearer.length > MAX_TOKEN_CHARS ? '' : hashKey(bearer)
    const accepted = keys.get(hash)
    if (!accepted) {
      if (gone.has(hash)) return REVOKED
      if (mayBeKnownElsewhere()) throw uncheckable(timing.pollMs)
      return UNKNOWN
    }
    return inForceAt(accepted, clock.now())
  }

  async function restore(): Promise<boolean> {
    const known = await lastKnownGood?.read()
    // The database was reached meanwhile: it knows better.
    if (source === 'database') return true
    if (known) install({ ...known, keys: inForce(known, environmentKeys) }, 'file')
    else for (const key of environmentKeys) keys.set(key.hash, accept(key))
    return keys.size > 0
  }

  return {
    authenticate,
    lookAgain: secondLook(follower, clock, timing, () => source === 'database'),
    ended: (hash) => (gone.has(hash) ? 'revoked' : endedAt(keys.get(hash), clock.now())),
    key: (hash) => keys.get(hash)?.key,
    workspace: (id) => workspaces.get(id),
    restore,
    start: () => {
      prepared = true
      version = undefined
      return follower.start()
    },
    refresh: () => follower.refresh(),
    apply: (key) => {
      changes.set(key.hash, key)
      keys.set(key.hash, accept(key))
      // Read anew, whatever version was seen: the database may tell of a change after a later one of others. If that fails, the next look comes.
      version = undefined
      void follower.refresh().catch(() => undefined)
    },
    stats: () => ({
      source,
      version,
      keys: keys.size + gone.size,
      workspaces: workspaces.size,
      contactAgeMs: follower.contactAgeMs,
      failing: follower.failing,
      prepared,
      secretKeyOutdated,
    }),
    close: async () => {
      await follower.close()
      await saving?.settled()
    },
  }
}

const savingIn = (file: LastKnownGood<KnownAccounts>, onEvent: (event: SnapshotEvent) => void) =>
  createLatestWrite<KnownAccounts>(
    (known) => file.write(known),
    (error) => onEvent({ type: 'file-not-written', error }),
  )

function inForceAt(accepted: Accepted, now: number): Authentication {
  const { revokedAt, disabled, expiresAt } = accepted.key
  if (revokedAt !== null) return REVOKED
  if (disabled) return DISABLED
  return expiresAt !== null && expiresAt <= now ? EXPIRED : accepted
}

function endedAt(accepted: Accepted | undefined, now: number): AuthenticationFailure | undefined {
  const found = accepted && inForceAt(accepted, now)
  return found?.ok === false ? found.reason : undefined
}

async function readAccounts({ keys, workspaces }: KeySnapshotOptions['store'], revokedSince: number, knowsGone: boolean) {
  const gone = knowsGone ? [] : keys.revokedBefore(revokedSince)
  const lists = await Promise.all([keys.list({ revokedSince }), workspaces.list(), gone])
  return { keys: lists[0], workspaces: lists[1], gone: lists[2] }
}

function secondLook(follower: Follower, clock: Clock, timing: SnapshotTiming, isRead: () => boolean): Authenticator['lookAgain'] {
  return createSecondLook({
    clock,
    everyMs: timing.lookAgainMs,
    worthIt: () => isRead() && !follower.failing,
    // Why it failed, is told with the loss of the database; a key that could not be asked about is not called wrong.
    look: () =>
      within(timing.lookAgainLimitMs, follower.refresh()).catch(() => {
        throw uncheckable(timing.pollMs)
      }),
  })
}

const uncheckable = (retryAfterMs: number) =>
  new GatewayError('provider_overloaded', 'The API key cannot be checked at the moment; try again', { retryAfterMs, failover: 'never' })

/**
 * The keys of the last-known-good file, or of a database that does not know the environment yet, together with the environment's keys. Keys of an
 * earlier environment are invalid even if the database could not be told yet.
 */
function inForce({ keys: stored, gone = [] }: KnownAccounts, environmentKeys: readonly ApiKey[]): readonly ApiKey[] {
  const named = new Map(environmentKeys.map((key) => [key.hash, key]))
  // What people have set for the key stays in force: that it is disabled, when it expires, what it may spend. A person's revocation also outlives the
  // variable; a revocation by an earlier change of the variable does not.
  const kept = stored
    .filter((key) => key.origin !== 'environment' || named.has(key.hash))
    .map((key) => (key.origin === 'environment' ? { ...key, revokedAt: null } : key))
  for (const hash of [...kept.map((key) => key.hash), ...gone]) named.delete(hash)
  return [...kept, ...named.values()]
}

function accept(key: ApiKey): Accepted {
  const { creatorUserId } = key
  return {
    ok: true,
    key,
    owner: {
      workspaceId: key.workspaceId,
      keyHash: key.hash,
      keyName: key.name,
      keyLabel: key.label,
      ...(creatorUserId === null ? {} : { userId: creatorUserId }),
    },
  }
}

/** The store has limits of its own, made for its work; these are ours. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(new GatewayError('provider_overloaded', `The database did not answer within ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([work, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
