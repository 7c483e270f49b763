import { INTERVALS, periodStart, type Interval, type RateState } from '../../core/counter.ts'

/** Money is counted in whole billionths of a dollar: sums of floats drift, and Redis scripts have no other exact numbers. */
const NANOS_PER_USD = 1e9
export const toNanos = (usd: number): number => Math.round(usd * NANOS_PER_USD)
export const toUsd = (nanos: number): number => nanos / NANOS_PER_USD

const MINUTE_MS = 60_000

export interface RateVerdict {
  readonly ok: boolean
  /** The theoretical arrival time after the call, if it is admitted. */
  readonly next: number
}

/** GCRA over a minute. `owedUntil`: the theoretical arrival time, milliseconds since the epoch; 0 if nothing was taken yet. */
export function judgeRate(owedUntil: number, now: number, limit: number, cost: number): RateVerdict {
  const base = Math.max(owedUntil, now)
  const next = base + (cost * MINUTE_MS) / limit
  // A tiny tolerance, so that a minute's worth taken in pieces does not fail by rounding.
  return { ok: next - now <= MINUTE_MS + 1e-3 || (cost > limit && base <= now), next }
}

/** What a refused caller is told. */
export function describeRate(
  owedUntil: number,
  now: number,
  limit: number,
  cost: number,
): { readonly state: RateState; readonly retryAfterMs: number } {
  const base = Math.max(owedUntil, now)
  const each = MINUTE_MS / limit
  const retryAfterMs = cost > limit ? base - now : base + cost * each - MINUTE_MS - now
  return {
    state: { limit, remaining: Math.max(0, Math.floor((MINUTE_MS - (base - now)) / each)), resetAt: Math.ceil(base) },
    retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)),
  }
}

/** The theoretical arrival time after a correction. */
export function correctRate(owedUntil: number, now: number, limit: number, cost: number): number {
  return (cost > 0 ? Math.max(owedUntil, now) : owedUntil) + (cost * MINUTE_MS) / limit
}

/** When the periods that hold `now` began, in the order of INTERVALS. */
export const periodStarts = (now: number): readonly number[] => INTERVALS.map((interval) => periodStart(interval, now))

export const positionOf = (interval: Interval): number => INTERVALS.indexOf(interval)
