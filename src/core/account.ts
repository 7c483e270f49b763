import type { Secret } from '../lib/secret.ts'
import type { Owner } from './call.ts'
import type { ApiKey, KeyKind, KeyStore, StoredOwnKey, Workspace } from './store.ts'

export type { Encryption } from './encryption.ts'

export type AuthenticationFailure = 'missing' | 'unknown' | 'revoked' | 'expired' | 'disabled'

/** What its holder is told of a key that opens nothing. */
export const KEY_FAILURES: { readonly [F in AuthenticationFailure]: string } = {
  missing: 'An API key is required: send it as "Authorization: Bearer <key>"',
  unknown: 'The API key is not valid',
  revoked: 'The API key has been revoked',
  expired: 'The API key has expired',
  disabled: 'The API key is disabled',
}

export type Authentication =
  | { readonly ok: true; readonly key: ApiKey; readonly owner: Owner }
  | { readonly ok: false; readonly reason: AuthenticationFailure }

/** Who a bearer token belongs to, answered from memory: one hash, one lookup, no database. */
export interface Authenticator {
  /**
   * `bearer` is the token itself, without its scheme; empty when there is none.
   * Throws GatewayError `provider_overloaded` (503) when a token is unknown but the database, which may know it, cannot be asked:
   * a database error never becomes a 401.
   */
  authenticate(bearer: string): Authentication
  /**
   * For a token that is unknown: asks the database once more, because another process may have made the key a moment ago. Who asks meanwhile
   * shares the answer. Undefined: there is nothing to wait for, because the last look was just now or the database is away. Rejects with
   * `provider_overloaded` when it does not answer.
   */
  lookAgain(): Promise<void> | undefined
  /** Why a key that was accepted is accepted no more; undefined while it is. From memory, like the rest. */
  ended(hash: string): AuthenticationFailure | undefined
  /** A key by its hash, disabled and expired ones too; a revoked one for some minutes. */
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
  /** Merged name by name; null removes a setting. */
  readonly settings?: { readonly [name: string]: unknown }
}

/** Management of keys, by command line or API. `scope` limits everything to one workspace: other keys do not exist. */
export interface KeyAccounts {
  /** The key itself is in the answer and nowhere else, ever. Throws `invalid_request` and `not_found` (workspace). */
  create(key: NewKey): Promise<{ readonly key: ApiKey; readonly secret: Secret }>
  /** Oldest first; revoked keys only when asked for. */
  list(filter?: { readonly workspaceId?: string; readonly includeRevoked?: boolean }): Promise<readonly ApiKey[]>
  page: KeyStore['page']
  get(hash: string, scope?: string): Promise<ApiKey | undefined>
  /** A key by hash, the start of its hash (8 characters or more), label or name. Throws `not_found`, and `conflict` when several match. */
  find(reference: string, scope?: string): Promise<ApiKey>
  /** Throws `not_found`, and `conflict` for a revoked key: what is revoked stays so. */
  update(hash: string, change: KeyChange, scope?: string): Promise<ApiKey>
  /** Idempotent. Effective in this process at once, elsewhere within the snapshot's polling interval. Throws `not_found`. */
  revoke(hash: string, scope?: string): Promise<ApiKey>
}

/** A caller's own credential for a provider, ready for use. Lives in memory only. */
export interface OwnKey {
  readonly id: string
  readonly provider: string
  readonly secret: Secret
  readonly isFallback: boolean
  /** Whether it may serve a model, by its slug; null: every one. */
  readonly allowedModels: ((slug: string) => boolean) | null
  /** Null: no restriction. */
  readonly allowedKeyHashes: ReadonlySet<string> | null
  readonly allowedUserIds: ReadonlySet<string> | null
}

/** The own keys of workspaces, from memory. */
export interface OwnKeys {
  /** In the order they are tried; undefined when the workspace has none that is enabled. */
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

/** Management of callers' own provider keys. `scope` limits everything to one workspace: other keys do not exist. Secrets are never readable again. */
export interface OwnKeyAccounts {
  create(key: NewOwnKey): Promise<StoredOwnKey>
  list(filter?: { readonly workspaceId?: string; readonly provider?: string }): Promise<readonly StoredOwnKey[]>
  get(id: string, scope?: string): Promise<StoredOwnKey | undefined>
  /** Throws `not_found`. */
  update(id: string, change: OwnKeyChange, scope?: string): Promise<StoredOwnKey>
  /** Throws `not_found`. */
  remove(id: string, scope?: string): Promise<void>
}
