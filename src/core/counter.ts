/**
 * The port for rates, open calls and money. Everything a call takes is taken in one atomic step (`reserve`) and given back or paid in
 * another (`settle`), so that no number of parallel calls gets past a limit. In-process and shared (Redis) implementations pass one
 * contract suite (testing/counter-contract.ts).
 */

/** From the broadest to the narrowest. Boundaries are UTC: midnight, Monday's midnight, the first of the month. */
export const INTERVALS = ['lifetime', 'monthly', 'weekly', 'daily'] as const
export type Interval = (typeof INTERVALS)[number]

/** USD spent in the current period of each interval. */
export type Spent = { readonly [I in Interval]: number }

export const NOTHING_SPENT: Spent = { lifetime: 0, monthly: 0, weekly: 0, daily: 0 }

/** Two amounts together. */
export function addSpent(a: Spent, b: Spent): Spent {
  return { lifetime: a.lifetime + b.lifetime, monthly: a.monthly + b.monthly, weekly: a.weekly + b.weekly, daily: a.daily + b.daily }
}

const DAY_MS = 86_400_000
/** The epoch was a Thursday: the first Monday came four days later. */
const MONDAY_MS = 4 * DAY_MS

/** When the period of `interval` that holds `at` began, milliseconds since the epoch, UTC; 0 for `lifetime`. */
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

/** When the period that holds `at` ends; undefined for `lifetime`. */
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

/** At most `limit` per minute, all at once or spread out (GCRA: a full minute's worth is the burst, then it refills evenly). */
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

/** One thing that has limits, and what the call takes of it. */
export interface Charge {
  /** `key:<hash>`, `workspace:<id>`, `installation`. */
  readonly subject: string
  /** Another one when its limits change, usually a later one: what was spent before they existed is then read from the store again. */
  readonly revision: number
  readonly rates: readonly Rate[]
  /** How many calls may be open at a time. */
  readonly maxOpen?: number
  readonly budgets: readonly Budget[]
}

export interface Reservation {
  /** Of the call. Reserving again under the same id replaces the amount and takes no rate and no place a second time. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly charges: readonly Charge[]
  /** USD the call may come to cost. Undefined: it costs its subjects nothing (an own provider key), budgets are not looked at. */
  readonly amountUsd?: number
  /** When the amount does not fit but this much does, what is left is granted instead. Default: `amountUsd`. */
  readonly leastUsd?: number
}

/** What a limit looks like after the call was refused: the contract's `X-RateLimit-*`. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** When nothing is owed any more, milliseconds since the epoch. */
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
   * `intervals`: all budgets of the subject that do not hold the amount, the broadest first. `leftUsd`: of that one. `availableUsd`: of all its
   * budgets together, so that nothing is left where one of them is used up.
   */
  | {
      readonly ok: false
      readonly reason: 'budget'
      readonly subject: string
      readonly intervals: readonly Interval[]
      readonly leftUsd: number
      readonly availableUsd: number
    }
  /** What was spent cannot be known, and the operator wants no spending then. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly subject: string }

export interface Payment {
  readonly subject: string
  /** USD the call came to cost this subject. */
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
 * Atomic over all its subjects. Reservations of a process that died end by themselves.
 * Neither method rejects, and neither waits longer than its own short limit: a shared state that is away is replaced by this process's own view.
 */
export interface Counter {
  reserve(reservation: Reservation): Promise<Verdict>
  /** Ends the reservation and pays. Settling an unknown or settled id pays all the same: the call did cost that. */
  settle(settlement: Settlement): Promise<void>
  close(): Promise<void>
}

/** What the store remembers was spent by a subject, at a time. May reject. */
export type SpentLoader = (subject: string, now: number) => Promise<Spent>
