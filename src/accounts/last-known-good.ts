import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import type { ApiKey, Workspace } from '../core/store.ts'
import { randomId } from '../lib/id.ts'

/** What a start without the database needs: hashes and names, never a key. */
export interface KnownAccounts {
  readonly version: number
  readonly keys: readonly ApiKey[]
  readonly workspaces: readonly Workspace[]
}

export interface LastKnownGood {
  /** Undefined when there is none or it cannot be used. */
  read(): Promise<KnownAccounts | undefined>
  /** Replaces the file in one step, so that a crash leaves the old one or the new one. Rejects when the disk refuses. */
  write(known: KnownAccounts): Promise<void>
}

const FORMAT = 1

export function createLastKnownGood(file: string): LastKnownGood {
  return {
    read: async () => {
      try {
        return parse(JSON.parse(await readFile(file, 'utf8')))
      } catch {
        return undefined
      }
    },
    write: async (known) => {
      const draft = `${file}.${randomId(8)}`
      try {
        await writeFile(draft, JSON.stringify({ format: FORMAT, ...known }), { mode: 0o600, flag: 'wx' })
        await rename(draft, file)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },
  }
}

function parse(value: unknown): KnownAccounts | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { format, version, keys, workspaces } = value as Record<string, unknown>
  if (format !== FORMAT || typeof version !== 'number' || !isListOf(keys, 'hash') || !isListOf(workspaces, 'id')) return undefined
  return { version, keys: keys as unknown as readonly ApiKey[], workspaces: workspaces as unknown as readonly Workspace[] }
}

function isListOf(value: unknown, identity: string): value is readonly object[] {
  return (
    Array.isArray(value) &&
    value.every((entry: unknown) => typeof entry === 'object' && entry !== null && typeof (entry as Record<string, unknown>)[identity] === 'string')
  )
}
