import type { AttemptRecord } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import { asksForEmbeddings, type ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'

/**
 * An answer has a prompt, and words have tokens: counts that know of neither are half a report, by which it would cost nothing. They are left
 * out of its end and stand in the record, by which the estimate of what was used is mended.
 */
export function withoutHalfCounts(events: readonly ModelEvent[], request: ModelRequest, record: AttemptRecord): readonly ModelEvent[] {
  const last = events[events.length - 1]
  if (last?.type !== 'response-end' || last.usage === undefined || !isHalf(last.usage, record.firstTokenMs !== undefined)) return events
  if (asksForEmbeddings(request)) return events
  const { usage, ...end } = last
  record.counted = usage
  return [...events.slice(0, -1), end]
}

/** Whoever says what it has cost need not count, and pictures are counted apart. */
const isHalf = ({ inputTokens, outputTokens, imageOutputTokens, billed, reportedCost }: Usage, hasSpoken: boolean): boolean =>
  billed === undefined && reportedCost === undefined && (inputTokens === 0 || (hasSpoken && outputTokens === 0 && imageOutputTokens === undefined))
