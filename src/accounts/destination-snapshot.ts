import type { Encryption } from '../core/account.ts'
import type { DestinationRecord, DestinationStore } from '../core/outbox.ts'
import type { WorkspaceStore } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { openDestination } from './destination-secrets.ts'
import { createFollower } from './follower.ts'

export interface DestinationSnapshotOptions {
  readonly store: {
    version(): Promise<number>
    readonly destinations: Pick<DestinationStore, 'list'>
    readonly workspaces: Pick<WorkspaceStore, 'list'>
  }
  readonly encryption: Encryption
  readonly clock: Clock
  /** All destinations whose secrets could be opened, whenever they may have changed. */
  readonly onChange: (destinations: ReadonlyMap<string, DestinationRecord>) => void
  /** A destination that cannot be used, or a store that does not answer (once per outage). */
  readonly onProblem: (message: string, destinationId?: string) => void
  readonly pollMs?: number
}

/** Destinations in memory, secrets in the clear, in step with the store: changes of other processes are seen within `pollMs`. */
export interface DestinationSnapshot {
  get(id: string): DestinationRecord | undefined
  /** False until the store was read for the first time: nobody knows yet what there is. */
  readonly loaded: boolean
  /** Looks now, then regularly. Never rejects: a store that is away is asked again. */
  start(): Promise<void>
  /** Looks now. Rejects when the store cannot be asked. */
  refresh(): Promise<void>
  close(): Promise<void>
}

const POLL_MS = 2_000
/** Setting of a workspace: false keeps everything in, whatever its destinations say. */
const BROADCAST_SWITCH = 'is_observability_broadcast_enabled'

export function createDestinationSnapshot(options: DestinationSnapshotOptions): DestinationSnapshot {
  const { store, encryption, clock, onChange, onProblem, pollMs = POLL_MS } = options
  let destinations: ReadonlyMap<string, DestinationRecord> = new Map()
  let version: number | undefined

  const synchronize = async (): Promise<void> => {
    // Read first: what changes during the read is read again at the next look.
    const current = await store.version()
    if (current === version) return
    const { destinations: stored } = await store.destinations.list({})
    const silent = new Set((await store.workspaces.list()).filter(({ settings }) => settings[BROADCAST_SWITCH] === false).map(({ id }) => id))
    const opened = new Map<string, DestinationRecord>()
    for (const each of stored) {
      try {
        const record = openDestination(encryption, each)
        opened.set(each.id, silent.has(each.workspaceId) ? { ...record, enabled: false } : record)
      } catch (error) {
        onProblem(error instanceof Error ? error.message : String(error), each.id)
      }
    }
    destinations = opened
    version = current
    onChange(opened)
  }

  const follower = createFollower({
    synchronize,
    clock,
    pollMs,
    failedPollMs: pollMs,
    onLost: (error) =>
      onProblem(`destinations cannot be read, the last known ones stay in force: ${error instanceof Error ? error.message : String(error)}`),
    onBack: () => undefined,
  })
  return {
    get: (id) => destinations.get(id),
    get loaded() {
      return version !== undefined
    },
    start: () => follower.start().catch(() => undefined),
    refresh: () => follower.refresh(),
    close: () => follower.close(),
  }
}
