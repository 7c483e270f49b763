import type { AnswerStore } from './answer-cache.ts'
import type { KeyStore } from './api-key.ts'
import type { Spent } from './counter.ts'
import type { Encryption } from './encryption.ts'
import type { Generation, GenerationContent, GenerationStatus } from './generation.ts'
import type { GuardrailStore } from './guardrail.ts'
import type { KeyUseStore } from './key-use.ts'
import type { DestinationStore, DurableOutbox } from './outbox.ts'
import type { RetentionStore } from './retention.ts'
import type { PresetStore } from './preset.ts'
import type { Clock } from '../lib/clock.ts'

export { NONE_REVOKED, type ApiKey, type ApiKeyPatch, type KeyChanges, type KeyKind, type KeySecret, type KeyStore } from './api-key.ts'

export interface Workspace {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly isDefault: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** Switches and defaults of the workspace that operators can see, by their contract names. */
  readonly settings: { readonly [name: string]: unknown }
}

/** Id of the default workspace. The same everywhere, so that the workspace of a key from the environment is known before the database is reachable. */
export const DEFAULT_WORKSPACE_ID = '00000000-0000-4000-8000-000000000001'

export type WorkspacePatch = Partial<Omit<Workspace, 'id' | 'createdAt' | 'isDefault'>>

/** Every write increments the store's `version` in the same transaction. */
export interface WorkspaceStore {
  /** Oldest first. `onStep` is called while a long list is read, after each part of it. */
  list(onStep?: () => void): Promise<readonly Workspace[]>
  get(id: string): Promise<Workspace | undefined>
  /** Throws GatewayError `conflict` if the id or the slug exists, or if there would be a second default workspace. */
  insert(workspace: Workspace): Promise<void>
  update(id: string, patch: WorkspacePatch): Promise<Workspace | undefined>
  /** Reads and writes in one transaction, so that concurrent changes of different settings do not undo each other. Throws what `change` throws. */
  modify(id: string, change: (workspace: Workspace) => WorkspacePatch): Promise<Workspace | undefined>
  /** Also removes its keys; its generations remain until they are pruned. Throws GatewayError `conflict` for the default workspace. */
  remove(id: string): Promise<boolean>
  /** The workspace of keys that name none. Created once, on first use, even if several processes start together. */
  default(): Promise<Workspace>
}

/** The store's input for a generation. Content is always written if it is present, so it must be passed only for workspaces that asked to keep it. */
export interface RecordedGeneration {
  readonly generation: Generation
  readonly content?: GenerationContent
  /** The generation as JSON, if it has already been serialised. */
  readonly record?: string
}

/**
 * The form in which a record waits. A record outlives its call by a batch or more. As a tree of objects it would be copied by every garbage
 * collection until then, while a text costs almost nothing.
 */
export interface Packing<P> {
  pack(record: RecordedGeneration): P
  /** Approximate size in memory: good enough to limit a queue, not for billing. */
  bytes(packed: P): number
  unpack(packed: P): Generation
  /** The record without content; undefined if it has no content. */
  withoutContent(packed: P): P | undefined
}

/** Selects the records of a list: those that match all given fields. */
export interface GenerationFilter {
  readonly workspaceId?: string
  /** When the call began: `from` inclusive, `to` exclusive, milliseconds since the epoch. */
  readonly from?: number
  readonly to?: number
  /** The model that served, or the one that the caller named. */
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
  /** Where to continue; null: nothing is left. */
  readonly nextCursor: string | null
}

export interface GenerationStore {
  /** In one transaction. Existing ids are not changed. */
  insertMany(batch: readonly RecordedGeneration[]): Promise<void>
  get(id: string, workspaceId?: string): Promise<Generation | undefined>
  /** The content, if the workspace asked to keep it. */
  content(id: string, workspaceId?: string): Promise<GenerationContent | undefined>
  /** Records of calls that began at `from` or later and before `to` (milliseconds since the epoch), oldest first, some hundreds at a time. */
  between(from: number, to: number): AsyncIterable<readonly Generation[]>
  /**
   * Matching records, newest first, at most `limit`. A page examines a limited number of rows and bytes, so it may be short or empty although
   * `nextCursor` says that there is more; continue until it is null. A cursor is a position in time and outlives its record. If records are written
   * later for calls that began after that position, they appear on none of the following pages. Throws GatewayError `invalid_request` with the path
   * `cursor` for a cursor that no page returned.
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
  /** The displayable form of the credential. */
  readonly label: string
  /** An envelope that only accounts/ can open. */
  readonly sealed: string
  readonly disabled: boolean
  /** The key is tried after the gateway's own credentials instead of before them. */
  readonly isFallback: boolean
  /** Among the keys of one provider, lower values are tried first. */
  readonly sortOrder: number
  /** Null: no restriction. */
  readonly allowedModels: readonly string[] | null
  readonly allowedKeyHashes: readonly string[] | null
  readonly allowedUserIds: readonly string[] | null
  readonly createdAt: number
  readonly updatedAt: number
}

