import type { ApiKey } from '../core/store.ts'

/**
 * Of keys that this process changed while all were read, those that say more than what was read: whoever was read as revoked stays so, and of two
 * others the later counts.
 */
export function newerOf(changed: ReadonlyMap<string, ApiKey>, readAs: (hash: string) => ApiKey | undefined): readonly ApiKey[] {
  return [...changed.values()].filter((key) => {
    const read = readAs(key.hash)
    return read === undefined || key.revokedAt !== null || (read.revokedAt === null && read.updatedAt <= key.updatedAt)
  })
}
