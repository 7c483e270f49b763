import type { AnswerStore } from './answer-cache.ts'
import type { Spent } from './counter.ts'
import type { Encryption } from './encryption.ts'
import type { Generation, GenerationContent, GenerationStatus } from './generation.ts'
import type { GuardrailStore } from './guardrail.ts'
import type { DestinationStore, DurableOutbox } from './outbox.ts'
import type { RetentionStore } from './retention.ts'
import type { PresetStore } from './preset.ts'
import type { Clock } from '../lib/clock.ts'

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

/**
 * Id of the default workspace, the same in every installation: a key from the environment knows where it belongs before the
 * database has ever been reached.
 */
export const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000001'

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
  /**
   * `environment`: the operator's variable names it, and changing the variable revokes it. `generated`: made at the first start.
   * Absent: somebody created it.
   */
  readonly origin?: 'environment' | 'generated'
  /** Limits and defaults of the key, by their contract names. */
  readonly settings: { readonly [name: string]: unknown }
}

/** As `revokedSince`: later than any revocation. */
export const NONE_REVOKED = Number.MAX_SAFE_INTEGER

export type ApiKeyPatch = Partial<Omit<ApiKey, 'hash' | 'createdAt' | 'origin'>> & { readonly origin?: ApiKey['origin'] | null }
export type WorkspacePatch = Partial<Omit<Workspace, 'id' | 'createdAt' | 'isDefault'>>

/** Every write adds one to the store's `version`, in the same transaction. */
export interface KeyStore {
  /** Oldest first. `revokedSince`: of revoked keys, which only become more, those revoked then or later, and the few an environment named (`NONE_REVOKED`). */
  list(filter?: { readonly workspaceId?: string; readonly revokedSince?: number }): Promise<readonly ApiKey[]>
  /** Of those of a workspace that are not revoked so many, behind the first; oldest first. */
  page(wanted: Pick<ApiKey, 'workspaceId' | 'kind'> & { disabledToo: boolean; offset: number; limit: number }): Promise<readonly ApiKey[]>
  /** Hashes of those the same `revokedSince` leaves out. */
  revokedBefore(at: number): Promise<readonly string[]>
  /** How many of a workspace are not revoked. */
  countLive(workspaceId: string): Promise<number>
  get(hash: string): Promise<ApiKey | undefined>
  /** Throws GatewayError `conflict` when the hash exists, `not_found` when the workspace does not. */
  insert(key: ApiKey): Promise<void>
  update(hash: string, patch: ApiKeyPatch): Promise<ApiKey | undefined>
  /** Reads and writes in one transaction, so that concurrent changes of different settings do not undo each other. Throws what `change` throws. */
  modify(hash: string, change: (key: ApiKey) => ApiKeyPatch): Promise<ApiKey | undefined>
  remove(hash: string): Promise<boolean>
}

/** Every write adds one to the store's `version`, in the same transaction. */
export interface WorkspaceStore {
  /** Oldest first. */
  list(): Promise<readonly Workspace[]>
  get(id: string): Promise<Workspace | undefined>
  /** Throws GatewayError `conflict` when the id or the slug exists, or a second default workspace is wanted. */
  insert(workspace: Workspace): Promise<void>
  update(id: string, patch: WorkspacePatch): Promise<Workspace | undefined>
  /** Reads and writes in one transaction, so that concurrent changes of different settings do not undo each other. Throws what `change` throws. */
  modify(id: string, change: (workspace: Workspace) => WorkspacePatch): Promise<Workspace | undefined>
  /** Takes its keys with it; its generations stay until they are pruned. Throws GatewayError `conflict` for the default workspace. */
  remove(id: string): Promise<boolean>
  /** The workspace of keys that name none; created on first use, once, even when several processes start together. */
  default(): Promise<Workspace>
}

/** A generation as the store takes it: content is written when it is there, so it is handed over only for workspaces that asked to keep it. */
export interface RecordedGeneration {
  readonly generation: Generation
  readonly content?: GenerationContent
  /** The generation as JSON, if it has been written already. */
  readonly record?: string
}

/**
 * What a record waits as. It outlives its call by a batch or more: as a tree of objects it would be copied by every collection until then,
 * as a text it costs next to nothing.
 */
