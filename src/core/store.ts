import type { FinishedGeneration, Generation } from './generation.ts'

export type KeyKind = 'inference' | 'management'

export interface Workspace {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly isDefault: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** Operator-visible switches and defaults of the workspace, by their contract names. */
  readonly settings: { readonly [name: string]: unknown }
}

/** An API key as stored: never the key itself. */
export interface ApiKey {
  /** SHA-256 of the key, hex. */
  readonly hash: string
  readonly kind: KeyKind
  readonly workspaceId: string
  readonly name: string
  /** What may be shown: first and last characters, `sk-sb-v1-0f3...9ab`. */
  readonly label: string
  readonly disabled: boolean
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly creatorUserId: string | null
  /** Limits and defaults of the key, by their contract names. */
  readonly settings: { readonly [name: string]: unknown }
}

export interface KeyStore {
  list(filter?: { readonly workspaceId?: string }): Promise<readonly ApiKey[]>
  get(hash: string): Promise<ApiKey | undefined>
  /** Throws GatewayError `conflict` when the hash exists. */
  insert(key: ApiKey): Promise<void>
  update(hash: string, patch: Partial<Omit<ApiKey, 'hash' | 'createdAt'>>): Promise<ApiKey | undefined>
  remove(hash: string): Promise<boolean>
}

export interface WorkspaceStore {
  list(): Promise<readonly Workspace[]>
  get(id: string): Promise<Workspace | undefined>
  insert(workspace: Workspace): Promise<void>
  update(id: string, patch: Partial<Omit<Workspace, 'id' | 'createdAt'>>): Promise<Workspace | undefined>
  remove(id: string): Promise<boolean>
  /** The workspace of keys that name none; created on first use, once, even when several processes start together. */
  default(): Promise<Workspace>
}

export interface GenerationStore {
  /** One transaction. Ids that exist already are left as they are. */
  insertMany(batch: readonly FinishedGeneration[]): Promise<void>
  get(id: string, workspaceId?: string): Promise<Generation | undefined>
}

/**
 * The database behind one port; SQLite and PostgreSQL pass the same contract suite (testing/store-contract.ts).
 * `version` grows with every change of configuration held in the store, by any process: snapshots poll it.
 */
export interface Store {
  readonly keys: KeyStore
  readonly workspaces: WorkspaceStore
  readonly generations: GenerationStore
  version(): Promise<number>
  /** Names of migrations not yet applied; applies them under a lock. */
  migrate(): Promise<readonly string[]>
  pendingMigrations(): Promise<readonly string[]>
  ping(): Promise<void>
  close(): Promise<void>
}
