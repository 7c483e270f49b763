import type { Role } from '../core/config.ts'

/** What decides whether a process should be given work. */
export interface ReadinessFacts {
  readonly role: Role
  readonly stopping: boolean
  readonly overloaded: boolean
  /** Keys this process could serve right now, from the database or from the last-known-good file. */
  readonly knownKeys: number
  /** Whether the database answered the last time it was asked. */
  readonly databaseAnswers: boolean
  /** Whether it has all migrations and the keys of the environment: a database that answers may refuse both. */
  readonly databasePrepared: boolean
  /** Whether the last attempted write succeeded; true if nobody tries. */
  readonly databaseTakesWrites: boolean
  /** Whether finished calls can be recorded, which takes a moment after the start. */
  readonly records: boolean
  /** How long the oldest record has waited to be written, milliseconds. */
  readonly recordsWaitMs: number
  /** Undefined if there is no shared state. */
  readonly sharedStateAnswers: boolean | undefined
  /** `secrets rotate` has run: stored secrets are encrypted with another key than this process has. */
  readonly secretKeyOutdated: boolean
  /** The configuration file is invalid now; its last valid content is in force. */
  readonly configurationRefused: boolean
}

export interface Readiness {
  /** Why it should get no work; undefined if it should. */
  readonly reason?: string
  /** What is unavailable, wrong or needs a restart, without keeping it from serving. */
  readonly degraded: readonly Degraded[]
}

/** Everything that may be reported as degraded, in the order it is reported. */
export const DEGRADED = ['database', 'records', 'shared state', 'secret_key', 'configuration'] as const
export type Degraded = (typeof DEGRADED)[number]

/** Longer than a busy processor delays a batch. A database that can be read and not written (full disk, standby) looks healthy otherwise. */
const RECORDS_LATE_MS = 10_000

/** A gateway without its database serves the callers it knows; a worker without it, or with a read-only one, has nothing to do. */
export function judgeReadiness(facts: ReadinessFacts): Readiness {
  const is: { readonly [what in Degraded]: boolean } = {
    database: !facts.databaseAnswers || !facts.databasePrepared,
    records: facts.databaseAnswers && facts.recordsWaitMs > RECORDS_LATE_MS,
    'shared state': facts.sharedStateAnswers === false,
    secret_key: facts.secretKeyOutdated,
    configuration: facts.configurationRefused,
  }
  const degraded = DEGRADED.filter((what) => is[what])
  const reason = reasonAgainst(facts)
  return reason === undefined ? { degraded } : { reason, degraded }
}

function reasonAgainst(facts: ReadinessFacts): string | undefined {
  const { role, stopping, overloaded, knownKeys, databaseAnswers, databasePrepared, databaseTakesWrites, records } = facts
  if (stopping) return 'shutting down'
  if (!records && databaseAnswers && databasePrepared) return 'starting: calls cannot be recorded yet'
  if (role === 'worker') {
    if (!databaseAnswers) return 'the database does not answer'
    if (!databasePrepared) return 'the database could not be brought up to date: the log says why'
    return databaseTakesWrites ? undefined : 'the database takes no writes'
  }
  if (knownKeys === 0) return 'no API key is known, because the database has not answered yet'
  return overloaded ? 'overloaded' : undefined
}