export interface Packing<P> {
  pack(record: RecordedGeneration): P
  /** Roughly what it occupies in memory: good enough to bound a queue, not to bill by. */
  bytes(packed: P): number
  unpack(packed: P): Generation
  /** The record without content; undefined if it has none. */
  withoutContent(packed: P): P | undefined
}

/** Which records a list holds: all that match every field given. */
export interface GenerationFilter {
  readonly workspaceId?: string
  /** When the call began: `from` inclusive, `to` exclusive, milliseconds since the epoch. */
  readonly from?: number
  readonly to?: number
  /** The model that served, or the one the caller named. */
  readonly model?: string
  /** Slug. */
  readonly provider?: string
  readonly status?: GenerationStatus
  readonly errorType?: string
  readonly keyHash?: string
  readonly sessionId?: string
}

export interface GenerationPage {
  readonly generations: readonly Generation[]
  /** Where to go on; null: nothing is left. */
  readonly nextCursor: string | null
}

export interface GenerationStore {
  /** One transaction. Ids that exist already are left as they are. */
  insertMany(batch: readonly RecordedGeneration[]): Promise<void>
  get(id: string, workspaceId?: string): Promise<Generation | undefined>
  /** The content, if the workspace asked to keep it. */
  content(id: string, workspaceId?: string): Promise<GenerationContent | undefined>
  /** Records of calls that began at `from` or later and before `to` (milliseconds since the epoch), oldest first, some hundreds at a time. */
  between(from: number, to: number): AsyncIterable<readonly Generation[]>
  /**
   * Matching records, newest first, at most `limit`. A page looks at a bounded number of rows and bytes, so it may be short or empty while
   * `nextCursor` says that there is more; read on until it is null. A cursor is a place in the order of time and outlives its record. Records written
   * since for calls that began after that place appear on none of the later pages. Throws GatewayError `invalid_request` with the path `cursor` for
   * one that no page returned.
   */
  list(filter: GenerationFilter, page: { readonly limit: number; readonly cursor?: string }): Promise<GenerationPage>
}

/** A caller's own credential for a provider, as stored. */
export interface StoredOwnKey {
  readonly id: string
  readonly workspaceId: string
  /** Slug. */
  readonly provider: string
  readonly name: string | null
  /** What may be shown of the credential. */
  readonly label: string
  /** An envelope only accounts/ can open. */
  readonly sealed: string
  readonly disabled: boolean
  /** Tried after the gateway's own credentials instead of before them. */
  readonly isFallback: boolean
  /** Among the keys of one provider: lower is tried first. */
  readonly sortOrder: number
  /** Null: no restriction. */
  readonly allowedModels: readonly string[] | null
  readonly allowedKeyHashes: readonly string[] | null
  readonly allowedUserIds: readonly string[] | null
  readonly createdAt: number
  readonly updatedAt: number
}

export type OwnKeyPatch = Partial<Omit<StoredOwnKey, 'id' | 'workspaceId' | 'provider' | 'createdAt'>>

/** Every write adds one to the store's `version`, in the same transaction. */
export interface OwnKeyStore {
  /** In the order they are tried: by provider, `sortOrder`, then age. */
  list(filter?: { readonly workspaceId?: string; readonly provider?: string }): Promise<readonly StoredOwnKey[]>
  get(id: string): Promise<StoredOwnKey | undefined>
  /** Takes the next `sortOrder` of its provider. Throws GatewayError `not_found` when the workspace does not exist. */
  insert(key: Omit<StoredOwnKey, 'sortOrder'>): Promise<StoredOwnKey>
  update(id: string, patch: OwnKeyPatch): Promise<StoredOwnKey | undefined>
  remove(id: string): Promise<boolean>
}

/** USD: what the gateway's credentials cost, and what callers' own keys cost their owners. */
export interface SpendFigures {
  readonly usd: Spent
  readonly byokUsd: Spent
}

export interface ActivityRow {
  /** Start of the UTC day, milliseconds. */
  readonly day: number
  /** Absent where workspaces are counted together. */
  readonly workspaceId?: string
  readonly model: string
  readonly endpointId: string
  readonly providerName: string
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly usd: number
  readonly byokUsd: number
}

