import type { Totals } from './activity.ts'

export interface Comparison {
  /** Today's total so far. */
  readonly today: number
  readonly all: number
  /** Today as a share of a usual day: the mean of the days before today, from the first one with a call. Undefined if there is none. */
  readonly ofUsualDay: number | undefined
  /** Change of the last seven full days against the seven before, as a share: 0.5 is an increase by half. Undefined if those had nothing. */
  readonly weekChange: number | undefined
}

const WEEK = 7

/** Compares one figure over the days, of which the last is today. */
export function compare(days: readonly Totals[], of: (totals: Totals) => number): Comparison {
  const fullDays = days.slice(0, -1)
  const first = fullDays.findIndex(({ calls }) => calls > 0)
  const usual = first === -1 ? 0 : sumOf(fullDays.slice(first), of) / (fullDays.length - first)
  const today = sumOf(days.slice(-1), of)
  const before = sumOf(fullDays.slice(-2 * WEEK, -WEEK), of)
  return {
    today,
    all: sumOf(days, of),
    ofUsualDay: usual > 0 ? today / usual : undefined,
    weekChange: before > 0 ? sumOf(fullDays.slice(-WEEK), of) / before - 1 : undefined,
  }
}

const sumOf = (days: readonly Totals[], of: (totals: Totals) => number): number => days.reduce((all, day) => all + of(day), 0)

/** `▲ 12 %`, `▼ 5 %`; a change that rounds to zero is shown as none. */
export function changeShown(change: number): string {
  const size = Math.round(Math.abs(change) * 100)
  if (size === 0) return 'no change'
  return `${change > 0 ? '▲' : '▼'} ${size.toLocaleString('en-US')} %`
}