export type OwnKeyPatch = Partial<Omit<StoredOwnKey, 'id' | 'workspaceId' | 'provider' | 'createdAt'>>

/** Every write increments the store's `version` in the same transaction. */
export interface OwnKeyStore {
  /** In the order in which they are tried: by provider, `sortOrder`, then age. */
  list(filter?: { readonly workspaceId?: string; readonly provider?: string }): Promise<readonly StoredOwnKey[]>
  get(id: string): Promise<StoredOwnKey | undefined>
  /** Assigns the next `sortOrder` of its provider. Throws GatewayError `not_found` if the workspace does not exist. */
  insert(key: Omit<StoredOwnKey, 'sortOrder'>): Promise<StoredOwnKey>
  update(id: string, patch: OwnKeyPatch): Promise<StoredOwnKey | undefined>
  remove(id: string): Promise<boolean>
}

/** In USD: the cost of the gateway's credentials, and the cost of callers' own keys to their owners. */
export interface SpendFigures {
  readonly usd: Spent
  readonly byokUsd: Spent
}

export interface ActivityRow {
  /** Start of the UTC day, milliseconds. */
  readonly day: number
  /** Absent if workspaces are counted together. */
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
  /** Counts all workspaces together instead of separately. */
  readonly acrossWorkspaces?: boolean
}

/**
 * Spending. It is written in the transaction that writes the generations, so that the two never disagree, and each generation counts once. A
 * generation counts in the periods that contain its end.
 */
export interface SpendStore {
  /** Spending of `key:<hash>`, `workspace:<id>` or `installation`, in the periods that contain `now`. */
  of(subject: string, now: number): Promise<SpendFigures>
  /** The same for many subjects; subjects without spending are absent. */
  ofMany(subjects: readonly string[], now: number): Promise<ReadonlyMap<string, SpendFigures>>
  /** The newest day first, then the most expensive. Throws GatewayError `invalid_request` if there are too many rows: sums over a part would be wrong. */
  activity(filter: ActivityFilter): Promise<readonly ActivityRow[]>
}

/** Single named values that the store keeps about itself, such as the proof that the secret key is correct. */
export interface FactStore {
  get(name: string): Promise<string | undefined>
  /** Writes `value` if the fact is still `expected` (undefined: absent). False if another writer was faster. */
  replace(name: string, expected: string | undefined, value: string): Promise<boolean>
}

/**
 * The database behind one port; SQLite and PostgreSQL pass the same contract suite (testing/store-contract.ts). `version` increases with every change
 * of stored configuration by any process; snapshots poll it.
 *
 * Errors are GatewayErrors: `conflict` and `not_found` as documented, `server` for data that the database refuses, `provider_overloaded` (503, with a
 * retry hint) if it cannot be reached, is busy, full or read-only.
 */
export interface Store {
  readonly keys: KeyStore
  readonly keyUses: KeyUseStore
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
  /** The clock by which processes that share the store compare times: ours, or the database's if the two differed at the last read of `version`. */
  readonly clock: Clock
  /**
   * The queue to destinations. Its content is encrypted with data keys that `encryption` seals. `onProblem` is called with problems that delay events
   * or cost them their content.
   */
  outbox(encryption: Encryption, onProblem?: (message: string) => void): DurableOutbox
  /**
   * Seals all secrets in the store again, in one transaction: `rewrap` gets each envelope and the context it was sealed for. Returns how many there
   * were. If `rewrap` throws, the error is passed on and nothing changes.
   */
  rewrapSecrets(rewrap: (envelope: string, context: string) => string): Promise<number>
  /** Number of secrets that were sealed with a master key other than the one with this public id, which cannot open them. */
  foreignSecrets(keyId: string): Promise<number>
  version(): Promise<number>
  /**
   * Reports changes of configuration by any process within a moment, but not while the database is unavailable. Listeners must therefore also check
   * `version` now and then.
   */
  watch(onChange: () => void): { close(): Promise<void> }
  /**
   * Names of the migrations that this call applied. A lock makes processes that start together wait for each other. Rejects with `invalid_request`
   * for an empty database that has an `encodingFault`. `onSlow` is called with a migration that takes long.
   */
  migrate(onSlow?: (name: string) => void): Promise<readonly string[]>
  /** Names of migrations not yet applied. */
  pendingMigrations(): Promise<readonly string[]>
  /** A sentence for the operator about a database that a newer version has migrated; undefined for any other. */
  newerSchema(): Promise<string | undefined>
  /** Why no migration could be applied, as a sentence for the operator; undefined if no obstacle is known. */
  migrationFault(): Promise<string | undefined>
  /** Why records would be lost in a database with this encoding, as a sentence for the operator; undefined if none would be. */
  encodingFault(): Promise<string | undefined>
  ping(): Promise<void>
  /** Changes nothing. Rejects if the outbox could not be changed either: a read-only server, a standby, missing permissions. */
  proveWritable(): Promise<void>
  /** The same with a committed write that leaves nothing behind; also rejects on a full disk. */
  proveRoom(): Promise<void>
  close(): Promise<void>
}
