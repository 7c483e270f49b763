import type { ApiKey, KeyChanges } from '../core/store.ts'
import type { KnownKeys } from './known-keys.ts'
import type { KnownWorkspaces } from './known-workspaces.ts'
import type { KnownAccounts } from './last-known-good.ts'

/** Resolves with what replaces all keys and workspaces, which is short; what takes long comes before, with turns of the event loop in between. */
export async function prepareAll(keys: KnownKeys, workspaces: KnownWorkspaces, known: KnownAccounts): Promise<() => void> {
  const list = await workspaces.recognize(known.workspaces)
  // Keys that are not listed any more were revoked some time ago, or deleted with their workspace.
  const replaceKeys = await keys.prepare(known.keys, known.gone)
  return () => {
    replaceKeys()
    workspaces.replace(list)
  }
}

/** Keys of changed workspaces get new owners: what was compiled for the ones before is out of date. */
export function applyChanges(keys: KnownKeys, changes: KeyChanges, changedWorkspaces: ReadonlySet<string>): void {
  for (const key of changes.keys) keys.put(key)
  for (const hash of changes.removed) keys.remove(hash)
  if (changedWorkspaces.size > 0) keys.renew(changedWorkspaces)
}

/** A key that may not be used any more does not wait for workspaces, which only keys that may be used need. */
export const endsOf = (found: KeyChanges, changedHere: ReadonlyMap<string, ApiKey>): KeyChanges => ({
  ...found,
  keys: found.keys.filter(({ hash, revokedAt, disabled }) => (revokedAt !== null || disabled) && !changedHere.has(hash)),
})
