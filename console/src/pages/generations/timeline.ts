import type { GenerationDetail } from '../../api/schema.ts'

/** A part of a call on its timeline, in shares of the whole (0 to 1). */
export interface Stretch {
  readonly kind: 'attempt' | 'tool'
  readonly label: string
  readonly start: number
  /** Never too short to be visible. */
  readonly length: number
  /** When its first content came, as a share of the whole. */
  readonly firstContent?: number
  readonly isFailed: boolean
  readonly startMs: number
  readonly durationMs: number | null
}

const SHORTEST = 0.006

type Timed = Pick<GenerationDetail, 'created_at' | 'generation_time' | 'attempts' | 'steps'>

/** What happened within a call, in order of its beginning. An attempt without an end is assumed to have ended with the call. */
export function timelineOf({ created_at, generation_time, attempts, steps }: Timed): readonly Stretch[] {
  const start = Date.parse(created_at)
  const ends = [
    ...attempts.map((one) => Date.parse(one.started_at) + (one.duration ?? 0) - start),
    ...steps.map((one) => Date.parse(one.started_at) + one.duration_ms - start),
  ]
  // The durations of a record are rounded independently.
  const totalMs = Math.max(1, generation_time ?? 0, ...ends)
  const stretch = (startMs: number, durationMs: number | null): Pick<Stretch, 'start' | 'length' | 'startMs' | 'durationMs'> => {
    const from = Math.min(Math.max(0, startMs / totalMs), 1 - SHORTEST)
    const share = (durationMs ?? totalMs - startMs) / totalMs
    return { start: from, length: Math.min(Math.max(SHORTEST, share), 1 - from), startMs, durationMs }
  }
  const found: Stretch[] = [
    ...attempts.map((one): Stretch => {
      const startMs = Date.parse(one.started_at) - start
      return {
        kind: 'attempt',
        label: `${one.provider_name} · ${one.upstream_model}`,
        ...stretch(startMs, one.duration),
        ...(one.latency === null ? {} : { firstContent: Math.min(1, (startMs + one.latency) / totalMs) }),
        isFailed: one.error_type !== null,
      }
    }),
    ...steps.map((one): Stretch => ({
      kind: 'tool',
      label: one.name,
      ...stretch(Date.parse(one.started_at) - start, one.duration_ms),
      isFailed: one.error_type !== null,
    })),
  ]
  return found.toSorted((a, b) => a.startMs - b.startMs)
}
