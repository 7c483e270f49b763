import type { KeyAccounts, KeyChange, NewKey } from '../core/account.ts'
import { GatewayError } from '../core/error.ts'
import { DEFAULT_WORKSPACE_ID, NONE_REVOKED, type ApiKey, type ApiKeyPatch, type Store } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { countCharacters } from '../lib/count-characters.ts'
import { defined } from '../lib/defined.ts'
import { randomId, type IdSource } from '../lib/id.ts'
import { secretsOf } from '../core/api-key.ts'
import { MAX_GRACE_MS, rotation, withoutGrace } from './key-rotation.ts'
import type { KeyUses } from './key-uses.ts'
import { generateKey, hashKey, labelOf } from './api-key.ts'

export interface KeyAccountsOptions {
  readonly store: Pick<Store, 'keys' | 'keyUses' | 'workspaces'>
  /** What this process knows of the uses of keys. Default: what the store has. */
  readonly uses?: Pick<KeyUses, 'of'>
  readonly clock: Clock
  readonly ids?: IdSource
  /** Called at once with every change, for the snapshot of this process. */
  readonly onChange?: (key: ApiKey) => void
  /** Keys in one workspace, without revoked ones. Default: 10,000. */
  readonly maxKeys?: number
}

/** Every process has all keys in memory, whoever made them. */
const MAX_KEYS = 10_000
const MAX_NAME_CHARS = 256
/** Later years have more digits than a date may have, and clients could not parse them. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** Shorter prefixes of a hash are more likely a mistake than a reference. */
const MIN_HASH_CHARS = 8

/** Management of keys by people. Nothing here is on the hot path. */
export function createKeyAccounts(options: KeyAccountsOptions): KeyAccounts {
  const { store, clock, uses = store.keyUses, ids = randomId, onChange = () => undefined, maxKeys = MAX_KEYS } = options
  const get = async (hash: string, scope?: string): Promise<ApiKey | undefined> => {
    const key = await store.keys.get(hash)
    return key && (scope === undefined || key.workspaceId === scope) ? key : undefined
  }
  const need = async (hash: string, scope?: string): Promise<ApiKey> => {
    const key = await get(hash, scope)
    if (!key) throw notFound()
    return key
  }
  const modify = async (hash: string, change: (key: ApiKey) => ApiKeyPatch): Promise<ApiKey> => {
    const key = await store.keys.modify(hash, (before) => ({ ...change(before), updatedAt: Math.max(clock.now(), before.updatedAt) }))
    if (!key) throw notFound()
    onChange(key)
    return key
  }

  return {
    create: async (wanted) => {
      checkName(wanted.name)
      checkExpiry(wanted.expiresAt, clock.now())
      const workspaceId = await workspaceFor(store, wanted)
      if ((await store.keys.countLive(workspaceId)) >= maxKeys)
        throw new GatewayError(
          'invalid_request',
          `The workspace has ${maxKeys} keys already, and may not have more: revoke some, or use another workspace`,
        )
      const secret = generateKey(wanted.kind, ids)
      const now = clock.now()
      const key: ApiKey = {
        hash: hashKey(secret.reveal()),
        kind: wanted.kind,
        workspaceId,
        name: wanted.name,
        label: labelOf(secret),
        disabled: false,
        createdAt: now,
        updatedAt: now,
        expiresAt: wanted.expiresAt ?? null,
        revokedAt: null,
        creatorUserId: wanted.creatorUserId ?? null,
        settings: wanted.settings ?? {},
      }
      await store.keys.insert(key)
      onChange(key)
      return { key, secret }
    },

    list: async (filter) => {
      const { includeRevoked = false, ...wanted } = filter ?? {}
      const keys = await store.keys.list(defined({ ...wanted, revokedSince: includeRevoked ? undefined : NONE_REVOKED }))
      return includeRevoked ? keys : keys.filter((key) => key.revokedAt === null)
    },

    page: (wanted) => store.keys.page(wanted),

    usesOf: (hashes) => uses.of(hashes),

    get,

    find: async (reference, scope) => {
      const keys = await store.keys.list(scope === undefined ? undefined : { workspaceId: scope })
      return pick(keys, reference)
    },

    update: async (hash, change, scope) => {
      await need(hash, scope)
      if (change.name !== undefined) checkName(change.name)
      checkExpiry(change.expiresAt, clock.now())
      const { settings, ...rest } = change
      return modify(hash, (key) => {
        if (key.revokedAt !== null) throw new GatewayError('conflict', 'The key is revoked, so it cannot be changed')
        return settings ? { ...rest, settings: mergeSettings(key, settings) } : rest
      })
    },

    rotate: async (hash, graceMs, scope) => {
      const { kind } = await need(hash, scope)
      if (!Number.isSafeInteger(graceMs) || graceMs < 0 || graceMs > MAX_GRACE_MS)
        throw new GatewayError('invalid_request', `The grace period is from 0 to ${MAX_GRACE_MS / 86_400_000} days`, { path: 'grace_seconds' })
      const secret = generateKey(kind, ids)
      const added = { hash: hashKey(secret.reveal()), label: labelOf(secret) }
      return { key: await modify(hash, (key) => rotation(key, added, graceMs, clock.now())), secret }
    },

    endGrace: async (hash, scope) => {
      await need(hash, scope)
      return modify(hash, (key) => {
        if (key.revokedAt !== null) throw new GatewayError('conflict', 'The key is revoked, so it cannot be changed')
        return withoutGrace(key)
      })
    },

    revoke: async (hash, scope) => {
      const key = await need(hash, scope)
      // A revocation by a person outlives the variable that named the key: the next start must not restore it.
      if (key.revokedAt !== null && key.origin !== 'environment') return key
      return modify(hash, ({ revokedAt }) => ({ revokedAt: revokedAt ?? clock.now(), origin: null }))
    },
  }
}

