import type { Authentication, AuthenticationFailure } from '../core/account.ts'
import type { KeyUse } from '../core/key-use.ts'
import type { ApiKey, KeySecret } from '../core/store.ts'
import { secretsOf } from '../core/api-key.ts'
import { inSteps } from './in-steps.ts'
import { minuteOf } from './key-uses.ts'

export interface KnownKeysOptions {
  readonly now: () => number
  /** How long a revoked key is kept in full, in milliseconds. */
  readonly rememberRevokedMs: number
  /** Called when a secret is accepted, but at most once a minute for each. */
  readonly onUse: (use: KeyUse) => void
}

/** Keys in memory, by the hash of what callers send. */
export interface KnownKeys {
  /** Undefined if no key has this hash. */
  authenticate(secretHash: string): Authentication | undefined
  /** Why the secret is not accepted; undefined while it is, or if it is not known. */
  ended(this: void, secretHash: string): AuthenticationFailure | undefined
  /** Undefined for keys that were revoked long ago. */
  key(this: void, hash: string): ApiKey | undefined
  /**
   * Replaces all keys once what it resolves with is called, which is short: what takes long comes before, with turns of the event loop in between.
   * `gone`: hashes of further keys that were revoked long ago.
   */
  prepare(keys: readonly ApiKey[], gone?: readonly string[]): Promise<() => void>
  put(key: ApiKey): void
  /** Forgets a key that was deleted, but for its hashes. */
  remove(hash: string): void
  /** All keys but those of which only hashes are kept. */
  all(): readonly ApiKey[]
  /** Makes new owners for the keys of these workspaces: what was compiled for the ones before is out of date. */
  renew(workspaceIds: ReadonlySet<string>): void
  /** Hashes of keys that were revoked long ago, or deleted with their workspace. */
  gone(): readonly string[]
  readonly size: number
}

type Accepted = Extract<Authentication, { ok: true }>

/** One secret of a key. */
interface Entry {
  readonly accepted: Accepted
  /** See `KeySecret`. */
  readonly endsAt: number | null
}

const REVOKED: Authentication = { ok: false, reason: 'revoked' }
const DISABLED: Authentication = { ok: false, reason: 'disabled' }
const EXPIRED: Authentication = { ok: false, reason: 'expired' }
const REPLACED: Authentication = { ok: false, reason: 'replaced' }

