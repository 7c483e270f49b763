import type { Role } from '../core/config.ts'

/** What decides whether a process should be given work. */
export interface ReadinessFacts {
  readonly role: Role
  readonly stopping: boolean
  readonly overloaded: boolean
  /** Keys this process could serve right now, from the database or from before. */
  readonly knownKeys: number
  /** Whether the database answered the last time it was asked. */
  readonly databaseAnswers: boolean
  /** Whether it has all migrations and knows the keys of the environment: one that answers may refuse both. */
  readonly databasePrepared: boolean
  /** Whether it took a write the last time it was tried; true where nobody tries. */
  readonly databaseTakesWrites: boolean
  /** Whether what is finished can be recorded: the process that was just started is not there yet. */
  readonly records: boolean
  /** How long the oldest record has waited to be written, milliseconds. */
  readonly recordsWaitMs: number
  /** Undefined: there is none. */
  readonly sharedStateAnswers: boolean | undefined
  /** Stored secrets were encrypted with another key than this process has: `secrets rotate` ran beside it. */
  readonly secretKeyOutdated: boolean
  /** The file of the configuration is wrong by now: what it said before is in force. */
  readonly configurationRefused: boolean
}

export interface Readiness {
  /** Why it should get no work; undefined when it should. */
  readonly reason?: string
  /** What is away, wrong or wants a restart, without keeping it from serving. */
  readonly degraded: readonly Degraded[]
}

/** Whatever may be named as degraded, in the order in which it is. */
export const DEGRADED = ['database', 'records', 'shared state', 'secret_key', 'configuration'] as const
export type Degraded = (typeof DEGRADED)[number]

/** Longer than busy processors hold up a batch: a database that is read and not written (a full disk, a server that takes no writes) looks well otherwise. */
const RECORDS_LATE_MS = 10_000

/** A gateway without its database serves whom it knows; a worker without it, or with one that is only read, has nothing to do. */
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
