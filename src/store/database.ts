import { Kysely, type Dialect, type Generated } from 'kysely'
import type { KeyKind } from '../core/store.ts'

/** A boolean column: `boolean` in PostgreSQL, 0 or 1 in SQLite. Read it through `Boolean()`; write booleans. */
export type Flag = boolean | 0 | 1

/** Sums in USD. `rest`: what the sum beside it could not hold, so both together are exact (see `ExactSum`). */
export interface MoneyColumns {
  usd: number
  usd_rest: number
  byok_usd: number
  byok_usd_rest: number
}

/** The tables as they are after the newest migration. Times are milliseconds since the epoch, JSON columns text. */
export interface Tables {
  migrations: { name: string; applied_at: number }
  config_version: { id: number; version: number }
  facts: { name: string; value: string }
  workspaces: {
    id: string
    slug: string
    name: string
    description: string | null
    is_default: Flag
    created_at: number
    updated_at: number
    settings: string
  }
  api_keys: {
    hash: string
    kind: KeyKind
    workspace_id: string
    name: string
    label: string
    disabled: Flag
    created_at: number
    updated_at: number
    expires_at: number | null
    revoked_at: number | null
    creator_user_id: string | null
    origin: string | null
    settings: string
    secrets: string | null
  }
  key_uses: { key_hash: string; secret_hash: string; used_at: number }
  generations: {
    id: string
    workspace_id: string
    key_hash: string
    session_id: string | null
    created_at: number
    requested_model: string
    model: string | null
    provider: string | null
    endpoint_id: string | null
    status: string
    error_type: string | null
    is_byok: Flag
    input_tokens: number
    cached_tokens: number
    output_tokens: number
    reasoning_tokens: number
    cost: number
    first_token_ms: number | null
    duration_ms: number
    record: string
  }
  generation_content: { id: string; content: string }
  kept_answers: { key: string; workspace_id: string; sealed: string; bytes: number; expires_at: number }
  spend: { subject: string; interval: string; period_start: number } & MoneyColumns
  activity: {
    day: number
    workspace_id: string
    key_hash: string
    model: string
    endpoint_id: string
    provider_name: string
    requests: number
    input_tokens: number
    output_tokens: number
    reasoning_tokens: number
  } & MoneyColumns
  own_keys: {
    id: string
    workspace_id: string
    provider: string
    name: string | null
    label: string
    sealed: string
    disabled: Flag
    is_fallback: Flag
    sort_order: number
    allowed_models: string | null
    allowed_key_hashes: string | null
    allowed_user_ids: string | null
    created_at: number
    updated_at: number
  }
  presets: {
    id: string
    workspace_id: string
    slug: string
    name: string
    description: string | null
    status: string
    creator_user_id: string | null
    designated_version_id: string
    created_at: number
    updated_at: number
    status_updated_at: number | null
  }
  preset_versions: { id: string; preset_id: string; version: number; creator_id: string; sealed: string; created_at: number }
  guardrails: {
    id: string
    workspace_id: string
    name: string
    description: string | null
    rules: string
    created_at: number
    updated_at: number | null
  }
  guardrail_keys: { key_hash: string; id: string; guardrail_id: string; assigned_by: string | null; created_at: number }
  destinations: {
    id: string
    workspace_id: string
    type: string
    name: string
    enabled: Flag
    paused: Flag
    /** The part of the configuration that is not secret. */
    config: string
    /** The envelope of the secret part. */
    sealed: string | null
    api_key_hashes: string | null
    filter_rules: string | null
    sampling_rate: number
    privacy_mode: Flag
    broadcast_cost: Flag
    broadcast_identity: Flag
    broadcast_request_context: Flag
    revision: number
    created_at: number
    updated_at: number
    /** Deleted rows are kept without secrets, so that their ids in old logs still mean something. */
    deleted_at: number | null
  }
  /** Content on its way, once per generation however many destinations get it: compressed and encrypted. */
  outbox_contents: { id: string; key_id: string; body: Uint8Array }
  /** Data keys of contents, sealed with the master key. */
  outbox_keys: { id: string; workspace_id: string; sealed: string; created_at: number }
  outbox_deliveries: {
    seq: Generated<number>
    generation_id: string
    destination_id: string
    entered_at: number
    /** When it may be leased; during a lease, when that ends. Null: dead. */
    due_at: number | null
    owner: string | null
    attempts: number
    /** The size of the event with the content that this destination may see. */
    bytes: number
    /** The content's part of `bytes`; 0 if this destination does not get it. */
    content_bytes: number
    last_status: number | null
    last_error: string | null
    reason: string | null
    died_at: number | null
  }
  outbox_counters: { destination_id: string; delivered: number; rejected: number; dropped: number; bodies_dropped: number; health: string | null }
}

export type Engine = 'sqlite' | 'postgres'
export type Db = Kysely<Tables>

/** An open database, which every part of the store works on. */
export interface Database {
  readonly engine: Engine
  readonly db: Db
  /** For long work such as migrations: a connection and limits of its own, where the engine has several. `close` ends only that. */
  readonly forMaintenance: () => { readonly db: Db; readonly close: () => Promise<void> }
}

export const openKysely = (dialect: Dialect): Db => new Kysely<Tables>({ dialect })