export function createKnownKeys({ now, rememberRevokedMs, onUse }: KnownKeysOptions): KnownKeys {
  let entries = new Map<string, Entry>()
  /** Of these keys nothing else is needed. They only become more, so they are read once and then added to. */
  const gone = new Set<string>()
  const uses = createUseNotes(onUse)
  /** Keys whose revocation was put, and that are still kept in full. */
  const revoked = new Set<string>()

  const add = (key: ApiKey, to: Map<string, Entry>): void => {
    for (const secret of secretsOf(key)) to.set(secret.hash, { accepted: accept(key, secret), endsAt: secret.endsAt })
  }
  const end = (secretHash: string): void => {
    gone.add(secretHash)
    uses.forget(secretHash)
  }

  const isGone = ({ revokedAt }: ApiKey): boolean => revokedAt !== null && revokedAt < now() - rememberRevokedMs
  const forget = (key: ApiKey): void => {
    revoked.delete(key.hash)
    for (const { hash } of secretsOf(key)) {
      entries.delete(hash)
      end(hash)
    }
  }
  /** Few keys are revoked within the time for which they are kept in full, so looking at them all costs nothing. */
  const forgetRevoked = (): void => {
    for (const hash of revoked) {
      const key = entries.get(hash)?.accepted.key
      if (key === undefined || key.revokedAt === null) revoked.delete(hash)
      else if (isGone(key)) forget(key)
    }
  }

  return {
    authenticate(secretHash) {
      const entry = entries.get(secretHash)
      if (entry === undefined) return gone.has(secretHash) ? REVOKED : undefined
      const at = now()
      const found = inForceAt(entry, at)
      if (found.ok) uses.note(found.key, secretHash, at)
      return found
    },
    ended(secretHash) {
      const entry = entries.get(secretHash)
      if (entry === undefined) return gone.has(secretHash) ? 'revoked' : undefined
      const found = inForceAt(entry, now())
      return found.ok ? undefined : found.reason
    },
    key: (hash) => {
      const key = entries.get(hash)?.accepted.key
      return key?.hash === hash ? key : undefined
    },
    async prepare(keys, alsoGone = []) {
      const next = new Map<string, Entry>()
      const nextRevoked: string[] = []
      // Of keys that are still in use something else is known, so their hashes may be added before.
      await inSteps(alsoGone, (hash) => void gone.add(hash))
      await inSteps(keys, (key) => {
        if (isGone(key)) {
          for (const { hash } of secretsOf(key)) gone.add(hash)
          return
        }
        add(key, next)
        if (key.revokedAt !== null) nextRevoked.push(key.hash)
      })
      const over: string[] = []
      const back: string[] = []
      await inSteps(entries.keys(), (hash) => void (next.has(hash) || over.push(hash)))
      await inSteps(next.keys(), (hash) => void (gone.has(hash) && back.push(hash)))
      return () => {
        entries = next
        revoked.clear()
        for (const hash of nextRevoked) revoked.add(hash)
        for (const hash of over) end(hash)
        for (const hash of back) gone.delete(hash)
      }
    },
    put(key) {
      const replaced = entries.get(key.hash)?.accepted.key
      add(key, entries)
      for (const { hash } of secretsOf(key)) gone.delete(hash)
      // Secrets that the key no longer has.
      for (const { hash } of replaced === undefined ? [] : secretsOf(replaced)) {
        if (entries.get(hash)?.accepted.key === key) continue
        entries.delete(hash)
        end(hash)
      }
      if (key.revokedAt !== null) revoked.add(key.hash)
      forgetRevoked()
    },
    remove: (hash) => {
      const key = entries.get(hash)?.accepted.key
      if (key !== undefined) forget(key)
    },
    all: () => [...new Set([...entries.values()].map(({ accepted }) => accepted.key))],
    renew: (workspaceIds) => {
      for (const [hash, { accepted, endsAt }] of entries) {
        const { owner } = accepted
        if (workspaceIds.has(owner.workspaceId)) entries.set(hash, { accepted: { ...accepted, owner: { ...owner } }, endsAt })
      }
    },
    gone: () => [...gone],
    get size() {
      return entries.size + gone.size
    },
  }
}

function inForceAt({ accepted, endsAt }: Entry, at: number): Authentication {
  const { revokedAt, disabled, expiresAt } = accepted.key
  if (revokedAt !== null) return REVOKED
  if (disabled) return DISABLED
  if (expiresAt !== null && expiresAt <= at) return EXPIRED
  return endsAt !== null && endsAt <= at ? REPLACED : accepted
}

function accept(key: ApiKey, secret: KeySecret): Accepted {
  const { creatorUserId } = key
  return {
    ok: true,
    key,
    owner: {
      workspaceId: key.workspaceId,
      keyHash: key.hash,
      ...(secret.hash === key.hash ? {} : { secretHash: secret.hash }),
      keyName: key.name,
      keyLabel: secret.label,
      ...(creatorUserId === null ? {} : { userId: creatorUserId }),
    },
  }
}

function createUseNotes(onUse: KnownKeysOptions['onUse']) {
  /** The minute of the use that was noted last, by secret. A clock may go back. */
  const noted = new Map<string, number>()
  return {
    note: ({ hash }: ApiKey, secretHash: string, at: number): void => {
      const minute = minuteOf(at)
      if (minute === noted.get(secretHash)) return
      noted.set(secretHash, minute)
      onUse({ keyHash: hash, secretHash, at: minute })
    },
    forget: (secretHash: string): void => void noted.delete(secretHash),
  }
}
