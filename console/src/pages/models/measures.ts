import { count, duration, NOTHING } from '../../lib/format.ts'

/** A percentage from 0 to 100; a value just below 100 is not rounded up to it. */
export function percentShown(percent: number | null): string {
  if (percent === null) return NOTHING
  const digits = percent > 0 && percent < 100 ? 1 : 0
  const shown = Number(percent.toFixed(digits))
  return `${shown === 100 && percent < 100 ? '99.9' : shown} %`
}

/** The gateway's placeholder for an unknown context length, because the API requires a number. */
const UNKNOWN_CONTEXT = 1_048_575

export const contextShown = (tokens: number): string => (tokens === UNKNOWN_CONTEXT ? 'not known' : `${count(tokens)} tokens`)

export const speedShown = (tokensPerSecond: number): string => `${tokensPerSecond.toFixed(tokensPerSecond < 10 ? 1 : 0)} tok/s`

export interface Percentiles {
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
}

export interface Measure {
  readonly name: string
  readonly p50: string
  readonly p75: string
  readonly p90: string
  readonly p99: string
}

/** An endpoint's measurements of the last half hour; empty if it was not called. */
export function measuresOf(latency: Percentiles | null, throughput: Percentiles | null): readonly Measure[] {
  return [
    ...(latency === null ? [] : [shownBy('First token', latency, duration)]),
    ...(throughput === null ? [] : [shownBy('Throughput', throughput, speedShown)]),
  ]
}

function shownBy(name: string, { p50, p75, p90, p99 }: Percentiles, shown: (value: number) => string): Measure {
  return { name, p50: shown(p50), p75: shown(p75), p90: shown(p90), p99: shown(p99) }
}
