import { setTimeout as sleep } from 'node:timers/promises'
import type { RetentionConfig } from '../core/config.ts'
import { RETAINED, type Retained, type RetentionReport, type RetentionStore } from '../core/retention.ts'
import type { FactStore } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'

export interface RetentionJobOptions {
  readonly store: RetentionStore
  readonly facts: FactStore
  /** Other processes are responsible for it; this one does it only if none of them has for a while. */
  readonly standIn: boolean
  readonly clock: Clock
  readonly random: () => number
  /** Read in every round, because the operator may change it. */
  readonly settings: () => RetentionConfig
  readonly onReport: (report: RetentionReport) => void
  readonly onFailure: (error: unknown) => void
  readonly tuning?: Partial<RetentionTuning>
}

export interface RetentionTuning {
  /** Rows of one transaction, which holds SQLite's write lock. */
  readonly batchRows: number
  /** Between transactions, for others who wait for the lock. */
  readonly pauseMs: number
  /** Of one round. */
  readonly roundMs: number
}

const TUNING: RetentionTuning = { batchRows: 500, pauseMs: 10, roundMs: 10 * 60_000 }

export interface RetentionJob {
  /** Runs one round now; undefined if another process runs one, or if it is left to others. */
  run(): Promise<RetentionReport | undefined>
  /** Runs rounds from now on: the first within about a minute, then at the operator's interval, each with some randomness. */
  start(): void
  /** Stops after the current transaction. */
  stop(): Promise<void>
}

const FIRST_MS = 60_000

const AGE: { readonly [What in Retained]: (settings: RetentionConfig) => number } = {
  content: ({ contentMs }) => contentMs,
  generations: ({ generationsMs }) => generationsMs,
  activity: ({ activityMs }) => activityMs,
  spend: ({ spendMs }) => spendMs,
  deleted_destinations: ({ deletedDestinationsMs }) => deletedDestinationsMs,
  answers: () => 0,
}

/** Keeps the store within the operator's bounds: one process at a time, in small steps. */
export function createRetentionJob(options: RetentionJobOptions): RetentionJob {
  const { store, clock, random, settings, onReport, onFailure, standIn, tuning } = options
  const rounds = createRoundLog(options)
  const { batchRows, pauseMs, roundMs } = { ...TUNING, ...tuning }
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> = Promise.resolve()
  const stopped = new AbortController()

  const clean = async (): Promise<RetentionReport> => {
    const at = clock.now()
    const started = clock.monotonic()
    const deleted = Object.fromEntries(RETAINED.map((what) => [what, 0])) as { [What in Retained]: number }
    const over = (): boolean => stopped.signal.aborted || clock.monotonic() - started > roundMs
    let unfinished = false
    for (const what of RETAINED) {
      const age = AGE[what](settings())
      if (!Number.isFinite(age)) continue
      for (let more = true; more;) {
        if (over()) {
          unfinished = true
          break
        }
        const step = await store.expire(what, at - age, batchRows)
        deleted[what] += step.deleted
        ;({ more } = step)
        if (more) await sleep(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined)
      }
    }
    return { at, durationMs: clock.monotonic() - started, deleted, unfinished }
  }

  const run = async (): Promise<RetentionReport | undefined> => {
    if (standIn && !(await rounds.due())) return undefined
    let report: RetentionReport | undefined
    await store.exclusively(async () => {
      report = await clean()
    })
    if (report === undefined) return undefined
    onReport(report)
    await rounds.note()
    return report
  }

  const schedule = (baseMs: number): void => {
    if (stopped.signal.aborted) return
    // So that processes which started together do not all run at once.
    const waitMs = baseMs * (0.75 + random() / 2)
    timer = setTimeout(() => {
      running = run()
        .catch(onFailure)
        .finally(() => schedule(settings().everyMs))
    }, waitMs)
    timer.unref()
  }

  return {
    run,
    start: () => schedule(Math.min(FIRST_MS, settings().everyMs)),
    stop: async () => {
      stopped.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** The name of the fact. Its value: when the last round ended, in milliseconds since the epoch, and whether a process stood in for it. */
const LAST_ROUND = 'retention'
const STOOD_IN = 'stood-in'
/** How many rounds those responsible may miss before another process stands in. */
const MISSED = 3

/** Remembers for all processes when the last round was. If only processes run that are not responsible, data must expire all the same. */
function createRoundLog({ facts, clock, settings, standIn }: RetentionJobOptions) {
  return {
    async due(): Promise<boolean> {
      const [at, by] = (await facts.get(LAST_ROUND))?.split(' ') ?? []
      const age = clock.now() - Number(at)
      const { everyMs } = settings()
      // Those that stand in do not run right after one another. A time in the future came from a wrong clock and is ignored.
      return !(age > -everyMs && age < (by === STOOD_IN ? everyMs / 2 : MISSED * everyMs))
    },
    async note(): Promise<void> {
      await facts.replace(LAST_ROUND, await facts.get(LAST_ROUND), `${clock.now()}${standIn ? ` ${STOOD_IN}` : ''}`)
    },
  }
}
