import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { GuardrailAssignment, StoredGuardrail } from '../core/guardrail.ts'
import type { ActivePreset } from '../core/preset.ts'
import type { ApiKey, StoredOwnKey, Workspace } from '../core/store.ts'
import { writeDurably } from '../lib/durable-file.ts'
import { randomId } from '../lib/id.ts'

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

export interface LastKnownGood<Known> {
  /** Undefined if there is none, or it cannot be used. */
  read(): Promise<Known | undefined>
  /** Replaces the file atomically, so that a crash or power failure leaves either the old or the new one. Rejects if writing fails. */
  write(known: Known): Promise<void>
}

const FORMAT = 1

export const createLastKnownGood = (file: string): LastKnownGood<KnownAccounts> => createKnownFile(file, parseAccounts)

export const createKnownOwnKeys = (file: string): LastKnownGood<KnownOwnKeys> => createKnownFile(file, parseOwnKeys)

export const createKnownGuardrails = (file: string): LastKnownGood<KnownGuardrails> => createKnownFile(file, parseGuardrails)

export const createKnownPresets = (file: string): LastKnownGood<KnownPresets> => createKnownFile(file, parsePresets)

/**
 * One JSON file with the last content read from the database, accessible only to its owner. `parse` returns undefined for content of another kind.
 */
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
        await writeDurably(draft, inPieces({ format: FORMAT, ...known }))
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

/** Entries of a list that are written at once: serialising two hundred thousand keys in one go would hold up calls. */
const PIECE = 1_000

/** The value as JSON, its long lists in pieces. The event loop takes a turn between two of them, as each is written before the next is made. */
async function* inPieces(value: { readonly [name: string]: unknown }): AsyncGenerator<string> {
  let before = '{'
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (Array.isArray(part) && part.length > PIECE) yield* listInPieces(part)
    else yield JSON.stringify(part)
  }
  yield '}'
}

function* listInPieces(list: readonly unknown[]): Generator<string> {
  for (let from = 0; from < list.length; from += PIECE)
    yield `${from === 0 ? '[' : ','}${JSON.stringify(list.slice(from, from + PIECE)).slice(1, -1)}`
  yield ']'
}

/** Longer than any other process takes to write one. */
const STALE_MS = 3_600_000

/** Removes drafts of processes that were killed before they could rename them. Nothing else would ever do so. */
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
