import type { Encryption } from '../core/account.ts'
import { isGatewayError } from '../core/error.ts'
import type { JsonObject } from '../core/item.ts'
import type { DestinationRecord, DestinationStore, StoredDestination } from '../core/outbox.ts'
import { sealedPartOf } from '../core/secret-context.ts'
import type { WorkspaceStore } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'
import { errorLine } from '../lib/error-line.ts'
import { openSecrets, withSecrets } from './destination-secrets.ts'
import { createFollower } from './follower.ts'

export interface DestinationSnapshotOptions {
  readonly store: {
    version(): Promise<number>
    readonly destinations: Pick<DestinationStore, 'list'>
    readonly workspaces: Pick<WorkspaceStore, 'list'>
  }
  readonly encryption: Encryption
  readonly clock: Clock
  /**
   * Called whenever destinations may have changed, with those whose secrets could be opened and those that only another process can open. Events are
   * selected for the latter as well, and wait; only destinations that `get` returns can receive any.
   */
  readonly onChange: (destinations: ReadonlyMap<string, DestinationRecord>) => void
  /** Reports a destination that cannot be used, or a store that does not answer (once per outage). */
  readonly onProblem: (message: string, destinationId?: string) => void
  readonly pollMs?: number
}

/**
 * Destinations in memory, with secrets in plain text, in step with the store: changes by other processes are seen within `pollMs`. If the secret key
 * changes while this process runs, the secrets in memory stay in force, as in an outage.
 */
export interface DestinationSnapshot {
  get(id: string): DestinationRecord | undefined
  /** False until the first successful read of the store: until then the destinations are unknown. */
  readonly loaded: boolean
  /** Looks now, then regularly. Never rejects: a store that is unavailable is asked again. */
  start(): Promise<void>
  /** Looks now. Rejects if the store cannot be asked. */
  refresh(): Promise<void>
  close(): Promise<void>
}

const POLL_MS = 2_000
/** A workspace setting: false stops all events, whatever the workspace's destinations say. */
const BROADCAST_SWITCH = 'is_observability_broadcast_enabled'

export function createDestinationSnapshot(options: DestinationSnapshotOptions): DestinationSnapshot {
  const { store, encryption, clock, onChange, onProblem, pollMs = POLL_MS } = options
  let destinations: ReadonlyMap<string, DestinationRecord> = new Map()
  let version: number | undefined
  const opener = createOpener(encryption, onProblem)

  const synchronize = async (anew: boolean): Promise<void> => {
    // The version is read first, so that changes during the read are read again at the next look.
    const current = await store.version()
    if (current === version && !anew) return
    const { destinations: stored } = await store.destinations.list({})
    const silent = new Set((await store.workspaces.list()).filter(({ settings }) => settings[BROADCAST_SWITCH] === false).map(({ id }) => id))
    const opened = new Map<string, DestinationRecord>()
    const chosen = new Map<string, DestinationRecord>()
    for (const each of stored) {
      const record = opener.open(each)
      if (record === undefined) continue
      const shown = silent.has(each.workspaceId) ? { ...record.destination, enabled: false } : record.destination
      chosen.set(each.id, shown)
      if (record.complete) opened.set(each.id, shown)
    }
    opener.keepOnly(new Set(stored.map(({ id }) => id)))
    destinations = opened
    version = current
    onChange(chosen)
  }

  const follower = createFollower({
    synchronize,
    clock,
    pollMs,
    failedPollMs: pollMs,
    onLost: (error) => onProblem(`destinations cannot be read, the last known ones stay in force: ${errorLine(error)}`),
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

interface Opened {
  readonly destination: DestinationRecord
  /** False if its secrets are unknown: events can be selected for it but not sent. */
  readonly complete: boolean
}

interface Known {
  /** What the secrets were opened from. */
  readonly sealed: string
  /** The part of the envelope that changes only with the secrets. */
  readonly part: string | undefined
  readonly secrets: JsonObject
  readonly config: JsonObject
}

interface Opener {
  /** Undefined for a destination that cannot be used, which is reported. */
  open(stored: StoredDestination): Opened | undefined
  /** Forgets the secrets of all other destinations. */
  keepOnly(ids: ReadonlySet<string>): void
}

/** Opens destinations, and remembers the last opened state of each: any change of the configuration brings all of them again. */
function createOpener(encryption: Encryption, onProblem: DestinationSnapshotOptions['onProblem']): Opener {
  const known = new Map<string, Known>()

  /** For the case that the secret key was changed while this process runs. */
  const remembered = (stored: StoredDestination, sealed: string): Opened => {
    const before = known.get(stored.id)
    if (before === undefined) {
      onProblem('the secret key was changed while this process ran: its events wait until the process is restarted with the new one', stored.id)
      return { destination: withSecrets(stored, {}), complete: false }
    }
    onProblem('the secret key was changed while this process ran: the last known secrets stay in force; restart it with the new one', stored.id)
    // If the secrets were replaced since, the old ones go only to the address that they were meant for, and not to one that came with the new
    // secrets.
    const same = before.part === sealedPartOf(sealed)
    return { destination: same ? withSecrets(stored, before.secrets) : { ...withSecrets(stored, {}), config: before.config }, complete: true }
  }

  return {
    open(stored) {
      const { id, sealed } = stored
      try {
        const before = known.get(id)
        const secrets = before !== undefined && before.sealed === sealed ? before.secrets : openSecrets(encryption, stored)
        const destination = withSecrets(stored, secrets)
        if (sealed !== null) known.set(id, { sealed, part: sealedPartOf(sealed), secrets, config: destination.config })
        else known.delete(id)
        return { destination, complete: true }
      } catch (error) {
        if (sealed !== null && isGatewayError(error) && error.errorType === 'precondition_failed') return remembered(stored, sealed)
        onProblem(error instanceof Error ? error.message : String(error), id)
        return undefined
      }
    },
    keepOnly(ids) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
    },
  }
}
