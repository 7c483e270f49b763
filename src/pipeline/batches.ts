import type { BatchLimits } from '../core/dialect.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { InputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import { estimateItem } from '../router/estimate.ts'

/** Estimates err by about a third, and the upstream's own count must still fit. */
const MARGIN = 1.35

/** The requests that an embeddings request is split into at this endpoint, inputs in order; undefined if it is sent as it is. */
export function batchesOf(request: ModelRequest, { connection, upstreamModel }: Endpoint): readonly ModelRequest[] | undefined {
  const { dialect, options } = connection
  const limits = dialect.batch?.({ options, upstreamModel })
  if (limits === undefined || request.input.length < 2) return undefined
  const batches = divide(request.input, limits)
  return batches.length === 1 ? undefined : batches.map((input) => ({ ...request, input }))
}

/** As many consecutive inputs as fit, at least one: if a single one is too long, the upstream says so. */
function divide(input: readonly InputItem[], { inputs, tokens: most }: BatchLimits): readonly (readonly InputItem[])[] {
  const batches: InputItem[][] = []
  let last: InputItem[] = []
  let batchTokens = 0
  for (const item of input) {
    const tokens = most === undefined ? 0 : estimateItem(item).inputTokens * MARGIN
    if (last.length > 0 && (last.length >= inputs || batchTokens + tokens > (most ?? Infinity))) {
      batches.push(last)
      last = []
      batchTokens = 0
    }
    last.push(item)
    batchTokens += tokens
  }
  return [...batches, last]
}
