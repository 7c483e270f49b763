import type { AttemptRecord } from '../core/call.ts'
import type { ModelEvent } from '../core/event.ts'
import { asksForEmbeddings, type ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'

/**
 * Every answer has a prompt, and content has tokens. Counts without one of them are incomplete, and the answer would cost nothing by them. They are
 * removed from the end and noted in the record, where they improve the estimate of what was used.
 */
export function withoutHalfCounts(events: readonly ModelEvent[], request: ModelRequest, record: AttemptRecord): readonly ModelEvent[] {
  const last = events[events.length - 1]
  if (last?.type !== 'response-end' || last.usage === undefined || !isHalf(last.usage, record.firstTokenMs !== undefined)) return events
  if (asksForEmbeddings(request)) return events
  const { usage, ...end } = last
  record.counted = usage
  return [...events.slice(0, -1), end]
}

/** An upstream that reports the cost need not count, and pictures are counted apart. */
const isHalf = ({ inputTokens, outputTokens, imageOutputTokens, billed, reportedCost }: Usage, hasSpoken: boolean): boolean =>
  billed === undefined && reportedCost === undefined && (inputTokens === 0 || (hasSpoken && outputTokens === 0 && imageOutputTokens === undefined))
