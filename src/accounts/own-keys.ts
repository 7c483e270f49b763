import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Encryption, NewOwnKey, OwnKey, OwnKeyAccounts, OwnKeyChange, OwnKeys } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import { masterKeyOf, ownKeyContext } from '../core/secret-context.ts'
import type { OwnKeyPatch, Store, StoredOwnKey } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'
import { compileWildcards } from '../lib/wildcard.ts'
import { betweenEnvelopes } from './decrypt-in-steps.ts'
import type { LastKnownGood } from './known-file.ts'
import type { KnownOwnKeys } from './last-known-good.ts'
import { createRememberedCopy, type CopyStart } from './remembered-copy.ts'

export interface OwnKeysOptions {
  readonly store: Pick<Store, 'version' | 'ownKeys' | 'workspaces'>
  readonly encryption: Encryption
  readonly clock: Clock
  readonly newId?: () => string
  /** Reports a key that cannot be decrypted; it is left out, and the others stay in use. */
  readonly onUnreadable?: (id: string, error: unknown) => void
  /**
   * Reports that the secret key was changed while this process runs. The decrypted keys stay in use, as in an outage: without them, callers who pay
   * for themselves would be served at the gateway's expense.
   */
  readonly onOutdated?: (ids: readonly string[]) => void
  /** For a start without the database: without these keys, callers who pay for themselves would be served at the gateway's expense. */
  readonly lastKnownGood?: LastKnownGood<KnownOwnKeys>
  readonly pollMs?: number
}

/** Callers' own provider keys, in memory for the hot path and in the store for management. They follow the database like the API keys do. */
export interface OwnKeyRing extends OwnKeys, OwnKeyAccounts {
  /** Reads the store and then follows it; a store that is unavailable is tried again. */
  start(start?: CopyStart): Promise<void>
  refresh(): Promise<void>
  close(): Promise<void>
}

/** The limit for one workspace: all keys are in memory, and are searched by each call of the workspace. */
const MAX_OWN_KEYS = 1_000
/** Keys that are gone through in one turn of the event loop. */
const AT_ONCE = 1_000
const SHOWN_CHARS = 4
const GAP = '...'

export function createOwnKeyRing(options: OwnKeysOptions): OwnKeyRing {
  const { store, encryption, clock, newId = randomUUID, lastKnownGood } = options
  let byWorkspace: ReadonlyMap<string, readonly OwnKey[]> = new Map()
  const openAll = createOpener(options)
  const copy = createRememberedCopy<KnownOwnKeys>({
    version: () => store.version(),
    load: async () => ({ ownKeys: await store.ownKeys.list() }),
    install: async ({ ownKeys }) => {
      const opened = await openAll(ownKeys)
      return () => {
        byWorkspace = opened.byWorkspace
        opened.remember()
      }
    },
    lastKnownGood,
    clock,
    pollMs: options.pollMs,
  })
  const need = async (id: string, scope?: string): Promise<StoredOwnKey> => {
    const key = await store.ownKeys.get(id)
    if (key === undefined || (scope !== undefined && key.workspaceId !== scope)) throw notFound()
    return key
  }
  /** A change is in force in this process when it is answered. */
  const changed = async <T>(result: T): Promise<T> => {
    await copy.refresh().catch(() => undefined)
    return result
  }

  return {
    of: (workspaceId) => byWorkspace.get(workspaceId),
    start: (start) => copy.start(start),
    refresh: () => copy.refresh(),
    close: () => copy.close(),

    async create(wanted: NewOwnKey) {
      if ((await store.workspaces.get(wanted.workspaceId)) === undefined) throw new GatewayError('not_found', 'There is no such workspace')
      if ((await store.ownKeys.list({ workspaceId: wanted.workspaceId })).length >= MAX_OWN_KEYS)
        throw new GatewayError('invalid_request', `The workspace has ${MAX_OWN_KEYS} provider keys already, and may not have more`)
      const id = newId()
      const now = clock.now()
      return changed(
        await store.ownKeys.insert({
          id,
          workspaceId: wanted.workspaceId,
          provider: wanted.provider,
          name: wanted.name ?? null,
          ...sealed(encryption, id, wanted.secret),
          disabled: wanted.disabled ?? false,
          isFallback: wanted.isFallback ?? false,
          allowedModels: wanted.allowedModels ?? null,
          allowedKeyHashes: wanted.allowedKeyHashes ?? null,
          allowedUserIds: wanted.allowedUserIds ?? null,
          createdAt: now,
          updatedAt: now,
        }),
      )
    },
    list: (filter) => store.ownKeys.list(filter),
    get: async (id, scope) => {
      const key = await store.ownKeys.get(id)
      return key === undefined || (scope !== undefined && key.workspaceId !== scope) ? undefined : key
    },
    async update(id: string, change: OwnKeyChange, scope) {
      await need(id, scope)
      const { secret, ...rest } = change
      const patch: OwnKeyPatch = { ...rest, ...(secret === undefined ? {} : sealed(encryption, id, secret)), updatedAt: clock.now() }
      const key = await store.ownKeys.update(id, patch)
      if (key === undefined) throw notFound()
      return changed(key)
    },
    async remove(id, scope) {
      await need(id, scope)
      if (!(await store.ownKeys.remove(id))) throw notFound()
      await changed(undefined)
    },
  }
}

