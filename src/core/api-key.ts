export type KeyKind = 'inference' | 'management'

/** One secret of a key; never contains the secret itself. */
export interface KeySecret {
  /** SHA-256, hex. */
  readonly hash: string
  /** The displayable form: first and last characters. */
  readonly label: string
  /** When it stops working, milliseconds since the epoch; 0: at once, however far clocks differ. Null: it is the current one. */
  readonly endsAt: number | null
}

/** An API key as stored; never contains the key itself. */
export interface ApiKey {
  /** SHA-256 of the key's first secret, hex: its id, whatever its secrets are now. */
  readonly hash: string
  readonly kind: KeyKind
  readonly workspaceId: string
  readonly name: string
  /** The displayable form of the current secret: first and last characters, `sk-sb-v1-0f3...9ab`. */
  readonly label: string
  readonly disabled: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly creatorUserId: string | null
  /** `environment`: the operator's variable contains it; changing the variable revokes it. `generated`: at the first start. Absent: created by someone. */
  readonly origin?: 'environment' | 'generated'
  /** What callers send: oldest first, the current one last. Absent: the key was never rotated, and its only secret is the one that `hash` is of. */
  readonly secrets?: readonly KeySecret[]
  /** Limits and defaults of the key, by their contract names. */
  readonly settings: { readonly [name: string]: unknown }
}

/** A key's secrets, oldest first; the current one is last. */
export function secretsOf({ secrets, hash, label }: Pick<ApiKey, 'secrets' | 'hash' | 'label'>): readonly KeySecret[] {
  return secrets ?? [{ hash, label, endsAt: null }]
}

/** Earlier secrets that still work. */
export const earlierSecretsOf = (key: ApiKey, now: number): readonly KeySecret[] =>
  secretsOf(key).filter(({ endsAt }) => endsAt !== null && endsAt > now)

/** A value for `revokedSince` that is later than any revocation. */
export const NONE_REVOKED = Number.MAX_SAFE_INTEGER

export type ApiKeyPatch = Partial<Omit<ApiKey, 'hash' | 'createdAt' | 'origin'>> & { readonly origin?: ApiKey['origin'] | null }

export interface KeyFilter {
  readonly workspaceId?: string
  /** At most a few thousand. */
  readonly hashes?: readonly string[]
  readonly creatorUserId?: string
  readonly origin?: NonNullable<ApiKey['origin']>
  readonly revokedSince?: number
}

/** What happened to keys since a version of the configuration. */
export interface KeyChanges {
  /** The version up to which these are all changes. */
  readonly version: number
  /** As they are now. */
  readonly keys: readonly ApiKey[]
  /** Hashes of keys that do not exist any more. */
  readonly removed: readonly string[]
  /** Whether nothing but keys has changed. */
  readonly onlyKeys: boolean
}

/** Every write increments the store's `version` in the same transaction. */
export interface KeyStore {
  /**
   * Oldest first. `revokedSince`: omits keys that were revoked earlier, because revoked keys only accumulate, except the few from the environment.
   * With `NONE_REVOKED`, only those few revoked keys are included. `onStep` is called while a long list is read, after each part of it.
   */
  list(filter?: KeyFilter, onStep?: () => void): Promise<readonly ApiKey[]>
  /**
   * The keys that changed after this version, and those of the given hashes. Undefined if they cannot be told from all others, so that all have to be
   * read: after many changes, the end of a workspace, changes by an earlier version of the program.
   */
  changedSince(version: number, alsoOf: readonly string[]): Promise<KeyChanges | undefined>
  /** Whether there is any key, revoked or not. */
  any(): Promise<boolean>
  /** A page of the keys of a workspace that are not revoked; oldest first. */
  page(wanted: Pick<ApiKey, 'workspaceId' | 'kind'> & { disabledToo: boolean; offset: number; limit: number }): Promise<readonly ApiKey[]>
  /** Hashes of the keys that `list` omits with the same `revokedSince`, and of all their secrets. */
  revokedBefore(at: number): Promise<readonly string[]>
  /** Number of keys of a workspace that are not revoked. */
  countLive(workspaceId: string): Promise<number>
  get(hash: string): Promise<ApiKey | undefined>
  /** Throws GatewayError `conflict` if the hash exists, `not_found` if the workspace does not. */
  insert(key: ApiKey): Promise<void>
  update(hash: string, patch: ApiKeyPatch): Promise<ApiKey | undefined>
  /** Reads and writes in one transaction, so that concurrent changes of different settings do not undo each other. Throws what `change` throws. */
  modify(hash: string, change: (key: ApiKey) => ApiKeyPatch): Promise<ApiKey | undefined>
  remove(hash: string): Promise<boolean>
}
