import { open, rm } from 'node:fs/promises'

/**
 * Creates a file that only the owner can read, and returns once the disk has it: a name that the file gets afterwards never leads to an empty file after a
 * power failure. Rejects if the file exists. If it cannot be written completely, nothing of it stays.
 */
export async function writeDurably(path: string, text: string | AsyncIterable<string>): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    // A full disk may fail only here.
    await handle.sync()
  } catch (error) {
    await rm(path, { force: true }).catch(() => undefined)
    throw error
  } finally {
    await handle.close()
  }
}

/** Returns once the disk has the directory's entries as well. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {
    // Some systems do not support this; nothing more can be done there.
  }
}
