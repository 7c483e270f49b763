import type { Owner } from './call.ts'

/** From the mildest to the strictest. */
export const FILTER_ACTIONS = ['flag', 'redact', 'block'] as const
export type FilterAction = (typeof FILTER_ACTIONS)[number]

/** Kinds of sensitive text and of attacks in the contract. */
export const BUILTIN_FILTERS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address', 'person-name', 'address', 'regex-prompt-injection'] as const
export type BuiltinFilter = (typeof BUILTIN_FILTERS)[number]

export interface BuiltinFilterEntry {
  readonly slug: BuiltinFilter
  readonly action: FilterAction
  readonly label?: string | undefined
  /** Only for `regex-prompt-injection`: which messages it reads. Default: those of the user. */
  readonly scan_scope?: 'user_only' | 'all_messages' | undefined
}

export interface PatternFilterEntry {
  /** In RE2 syntax, so that matching takes time linear in the length of the text. */
  readonly pattern: string
  readonly action: FilterAction
  readonly label?: string | null | undefined
}

/** The rules of a guardrail, by their contract names. Absent and null: no rule. */
export interface GuardrailRules {
  /** Slugs; `*` matches any characters. */
  readonly allowed_models?: readonly string[] | null | undefined
  readonly ignored_models?: readonly string[] | null | undefined
  readonly allowed_providers?: readonly string[] | null | undefined
  readonly ignored_providers?: readonly string[] | null | undefined
  /** The default for every group below that is not set. */
  readonly enforce_zdr?: boolean | null | undefined
  /** By author of the model; `other`: all authors without a field of their own. */
  readonly enforce_zdr_anthropic?: boolean | null | undefined
  readonly enforce_zdr_google?: boolean | null | undefined
  readonly enforce_zdr_openai?: boolean | null | undefined
  readonly enforce_zdr_xai?: boolean | null | undefined
  readonly enforce_zdr_other?: boolean | null | undefined
  /** False: free endpoints (the first field) or paid endpoints (the second) must not collect data. */
  readonly enable_free_model_training?: boolean | null | undefined
  readonly enable_paid_model_training?: boolean | null | undefined
  /** False: free endpoints must not collect data. The same as for training, because it is unknown who publishes collected data. */
  readonly enable_free_model_publication?: boolean | null | undefined
  readonly content_filter_builtins?: readonly BuiltinFilterEntry[] | null | undefined
  readonly content_filters?: readonly PatternFilterEntry[] | null | undefined
  /** USD that each key under this guardrail may spend per `reset_interval`; null interval: ever. */
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

/** The assignment of a guardrail to a key. */
export interface GuardrailAssignment {
  readonly id: string
  readonly guardrailId: string
  readonly keyHash: string
  readonly assignedBy: string | null
  readonly createdAt: number
}

/** Every write increments the store's `version` in the same transaction. */
export interface GuardrailStore {
  /** Oldest first. */
  list(filter?: { readonly workspaceId?: string }): Promise<readonly StoredGuardrail[]>
  get(id: string): Promise<StoredGuardrail | undefined>
  /** Throws GatewayError `conflict` if the id exists, `not_found` if the workspace does not. */
  insert(guardrail: StoredGuardrail): Promise<void>
  /**
   * Reads and writes in one transaction, so that concurrent changes of different rules do not undo each other. `absent`: the guardrail to change if
   * none is stored.
   */
  modify(id: string, change: (guardrail: StoredGuardrail) => GuardrailPatch, absent?: StoredGuardrail): Promise<StoredGuardrail | undefined>
  /** Also removes its assignments. */
  remove(id: string): Promise<boolean>
  /** Oldest first. */
  assignments(filter?: { readonly guardrailId?: string }): Promise<readonly GuardrailAssignment[]>
  /**
   * A key has at most one guardrail: the new one replaces the old. Throws GatewayError `not_found` for unknown keys and guardrails. `absent`: the
   * guardrail to store with the assignments if it is not stored yet.
   */
  assign(assignments: readonly GuardrailAssignment[], absent?: StoredGuardrail): Promise<void>
  /** Returns how many assignments were removed. */
  unassign(guardrailId: string, keyHashes: readonly string[]): Promise<number>
}

/** Why a guardrail applies: to the whole workspace, to the key, or by the operator's configuration file. */
export type GuardrailScope = 'workspace' | 'api-key' | 'configuration'

export interface AppliedGuardrail {
  readonly id: string
  readonly name: string
  readonly scope: GuardrailScope
  readonly rules: GuardrailRules
  /** Increases with every change of its rules, and when it begins to apply again. Default: 0. */
  readonly revision?: number
}

/** The guardrails of callers, read from memory. */
export interface Guardrails {
  /**
   * Returns the same list for the same owner until something changes; undefined if no guardrail applies. Throws GatewayError `provider_overloaded`
   * while the guardrails are unknown and the operator allows no calls in that case.
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
  /** Merged field by field; null removes a field. */
  readonly rules?: GuardrailRules
}

/**
 * Management of guardrails. `scope` limits everything to one workspace, as if other guardrails did not exist. Every workspace has a default guardrail
 * that applies to all its calls; it has no rules until it is changed.
 */
export interface GuardrailAccounts {
  /** The default guardrail first, then the oldest. */
  list(workspaceId: string): Promise<readonly StoredGuardrail[]>
  /** Throws `not_found`. */
  get(id: string, scope?: string): Promise<StoredGuardrail>
  create(draft: GuardrailDraft): Promise<StoredGuardrail>
  /** Throws `not_found`. */
  update(id: string, change: GuardrailChange, scope?: string): Promise<StoredGuardrail>
  /** The default guardrail is not removed, but loses its rules. Throws `not_found`. */
  remove(id: string, scope?: string): Promise<void>
  /** The assignments of one guardrail, or of all in `scope`. */
  assignments(scope: string | undefined, guardrailId?: string): Promise<readonly GuardrailAssignment[]>
  /** Returns how many keys now have the guardrail. Throws `not_found` for an unknown guardrail, `invalid_request` for keys of another workspace. */
  assign(id: string, keyHashes: readonly string[], by: string | null, scope?: string): Promise<number>
  unassign(id: string, keyHashes: readonly string[], scope?: string): Promise<number>
}
