/**
 * The port for rates, open calls and budgets. Everything that a call takes is taken in one atomic step (`reserve`) and returned or paid in another
 * (`settle`), so that parallel calls can never exceed a limit. The in-process and the shared (Redis) implementation pass the same contract suite
 * (testing/counter-contract.ts).
 */

/** From the broadest to the narrowest. Periods begin at UTC midnight: of every day, of Monday, of the first of the month. */
export const INTERVALS = ['lifetime', 'monthly', 'weekly', 'daily'] as const
export type Interval = (typeof INTERVALS)[number]

/** USD spent in the current period of each interval. */
export type Spent = { readonly [I in Interval]: number }

export const NOTHING_SPENT: Spent = { lifetime: 0, monthly: 0, weekly: 0, daily: 0 }

/** The sum of two amounts. */
export function addSpent(a: Spent, b: Spent): Spent {
  return { lifetime: a.lifetime + b.lifetime, monthly: a.monthly + b.monthly, weekly: a.weekly + b.weekly, daily: a.daily + b.daily }
}

const DAY_MS = 86_400_000
/** The epoch was a Thursday, so the first Monday came four days later. */
const MONDAY_MS = 4 * DAY_MS

/** Start of the period of `interval` that contains `at`, in milliseconds since the epoch, UTC; 0 for `lifetime`. */
export function periodStart(interval: Interval, at: number): number {
  switch (interval) {
    case 'daily':
      return Math.floor(at / DAY_MS) * DAY_MS
    case 'weekly':
      return Math.floor((at - MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + MONDAY_MS
    case 'monthly': {
      const date = new Date(at)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    }
    case 'lifetime':
      return 0
  }
}

/** End of the period that contains `at`; undefined for `lifetime`. */
export function periodEnd(interval: Interval, at: number): number | undefined {
  const start = periodStart(interval, at)
  switch (interval) {
    case 'daily':
      return start + DAY_MS
    case 'weekly':
      return start + 7 * DAY_MS
    case 'monthly': {
      const date = new Date(start)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    }
    case 'lifetime':
      return undefined
  }
}

export type RateName = 'requests' | 'tokens'

/** At most `limit` per minute, all at once or spread out (GCRA: the burst is a full minute's worth, which then refills evenly). */
export interface Rate {
  readonly name: RateName
  readonly limit: number
  /** What the call takes. More than `limit` is admitted only while nothing is owed, and is owed afterwards. */
  readonly cost: number
}

export interface Budget {
  readonly interval: Interval
  readonly limitUsd: number
}

/** One subject with limits, and what the call takes from it. */
export interface Charge {
  /** `key:<hash>`, `workspace:<id>`, `installation`. */
  readonly subject: string
  /** Changes, usually upwards, when the subject's limits change. What was spent before the new limits existed is then read from the store again. */
  readonly revision: number
  readonly rates: readonly Rate[]
  /** How many calls may be open at once. */
  readonly maxOpen?: number
  readonly budgets: readonly Budget[]
}

export interface Reservation {
  /** Id of the call. Another reservation with the same id replaces the amount, but takes no rate and no place a second time. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly charges: readonly Charge[]
  /** The most USD that the call may cost. Undefined: the call costs its subjects nothing (an own provider key), so budgets are not checked. */
  readonly amountUsd?: number
  /** If the amount does not fit but this much does, the remainder of the budget is granted instead. Default: `amountUsd`. */
  readonly leastUsd?: number
}

/** The state of a limit after the call was refused: the contract's `X-RateLimit-*`. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** When nothing is owed any more, in milliseconds since the epoch. */
  readonly resetAt: number
}

export type Verdict =
  | { readonly ok: true; readonly grantedUsd: number }
  | {
      readonly ok: false
      readonly reason: 'rate'
      readonly subject: string
      readonly rate: RateName
      readonly state: RateState
      readonly retryAfterMs: number
    }
  | { readonly ok: false; readonly reason: 'open'; readonly subject: string; readonly limit: number }
  /**
   * `intervals`: all budgets of the subject that the amount exceeds, the broadest first. `leftUsd`: the remainder of the broadest. `availableUsd`:
   * what all budgets of the subject allow together, so it is 0 if any of them is used up.
   */
  | {
      readonly ok: false
      readonly reason: 'budget'
      readonly subject: string
      readonly intervals: readonly Interval[]
      readonly leftUsd: number
      readonly availableUsd: number
    }
  /** What was spent is unknown, and the operator allows no spending in that case. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly subject: string }

export interface Payment {
  readonly subject: string
  /** USD that the call cost this subject in the end. */
  readonly spentUsd: number
  /** Corrections of what `reserve` took: positive takes more, negative gives back. */
  readonly rates: readonly { readonly name: RateName; readonly limit: number; readonly cost: number }[]
}

export interface Settlement {
  readonly id: string
  readonly now: number
  readonly payments: readonly Payment[]
}

/**
 * Atomic over all its subjects. Reservations of a process that died expire by themselves. Neither method rejects, and neither waits longer than its
 * own short limit: if the shared state is unavailable, this process's own view replaces it.
 */
export interface Counter {
  reserve(reservation: Reservation): Promise<Verdict>
  /** Ends the reservation and pays. An unknown or already settled id is paid as well, because the call did cost that much. */
  settle(settlement: Settlement): Promise<void>
  close(): Promise<void>
}

/** What the store has recorded as spent by a subject, as of a time. May reject. */
export type SpentLoader = (subject: string, now: number) => Promise<Spent>
