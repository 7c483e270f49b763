import type { GuardrailAssignment, StoredGuardrail } from '../core/guardrail.ts'
import type { ActivePreset } from '../core/preset.ts'
import type { ApiKey, StoredOwnKey, Workspace } from '../core/store.ts'
import { createKnownFile, type LastKnownGood } from './known-file.ts'

/** The data for a start without the database: hashes and names, never a key. */
export interface KnownAccounts {
  readonly version: number
  /** Without keys that were revoked some time ago. */
  readonly keys: readonly ApiKey[]
  /** Hashes of those keys; absent in files of earlier versions. */
  readonly gone?: readonly string[]
  readonly workspaces: readonly Workspace[]
}

/** Callers' own provider keys, sealed as in the database. */
export interface KnownOwnKeys {
  readonly ownKeys: readonly StoredOwnKey[]
}

/** Guardrails: what they forbid stays forbidden without the database. */
export interface KnownGuardrails {
  readonly guardrails: readonly StoredGuardrail[]
  readonly assignments: readonly GuardrailAssignment[]
}

/** Active presets, with sealed content as in the database. */
export interface KnownPresets {
  readonly presets: readonly ActivePreset[]
}

export const createLastKnownGood = (file: string): LastKnownGood<KnownAccounts> => createKnownFile(file, parseAccounts)

export const createKnownOwnKeys = (file: string): LastKnownGood<KnownOwnKeys> => createKnownFile(file, parseOwnKeys)

export const createKnownGuardrails = (file: string): LastKnownGood<KnownGuardrails> => createKnownFile(file, parseGuardrails)

export const createKnownPresets = (file: string): LastKnownGood<KnownPresets> => createKnownFile(file, parsePresets)

function parseAccounts({ version, keys, workspaces, gone = [] }: { readonly [name: string]: unknown }): KnownAccounts | undefined {
  if (typeof version !== 'number' || !isListOf(keys, 'hash') || !isListOf(workspaces, 'id') || !isTexts(gone)) return undefined
  return { version, keys: keys as unknown as readonly ApiKey[], workspaces: workspaces as unknown as readonly Workspace[], gone }
}

function parseOwnKeys({ ownKeys }: { readonly [name: string]: unknown }): KnownOwnKeys | undefined {
  return isListOf(ownKeys, 'id') ? { ownKeys: ownKeys as unknown as readonly StoredOwnKey[] } : undefined
}

function parseGuardrails({ guardrails, assignments }: { readonly [name: string]: unknown }): KnownGuardrails | undefined {
  if (!isListOf(guardrails, 'id') || !isListOf(assignments, 'keyHash')) return undefined
  return { guardrails: guardrails as unknown as readonly StoredGuardrail[], assignments: assignments as unknown as readonly GuardrailAssignment[] }
}

function parsePresets({ presets }: { readonly [name: string]: unknown }): KnownPresets | undefined {
  if (!Array.isArray(presets)) return undefined
  const entries: readonly unknown[] = presets
  const parts = (name: 'preset' | 'version'): readonly unknown[] =>
    entries.map((entry) => (entry as { readonly [part: string]: unknown } | null)?.[name])
  return isListOf(parts('preset'), 'slug') && isListOf(parts('version'), 'sealed') ? { presets: entries as readonly ActivePreset[] } : undefined
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((entry) => typeof entry === 'string')

function isListOf(value: unknown, identity: string): value is readonly object[] {
  return (
    Array.isArray(value) &&
    value.every((entry: unknown) => typeof entry === 'object' && entry !== null && typeof (entry as Record<string, unknown>)[identity] === 'string')
  )
}