const notFound = () => new GatewayError('not_found', 'There is no such key')

async function workspaceFor(store: Pick<Store, 'workspaces'>, { workspaceId }: NewKey): Promise<string> {
  if (workspaceId === undefined || workspaceId === DEFAULT_WORKSPACE_ID) return (await store.workspaces.default()).id
  if (!(await store.workspaces.get(workspaceId))) throw new GatewayError('not_found', 'There is no such workspace')
  return workspaceId
}

function checkName(name: string): void {
  // Control characters would disturb terminals and logs that list keys.
  // oxlint-disable-next-line no-control-regex
  if (name.trim() === '' || countCharacters(name) > MAX_NAME_CHARS || /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)) {
    throw new GatewayError('invalid_request', `name must be 1 to ${MAX_NAME_CHARS} characters without control characters`, { path: 'name' })
  }
}

function checkExpiry(expiresAt: number | null | undefined, now: number): void {
  if (expiresAt == null) return
  if (!Number.isSafeInteger(expiresAt) || expiresAt <= now || expiresAt > LAST_TIME) {
    throw new GatewayError('invalid_request', 'expires_at must be a time in the future, before the year 10000', { path: 'expires_at' })
  }
}

function mergeSettings(key: ApiKey, change: NonNullable<KeyChange['settings']>): ApiKey['settings'] {
  return Object.fromEntries(Object.entries({ ...key.settings, ...change }).filter(([, value]) => value !== null))
}

/** The most certain interpretation wins: the key itself or its hash, then a prefix of the hash, then label and name. */
function pick(keys: readonly ApiKey[], reference: string): ApiKey {
  const own = hashKey(reference)
  const readings: readonly ((key: ApiKey) => boolean)[] = [
    (key) => key.hash === reference || secretsOf(key).some((secret) => secret.hash === own),
    (key) => reference.length >= MIN_HASH_CHARS && key.hash.startsWith(reference),
    (key) => key.name === reference || secretsOf(key).some(({ label }) => label === reference),
  ]
  for (const reading of readings) {
    const matches = keys.filter(reading)
    // If several have the name, it refers to those that still work.
    const usable = matches.filter((key) => key.revokedAt === null)
    const [first, second] = usable.length > 0 ? usable : matches
    if (first && second) throw new GatewayError('conflict', 'Several keys match; name one by its hash')
    if (first) return first
  }
  throw notFound()
}
