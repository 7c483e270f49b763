import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { GuardrailAssignment, StoredGuardrail } from '../core/guardrail.ts'
import type { ActivePreset } from '../core/preset.ts'
import type { ApiKey, StoredOwnKey, Workspace } from '../core/store.ts'
import { writeDurably } from '../lib/durable-file.ts'
import { randomId } from '../lib/id.ts'

/** What a start without the database needs: hashes and names, never a key. */
export interface KnownAccounts {
  readonly version: number
  /** Without those revoked some time ago. */
  readonly keys: readonly ApiKey[]
  /** Their hashes; absent in files of before. */
  readonly gone?: readonly string[]
  readonly workspaces: readonly Workspace[]
}

/** Callers' own provider keys as the database has them: sealed. */
export interface KnownOwnKeys {
  readonly ownKeys: readonly StoredOwnKey[]
}

/** Guardrails: what they forbid stays forbidden without the database. */
export interface KnownGuardrails {
  readonly guardrails: readonly StoredGuardrail[]
  readonly assignments: readonly GuardrailAssignment[]
}

/** Presets in force, as the database has them: what they set is sealed. */
export interface KnownPresets {
  readonly presets: readonly ActivePreset[]
}

export interface LastKnownGood<Known> {
  /** Undefined when there is none or it cannot be used. */
  read(): Promise<Known | undefined>
  /** Replaces the file in one step, so that a crash, or a loss of power, leaves the old one or the new one. Rejects when the disk refuses. */
  write(known: Known): Promise<void>
}

const FORMAT = 1

export const createLastKnownGood = (file: string): LastKnownGood<KnownAccounts> => createKnownFile(file, parseAccounts)

export const createKnownOwnKeys = (file: string): LastKnownGood<KnownOwnKeys> => createKnownFile(file, parseOwnKeys)

export const createKnownGuardrails = (file: string): LastKnownGood<KnownGuardrails> => createKnownFile(file, parseGuardrails)

export const createKnownPresets = (file: string): LastKnownGood<KnownPresets> => createKnownFile(file, parsePresets)

/** One JSON file with what was last read from the database, readable by its owner alone. `parse` returns undefined for other content. */
function createKnownFile<Known extends object>(
  file: string,
  parse: (fields: { readonly [name: string]: unknown }) => Known | undefined,
): LastKnownGood<Known> {
  let isSwept = false
  return {
    read: async () => {
      try {
        const value: unknown = JSON.parse(await readFile(file, 'utf8'))
        if (typeof value !== 'object' || value === null) return undefined
        const fields = value as { readonly [name: string]: unknown }
        return fields['format'] === FORMAT ? parse(fields) : undefined
      } catch {
        return undefined
      }
    },
    write: async (known) => {
      const draft = `${file}.${randomId(8)}`
      try {
        await writeDurably(draft, JSON.stringify({ format: FORMAT, ...known }))
        await rename(draft, file)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
      if (isSwept) return
      isSwept = true
      await sweep(file).catch(() => undefined)
    },
  }
}

/** Longer than any other process writes one. */
const STALE_MS = 3_600_000

/** Drafts of processes that were killed before they could give them their name: nobody else would ever remove them. */
async function sweep(file: string): Promise<void> {
  const prefix = `${basename(file)}.`
  for (const name of await readdir(dirname(file))) {
    if (!name.startsWith(prefix) || !/^[0-9A-Za-z]{8}$/.test(name.slice(prefix.length))) continue
    const draft = join(dirname(file), name)
    if (Date.now() - (await stat(draft)).mtimeMs > STALE_MS) await rm(draft, { force: true })
  }
}

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
