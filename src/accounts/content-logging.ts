import { hash } from 'node:crypto'
import type { Generation } from '../core/generation.ts'
import type { Workspace } from '../core/store.ts'

/**
 * Whether a workspace stores the content of this call: only if it has switched this on, for the keys that it names (by default all), and for its
 * share of sessions. The share is decided by a hash, so that a session is stored completely or not at all.
 */
export function createContentPolicy(workspaceOf: (id: string) => Workspace | undefined): (generation: Generation) => boolean {
  return (generation) => {
    const settings = workspaceOf(generation.workspaceId)?.settings
    if (settings?.['is_observability_io_logging_enabled'] !== true) return false
    const keys = settings['io_logging_api_key_ids']
    if (Array.isArray(keys) && !keys.includes(generation.keyHash)) return false
    const rate = settings['io_logging_sampling_rate']
    return typeof rate !== 'number' || rate >= 1 || shareOf(generation.sessionId ?? generation.id) < rate
  }
}

/** Uniform in 0 .. 1, from the first 48 bits of a hash. */
const shareOf = (id: string): number => parseInt(hash('sha256', `content logging\0${id}`, 'hex').slice(0, 12), 16) / 2 ** 48
