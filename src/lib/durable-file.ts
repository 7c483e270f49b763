import { open } from 'node:fs/promises'

/**
 * Makes a file of the owner's alone and returns when the disk has it: a name given to it afterwards never leads to an empty file, whenever the
 * power fails. Rejects where there is one already.
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    // A disk that is full may say so only here.
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns when the disk has the names in it, too. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {
    // Some systems know no such thing; there the names are as safe as they get.
  }
}
