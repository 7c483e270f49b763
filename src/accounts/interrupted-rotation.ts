import type { FactStore } from '../core/store.ts'
import { SECRET_KEY_CANARY } from '../core/secret-context.ts'
import { findStagedKey, type DataDirectory } from './data-directory.ts'
import { createEncryption, isOutdated } from './encryption.ts'

/**
 * What to do about a wrong key file if `secrets rotate` ended after it had changed the database and before it replaced the file. Undefined if the
 * reason is another: who restores an old key file would have no use for it.
 */
export async function interruptedRotation(
  { path, secretKeySource }: Pick<DataDirectory, 'path' | 'secretKeySource'>,
  facts: Pick<FactStore, 'get'>,
): Promise<string | undefined> {
  if (secretKeySource === 'environment') return undefined
  // Whatever keeps it from being read, the refusal that it would explain is more important.
  const staged = await findStagedKey(path).catch(() => undefined)
  if (staged === undefined || (await facts.get(SECRET_KEY_CANARY)) === undefined) return undefined
  if (await isOutdated(createEncryption({ current: staged.key }), facts)) return undefined
  return 'it is in secret.key.next there, because a rotation was interrupted: run signalbox secrets rotate, which finishes that one'
}
