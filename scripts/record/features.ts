import type { Dialect, Target } from '../../src/core/dialect.ts'
import { isGatewayError } from '../../src/core/error.ts'
import type { ModelEvent } from '../../src/core/event.ts'
import type { ModelRequest } from '../../src/core/request.ts'
import { createAwsEventStreamParser } from '../../src/lib/aws-event-stream.ts'
import { createSseParser } from '../../src/lib/sse.ts'

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

/** The answer as decoded by the dialect. Throws GatewayError as the dialect does. */
export function decodeAnswer(dialect: Dialect, request: ModelRequest, target: Target, { contentType, body }: Answer): ModelEvent[] {
  const decoder = dialect.decoder(request, target)
  const out: ModelEvent[] = []
  if (contentType.includes('json')) decoder.body(body.toString(), out)
  else {
    const create = dialect.framing === 'sse' ? createSseParser : createAwsEventStreamParser
    const parser = create((data, event) => {
      if (!decoder.finished) decoder.push(data, event, out)
    })
    parser.push(body)
    parser.end()
  }
  if (!decoder.finished) decoder.end(out)
  return out
}

/** The features that a replay may expect of the answer, in the terms of the index. */
export function featuresOf(dialect: Dialect, request: ModelRequest, target: Target, answer: Answer): string[] {
  if (answer.status >= 400) return [`http_error:${answer.status}`]
  let events: ModelEvent[]
  try {
    events = decodeAnswer(dialect, request, target, answer)
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return [answer.contentType.includes('json') ? 'error.in_body' : 'error.in_stream']
  }
  return [...saidIn(events), ...countedIn(events)].toSorted()
}

const named = (found: readonly (readonly [feature: string, holds: boolean])[]): string[] =>
  found.flatMap(([feature, holds]) => (holds ? [feature] : []))

function saidIn(events: readonly ModelEvent[]): string[] {
  const calls = events.filter((event) => event.type === 'item-start' && /^(?:function|custom_tool)_call$/.test(event.item.type))
  const ends = events.flatMap((event) => (event.type === 'item-end' && event.item !== undefined ? [event.item] : []))
  return named([
    ['tool_call', calls.length > 0],
    ['tool_call.parallel', calls.length > 1],
    ['reasoning.text', events.some(({ type }) => type === 'reasoning-delta')],
    ['reasoning.signature', ends.some((item) => item['signature'] != null)],
    ['reasoning.encrypted', ends.some((item) => item['encrypted_content'] != null && item['signature'] == null)],
    ['citations', events.some(({ type }) => type === 'annotation')],
    ['refusal', events.some(({ type }) => type === 'refusal-delta')],
    ['logprobs', events.some((event) => event.type === 'text-delta' && event.logprobs !== undefined)],
  ])
}

function countedIn(events: readonly ModelEvent[]): string[] {
  const last = events.at(-1)
  if (last?.type !== 'response-end') return []
  const { usage, nativeReason = last.reason } = last
  return named([
    [`finish:${nativeReason}`, true],
    ['usage.cache_read', (usage?.cachedTokens ?? 0) > 0],
    ['usage.cache_write', (usage?.cacheWriteTokens ?? 0) > 0],
    ['usage.reasoning', (usage?.reasoningTokens ?? 0) > 0],
    ['usage.cost', usage?.reportedCost !== undefined],
  ])
}
