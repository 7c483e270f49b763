import type { ApiKey } from '../core/store.ts'

/**
 * Of the keys that this process changed while all were read, those that are newer than what was read. A key that was read as revoked stays revoked;
 * otherwise the later change counts.
 */
export function newerOf(changed: ReadonlyMap<string, ApiKey>, readAs: (hash: string) => ApiKey | undefined): readonly ApiKey[] {
  return [...changed.values()].filter((key) => {
    const read = readAs(key.hash)
    return read === undefined || key.revokedAt !== null || (read.revokedAt === null && read.updatedAt <= key.updatedAt)
  })
}
