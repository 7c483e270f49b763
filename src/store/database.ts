import { Kysely, type Dialect } from 'kysely'
import type { KeyKind } from '../core/store.ts'

/** A boolean column: `boolean` in PostgreSQL, 0 or 1 in SQLite. Read it through `Boolean()`; write booleans. */
export type Flag = boolean | 0 | 1

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
  }
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
}

export type Engine = 'sqlite' | 'postgres'
export type Db = Kysely<Tables>

/** An open database: what every part of the store works on. */
export interface Database {
  readonly engine: Engine
  readonly db: Db
  /** For work that may take long (migrations): its own connection and limits where the engine has several. `close` ends only that. */
  readonly forMaintenance: () => { readonly db: Db; readonly close: () => Promise<void> }
}

export const openKysely = (dialect: Dialect): Db => new Kysely<Tables>({ dialect })