export interface ActivityFilter {
  /** Days `from` (inclusive) to `to` (exclusive), milliseconds. */
  readonly from: number
  readonly to: number
  readonly workspaceId?: string
  readonly keyHashes?: readonly string[]
  /** Counts all workspaces together instead of each by itself. */
  readonly acrossWorkspaces?: boolean
}

/**
 * What was spent: written in the transaction that writes the generations, so the two never disagree, each generation once. A generation
 * counts in the periods that hold its end.
 */
export interface SpendStore {
  /** Of `key:<hash>`, `workspace:<id>` or `installation`, in the periods that hold `now`. */
  of(subject: string, now: number): Promise<SpendFigures>
  /** The same for many subjects; those without spending are absent. */
  ofMany(subjects: readonly string[], now: number): Promise<ReadonlyMap<string, SpendFigures>>
  /** The newest day first, then the dearest. Throws GatewayError `invalid_request` when there are too many rows: half a report adds up to nothing. */
  activity(filter: ActivityFilter): Promise<readonly ActivityRow[]>
}

/** Single named values the store keeps about itself, such as the proof that the secret key is the right one. */
export interface FactStore {
  get(name: string): Promise<string | undefined>
  /** Writes `value` if the fact is still `expected` (undefined: absent). False when somebody else was faster. */
  replace(name: string, expected: string | undefined, value: string): Promise<boolean>
}

/**
 * The database behind one port; SQLite and PostgreSQL pass the same contract suite (testing/store-contract.ts).
 * `version` grows with every change of configuration held in the store, by any process: snapshots poll it.
 *
 * Errors are GatewayErrors: `conflict` and `not_found` as documented, `server` for data the database refuses,
 * `provider_overloaded` (503, with a hint when to retry) when it cannot be reached, is busy, full or read-only.
 */
export interface Store {
  readonly keys: KeyStore
  readonly workspaces: WorkspaceStore
  readonly generations: GenerationStore
  readonly answers: AnswerStore
  readonly spend: SpendStore
  readonly ownKeys: OwnKeyStore
  readonly presets: PresetStore
  readonly guardrails: GuardrailStore
  readonly facts: FactStore
  readonly destinations: DestinationStore
  readonly retention: RetentionStore
  /** What processes that share the store compare times by: ours, unless the database has another, as of the last look at `version`. */
  readonly clock: Clock
  /** The queue to destinations; content in it is encrypted with data keys that `encryption` seals. `onProblem` is told what costs events their content, or holds them up. */
  outbox(encryption: Encryption, onProblem?: (message: string) => void): DurableOutbox
  /**
   * Seals everything secret in the store anew, in one transaction: `rewrap` is given each envelope and the context it was sealed for.
   * Returns how many there were. Throws what `rewrap` throws, and then changes nothing.
   */
  rewrapSecrets(rewrap: (envelope: string, context: string) => string): Promise<number>
  /** How many secrets were sealed with another master key than the one of this public id: that key cannot open them. */
  foreignSecrets(keyId: string): Promise<number>
  version(): Promise<number>
  /**
   * Tells of changes of configuration by any process within a moment. Not while the database is away: whoever listens also looks at
   * `version` now and then.
   */
  watch(onChange: () => void): { close(): Promise<void> }
  /**
   * Names of the migrations applied by this call. Under a lock, so processes that start together wait for each other. Rejects with `invalid_request`
   * for an empty database that has an `encodingFault`. `onSlow` is called with a migration that takes long.
   */
  migrate(onSlow?: (name: string) => void): Promise<readonly string[]>
  /** Names of migrations not yet applied. */
  pendingMigrations(): Promise<readonly string[]>
  /** Why none of them could be applied, as a sentence for the operator; undefined when nothing is known to be in the way. */
  migrationFault(): Promise<string | undefined>
  /** Why records would be lost in a database of this encoding, as a sentence for the operator; undefined when none is. */
  encodingFault(): Promise<string | undefined>
  ping(): Promise<void>
  /** Changes nothing. Rejects where the outbox could not be changed either: a server that only reads, a standby, rights that are missing. */
  proveWritable(): Promise<void>
  /** The same with a write that is committed, and leaves nothing: rejects on a full disk as well. */
  proveRoom(): Promise<void>
  close(): Promise<void>
}
