import type { Secret } from '../lib/secret.ts'
import type { Owner } from './call.ts'
import type { KeyUse } from './key-use.ts'
import type { ApiKey, KeyKind, KeyStore, StoredOwnKey, Workspace } from './store.ts'

export type { Encryption } from './encryption.ts'

export type AuthenticationFailure = 'missing' | 'unknown' | 'revoked' | 'expired' | 'disabled' | 'replaced'

/** The message for the sender of a key that is not accepted. */
export const KEY_FAILURES: { readonly [F in AuthenticationFailure]: string } = {
  missing: 'An API key is required: send it as "Authorization: Bearer <key>"',
  unknown: 'The API key is not valid',
  revoked: 'The API key has been revoked',
  expired: 'The API key has expired',
  disabled: 'The API key is disabled',
  replaced: 'The API key has been replaced by a new one',
}

export type Authentication =
  | { readonly ok: true; readonly key: ApiKey; readonly owner: Owner }
  | { readonly ok: false; readonly reason: AuthenticationFailure }

/** Finds the owner of a bearer token from memory: one hash, one lookup, no database access. */
export interface Authenticator {
  /**
   * `bearer` is the token without its scheme; empty if there is none. Throws GatewayError `provider_overloaded` (503) if the token is unknown and the
   * database, which may know it, cannot be queried: a database error must never become a 401.
   */
  authenticate(bearer: string): Authentication
  /**
   * For an unknown token: queries the database once more, because another process may just have created the key. Concurrent callers share one query.
   * Undefined if there is nothing to wait for, because the last query was just now or the database is unavailable. Rejects with `provider_overloaded`
   * if the database does not answer.
   */
  lookAgain(): Promise<void> | undefined
  /** Why a secret that was accepted before is no longer accepted; undefined while it still is. Takes its hash; answered from memory, too. */
  ended(secretHash: string): AuthenticationFailure | undefined
  /** Finds a key by its hash, including disabled and expired keys. A revoked key is found for some minutes. */
  key(hash: string): ApiKey | undefined
  workspace(id: string): Workspace | undefined
}

export interface NewKey {
  readonly name: string
  readonly kind: KeyKind
  /** Default: the default workspace. */
  readonly workspaceId?: string
  /** Milliseconds since the epoch; null or absent: never. */
  readonly expiresAt?: number | null
  readonly creatorUserId?: string | null
  readonly settings?: ApiKey['settings']
}

export interface KeyChange {
  readonly name?: string
  readonly disabled?: boolean
  readonly expiresAt?: number | null
  /** Merged setting by setting; null removes a setting. */
  readonly settings?: { readonly [name: string]: unknown }
}

/** Management of keys, from the command line or the API. `scope` limits everything to one workspace, as if other keys did not exist. */
export interface KeyAccounts {
  /** Only this answer ever contains the key itself. Throws `invalid_request` and `not_found` (workspace). */
  create(key: NewKey): Promise<{ readonly key: ApiKey; readonly secret: Secret }>
  /** Oldest first. Revoked keys are included only on request. */
  list(filter?: { readonly workspaceId?: string; readonly creatorUserId?: string; readonly includeRevoked?: boolean }): Promise<readonly ApiKey[]>
  page: KeyStore['page']
  /** When secrets of these keys were last accepted. Other processes may know of a use up to a minute before it is seen here. */
  usesOf(hashes: readonly string[]): Promise<readonly KeyUse[]>
  get(hash: string, scope?: string): Promise<ApiKey | undefined>
  /** Finds a key by a secret, its hash, the start of its hash (8 characters or more), a label or its name. Throws `not_found`, and `conflict` if several match. */
  find(reference: string, scope?: string): Promise<ApiKey>
  /** Throws `not_found`, and `conflict` for a revoked key, because a revocation is final. */
  update(hash: string, change: KeyChange, scope?: string): Promise<ApiKey>
  /**
   * Gives the key a new secret, which only this answer contains; id, limits, spending and history stay. Secrets it had so far work for `graceMs` more
   * (0 to `MAX_GRACE_MS`). Throws `not_found`, `invalid_request`, and `conflict` for a key that is revoked, has expired or comes from a variable.
   */
  rotate(hash: string, graceMs: number, scope?: string): Promise<{ readonly key: ApiKey; readonly secret: Secret }>
  /** Ends all secrets but the current one. Idempotent; takes effect like a revocation. Throws `not_found`, and `conflict` for a revoked key. */
  endGrace(hash: string, scope?: string): Promise<ApiKey>
  /** Idempotent. Takes effect in this process at once, in others within the polling interval of the snapshot. Throws `not_found`. */
  revoke(hash: string, scope?: string): Promise<ApiKey>
}

/** A caller's own credential for a provider, decrypted. Lives in memory only. */
export interface OwnKey {
  readonly id: string
  readonly provider: string
  readonly secret: Secret
  readonly isFallback: boolean
  /** Whether the key may serve the model with this slug; null: every model. */
  readonly allowedModels: ((slug: string) => boolean) | null
  /** Null: no restriction. */
  readonly allowedKeyHashes: ReadonlySet<string> | null
  readonly allowedUserIds: ReadonlySet<string> | null
}

/** The own keys of workspaces, read from memory. */
export interface OwnKeys {
  /** In the order in which they are tried; undefined if the workspace has no enabled key. */
  of(workspaceId: string): readonly OwnKey[] | undefined
}

export interface NewOwnKey {
  readonly workspaceId: string
  readonly provider: string
  readonly secret: Secret
  readonly name?: string | null
  readonly disabled?: boolean
  readonly isFallback?: boolean
  readonly allowedModels?: readonly string[] | null
  readonly allowedKeyHashes?: readonly string[] | null
  readonly allowedUserIds?: readonly string[] | null
}

export type OwnKeyChange = Partial<Omit<NewOwnKey, 'workspaceId' | 'provider'>>

/** Management of callers' own provider keys. `scope` limits everything to one workspace, as if other keys did not exist. Secrets can never be read again. */
export interface OwnKeyAccounts {
  create(key: NewOwnKey): Promise<StoredOwnKey>
  list(filter?: { readonly workspaceId?: string; readonly provider?: string }): Promise<readonly StoredOwnKey[]>
  get(id: string, scope?: string): Promise<StoredOwnKey | undefined>
  /** Throws `not_found`. */
  update(id: string, change: OwnKeyChange, scope?: string): Promise<StoredOwnKey>
  /** Throws `not_found`. */
  remove(id: string, scope?: string): Promise<void>
}
