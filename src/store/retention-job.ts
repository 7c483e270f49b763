import { setTimeout as sleep } from 'node:timers/promises'
import type { RetentionConfig } from '../core/config.ts'
import { RETAINED, type Retained, type RetentionReport, type RetentionStore } from '../core/retention.ts'
import type { FactStore } from '../core/store.ts'
import type { Clock } from '../lib/clock.ts'

export interface RetentionJobOptions {
  readonly store: RetentionStore
  readonly facts: FactStore
  /** It is the work of other processes: this one does it only where none of them has for a while. */
  readonly standIn: boolean
  readonly clock: Clock
  readonly random: () => number
  /** Read at every round: the operator may change it. */
  readonly settings: () => RetentionConfig
  readonly onReport: (report: RetentionReport) => void
  readonly onFailure: (error: unknown) => void
  readonly tuning?: Partial<RetentionTuning>
}

export interface RetentionTuning {
  /** Rows of one transaction: it holds SQLite's write lock. */
  readonly batchRows: number
  /** Between transactions, for those who wait for the lock. */
  readonly pauseMs: number
  /** Of one round. */
  readonly roundMs: number
}

const TUNING: RetentionTuning = { batchRows: 500, pauseMs: 10, roundMs: 10 * 60_000 }

export interface RetentionJob {
  /** One round now; undefined when another process is at it, or it is left to others. */
  run(): Promise<RetentionReport | undefined>
  /** Rounds from now on: the first within a minute or so, then as often as the operator wants, each at a moment of its own. */
  start(): void
  /** Ends after the transaction that runs. */
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

/** Keeps the store within the bounds the operator set, one process at a time, in small steps. */
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
    // Processes that started together do not all come at once.
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

/** The name of the fact: when the last round ended, milliseconds since the epoch, and whether by somebody who stood in. */
const LAST_ROUND = 'retention'
const STOOD_IN = 'stood-in'
/** Rounds that may be missed by those whose work it is. */
const MISSED = 3

/** Who cleaned up when, for all processes: where only such run whose work it is not, what is told to go by age must go all the same. */
function createRoundLog({ facts, clock, settings, standIn }: RetentionJobOptions) {
  return {
    async due(): Promise<boolean> {
      const [at, by] = (await facts.get(LAST_ROUND))?.split(' ') ?? []
      const age = clock.now() - Number(at)
      const { everyMs } = settings()
      // Of several that stand in, none comes soon after another. The time of a clock that ran ahead is none.
      return !(age > -everyMs && age < (by === STOOD_IN ? everyMs / 2 : MISSED * everyMs))
    },
    async note(): Promise<void> {
      await facts.replace(LAST_ROUND, await facts.get(LAST_ROUND), `${clock.now()}${standIn ? ` ${STOOD_IN}` : ''}`)
    },
  }
}
