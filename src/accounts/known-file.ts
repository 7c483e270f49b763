import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { writeDurably } from '../lib/durable-file.ts'
import { randomId } from '../lib/id.ts'

export interface LastKnownGood<Known> {
  /** Undefined if there is none, or it cannot be used. */
  read(): Promise<Known | undefined>
  /** Replaces the file atomically, so that a crash or power failure leaves either the old or the new one. Rejects if writing fails. */
  write(known: Known): Promise<void>
}

const FORMAT = 1

/**
 * One JSON file with the last content read from the database, accessible only to its owner. `parse` returns undefined for content of another kind.
 */
export function createKnownFile<Known extends object>(
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