interface OpenedKey {
  readonly secret: Secret
  /** What it was decrypted from; undefined if that has been replaced by what this process cannot open. */
  readonly envelope: string | undefined
}

/**
 * Returns the keys that are enabled and can be decrypted, by workspace, in their order. Each envelope is opened once (`remember` is called when they are
 * in force): any change of the configuration brings all keys again, and calls would wait while thousands are decrypted.
 */
function createOpener({ encryption, onUnreadable, onOutdated }: OwnKeysOptions) {
  let known = new Map<string, OpenedKey>()
  return async (stored: readonly StoredOwnKey[]) => {
    const pause = betweenEnvelopes()
    const byWorkspace = new Map<string, OwnKey[]>()
    const opened = new Map<string, OpenedKey>()
    const outdated: string[] = []
    for (const [n, row] of stored.entries()) {
      // Also those that need no decrypting: their patterns are compiled, a few milliseconds for a thousand.
      if (n > 0 && n % AT_ONCE === 0) await turn()
      if (row.disabled) continue
      const before = known.get(row.id)
      if (before?.envelope !== row.sealed) await pause(row.sealed)
      const found = before?.envelope === row.sealed ? before : open(row, before)
      if (found === undefined) continue
      opened.set(row.id, found)
      const key = toOwnKey(row, found.secret)
      const list = byWorkspace.get(row.workspaceId)
      if (list === undefined) byWorkspace.set(row.workspaceId, [key])
      else list.push(key)
    }
    if (outdated.length > 0) onOutdated?.(outdated)
    return { byWorkspace, remember: () => void (known = opened) }

    function open({ id, sealed: envelope }: StoredOwnKey, before: OpenedKey | undefined): OpenedKey | undefined {
      try {
        return { secret: encryption.open(envelope, ownKeyContext(id)), envelope }
      } catch (error) {
        if (before === undefined || masterKeyOf(envelope) === encryption.keyId) {
          onUnreadable?.(id, error)
          return undefined
        }
        outdated.push(id)
        return { secret: before.secret, envelope: undefined }
      }
    }
  }
}

function toOwnKey(row: StoredOwnKey, secret: Secret): OwnKey {
  const set = (list: readonly string[] | null): ReadonlySet<string> | null => (list === null ? null : new Set(list))
  return {
    id: row.id,
    provider: row.provider,
    secret,
    isFallback: row.isFallback,
    allowedModels: row.allowedModels === null ? null : compileWildcards(row.allowedModels),
    allowedKeyHashes: set(row.allowedKeyHashes),
    allowedUserIds: set(row.allowedUserIds),
  }
}

const notFound = (): GatewayError => new GatewayError('not_found', 'There is no such provider key')

function sealed(encryption: Encryption, id: string, secret: Secret): { readonly sealed: string; readonly label: string } {
  if (isLabel(secret.reveal()))
    throw new GatewayError('invalid_request', 'key: is the label of a key, not the key itself; leave it out to keep the one that is stored', {
      path: 'key',
    })
  return { sealed: encryption.seal(secret, ownKeyContext(id)), label: maskOf(secret) }
}

/** The first and last characters; fewer for a short credential, down to nothing. */
function maskOf(secret: Secret): string {
  const text = secret.reveal()
  const shown = Math.min(SHOWN_CHARS, Math.floor(text.length / 8))
  // A multi-line or JSON credential (of a cloud account) shows at most its start.
  const clean = (part: string): string => part.replace(/[^\x21-\x7e]/g, '')
  return `${clean(text.slice(0, shown))}${GAP}${shown === 0 || text.startsWith('{') ? '' : clean(text.slice(-shown))}`
}

/** Whether a text is a result of `maskOf` for some credential. */
function isLabel(text: string): boolean {
  const gap = text.indexOf(GAP)
  return gap >= 0 && gap <= SHOWN_CHARS && text.length - gap - GAP.length <= SHOWN_CHARS
}
