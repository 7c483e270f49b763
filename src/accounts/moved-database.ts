import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GatewayError } from '../core/error.ts'
import { databaseFileIn } from './data-directory.ts'

const noteIn = (directory: string): string => join(directory, 'signalbox.db.moved')

/**
 * Notes beside the embedded database that it was copied to another one, which is in use from now on. A gateway on the old one would send waiting
 * deliveries again; keys made there would be refused; and a rotation there would replace the secret key that the other one needs.
 */
export async function noteMove(directory: string): Promise<string> {
  const note = noteIn(directory)
  await writeFile(note, `signalbox.db was copied to PostgreSQL and is out of use. Whoever wants to use it again deletes this file.\n`)
  return note
}

/** Throws GatewayError `precondition_failed` if the embedded database of a data directory is out of use. */
export async function refuseMoved(directory: string): Promise<void> {
  const note = noteIn(directory)
  const found = await stat(note).catch(() => undefined)
  if (found === undefined) return
  const day = found.mtime.toISOString().slice(0, 10)
  throw new GatewayError(
    'precondition_failed',
    `${databaseFileIn(directory)} was copied to PostgreSQL on ${day} and is out of use: set SIGNALBOX_DATABASE_URL (or storage.url), or delete ${note} to use it again`,
  )
}
