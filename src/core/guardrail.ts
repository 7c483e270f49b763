import type { Owner } from './call.ts'

/** From the mildest to the strictest. */
export const FILTER_ACTIONS = ['flag', 'redact', 'block'] as const
export type FilterAction = (typeof FILTER_ACTIONS)[number]

/** Kinds of sensitive text and of attack the contract names. */
export const BUILTIN_FILTERS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address', 'person-name', 'address', 'regex-prompt-injection'] as const
export type BuiltinFilter = (typeof BUILTIN_FILTERS)[number]

export interface BuiltinFilterEntry {
  readonly slug: BuiltinFilter
  readonly action: FilterAction
  readonly label?: string | undefined
  /** Of `regex-prompt-injection`: which messages it reads. Default: those of the user. */
  readonly scan_scope?: 'user_only' | 'all_messages' | undefined
}

export interface PatternFilterEntry {
  /** In the syntax of RE2: matching takes time linear in the text. */
  readonly pattern: string
  readonly action: FilterAction
  readonly label?: string | null | undefined
}

/** What a guardrail demands, by the contract's names. Absent and null: nothing. */
export interface GuardrailRules {
  /** Slugs, `*` stands for any characters. */
  readonly allowed_models?: readonly string[] | null | undefined
  readonly ignored_models?: readonly string[] | null | undefined
  readonly allowed_providers?: readonly string[] | null | undefined
  readonly ignored_providers?: readonly string[] | null | undefined
  /** For every group below that is not set itself. */
  readonly enforce_zdr?: boolean | null | undefined
  /** By author of the model; `other`: all authors without a field of their own. */
  readonly enforce_zdr_anthropic?: boolean | null | undefined
  readonly enforce_zdr_google?: boolean | null | undefined
  readonly enforce_zdr_openai?: boolean | null | undefined
  readonly enforce_zdr_xai?: boolean | null | undefined
  readonly enforce_zdr_other?: boolean | null | undefined
  /** False: endpoints that cost nothing, or that cost something, must not collect data. */
  readonly enable_free_model_training?: boolean | null | undefined
  readonly enable_paid_model_training?: boolean | null | undefined
  /** False: endpoints that cost nothing must not collect data; nothing is known of who publishes what it collects. */
  readonly enable_free_model_publication?: boolean | null | undefined
  readonly content_filter_builtins?: readonly BuiltinFilterEntry[] | null | undefined
  readonly content_filters?: readonly PatternFilterEntry[] | null | undefined
  /** USD each key under this guardrail may spend per `reset_interval`; null interval: ever. */
  readonly limit_usd?: number | null | undefined
  readonly reset_interval?: 'daily' | 'weekly' | 'monthly' | null | undefined
  readonly include_byok_in_budgets?: boolean | undefined
}

export interface StoredGuardrail {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly description: string | null
  readonly rules: GuardrailRules
  readonly createdAt: number
  readonly updatedAt: number | null
}

export type GuardrailPatch = Partial<Pick<StoredGuardrail, 'name' | 'description' | 'rules' | 'updatedAt'>>

/** A guardrail on one key. */
export interface GuardrailAssignment {
  readonly id: string
  readonly guardrailId: string
  readonly keyHash: string
  readonly assignedBy: string | null
  readonly createdAt: number
}

/** Every write adds one to the store's `version`, in the same transaction. */
export interface GuardrailStore {
  /** Oldest first. */
  list(filter?: { readonly workspaceId?: string }): Promise<readonly StoredGuardrail[]>
  get(id: string): Promise<StoredGuardrail | undefined>
  /** Throws GatewayError `conflict` when the id exists, `not_found` when the workspace does not. */
  insert(guardrail: StoredGuardrail): Promise<void>
  /**
   * Reads and writes in one transaction, so that concurrent changes of different rules do not undo each other. `absent`: what to change if nothing is
   * stored.
   */
  modify(id: string, change: (guardrail: StoredGuardrail) => GuardrailPatch, absent?: StoredGuardrail): Promise<StoredGuardrail | undefined>
  /** Takes its assignments with it. */
  remove(id: string): Promise<boolean>
  /** Oldest first. */
  assignments(filter?: { readonly guardrailId?: string }): Promise<readonly GuardrailAssignment[]>
  /**
   * A key has one guardrail at most: the new one replaces the old. Throws GatewayError `not_found` for keys and guardrails that do not exist.
   * `absent`: stored with the assignments when it is not.
   */
  assign(assignments: readonly GuardrailAssignment[], absent?: StoredGuardrail): Promise<void>
  /** Returns how many there were. */
  unassign(guardrailId: string, keyHashes: readonly string[]): Promise<number>
}

/** Why a guardrail applies: to the whole workspace, to the key, or because the operator's file says so. */
export type GuardrailScope = 'workspace' | 'api-key' | 'configuration'

export interface AppliedGuardrail {
  readonly id: string
  readonly name: string
  readonly scope: GuardrailScope
  readonly rules: GuardrailRules
  /** Grows with every change of what it demands, and when it applies anew. Default: 0. */
  readonly revision?: number
}

/** The guardrails of callers, from memory. */
export interface Guardrails {
  /**
   * The same list for the same owner until something changes; undefined when nothing applies. Throws GatewayError `provider_overloaded`
   * while they are not known and the operator wants no calls then.
   */
  of(owner: Owner): readonly AppliedGuardrail[] | undefined
}

/** A guardrail of the configuration file. */
export interface ConfiguredGuardrail {
  readonly name: string
  /** Ids or slugs; absent: all. */
  readonly workspaces?: readonly string[]
  /** Names or hashes; absent: all. */
  readonly keys?: readonly string[]
  readonly rules: GuardrailRules
}

export interface GuardrailDraft {
  readonly workspaceId: string
  readonly name: string
  readonly description?: string | null
  readonly rules: GuardrailRules
}

export interface GuardrailChange {
  readonly name?: string
  readonly description?: string | null
  /** Field by field; null removes one. */
  readonly rules?: GuardrailRules
}

/**
 * What people do with guardrails. `scope` limits everything to one workspace: others do not exist. Every workspace has a default guardrail
 * that applies to all its calls; until it is changed it demands nothing.
 */
export interface GuardrailAccounts {
  /** The default first, then the oldest. */
  list(workspaceId: string): Promise<readonly StoredGuardrail[]>
  /** Throws `not_found`. */
  get(id: string, scope?: string): Promise<StoredGuardrail>
  create(draft: GuardrailDraft): Promise<StoredGuardrail>
  /** Throws `not_found`. */
  update(id: string, change: GuardrailChange, scope?: string): Promise<StoredGuardrail>
  /** The default demands nothing again. Throws `not_found`. */
  remove(id: string, scope?: string): Promise<void>
  /** Of one guardrail, or of all within reach. */
  assignments(scope: string | undefined, guardrailId?: string): Promise<readonly GuardrailAssignment[]>
  /** Returns how many keys have it now. Throws `not_found` for a guardrail, `invalid_request` for keys that are not of its workspace. */
  assign(id: string, keyHashes: readonly string[], by: string | null, scope?: string): Promise<number>
  unassign(id: string, keyHashes: readonly string[], scope?: string): Promise<number>
}
