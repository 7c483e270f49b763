import type { BatchLimits } from '../core/dialect.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { estimateItem } from '../router/estimate.ts'

/** An estimate errs by about a third: what is counted upstream must still fit. */
const MARGIN = 1.35

/** The requests of which one for embeddings is made at this endpoint, their inputs in order; undefined: it is taken as it is. */
export function batchesOf(request: ModelRequest, { connection, upstreamModel }: Endpoint): readonly ModelRequest[] | undefined {
  const { dialect, options } = connection
  const limits = dialect.batch?.({ options, upstreamModel })
  if (limits === undefined || request.input.length < 2) return undefined
  const batches = divide(request.input, limits)
  return batches.length === 1 ? undefined : batches.map((input) => ({ ...request, input }))
}

/** As many in a row as fit, one at the least: whether that one is too long is for the upstream to say. */
function divide(input: readonly InputItem[], { inputs, tokens: most }: BatchLimits): readonly (readonly InputItem[])[] {
  const batches: InputItem[][] = []
  let last: InputItem[] = []
  let held = 0
  for (const item of input) {
    const tokens = most === undefined ? 0 : estimateItem(item).inputTokens * MARGIN
    if (last.length > 0 && (last.length >= inputs || held + tokens > (most ?? Infinity))) {
      batches.push(last)
      last = []
      held = 0
    }
    last.push(item)
    held += tokens
  }
  return [...batches, last]
}
