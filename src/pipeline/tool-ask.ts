import type { Call, Handler } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Pricing } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { FinishReason } from '../core/event.ts'
import type { AskOptions, CitableSource, ModelAnswer } from '../core/extension.ts'
import type { Cost } from '../core/generation.ts'
import type { InputItem } from '../core/item.ts'
import { holdsPicture } from '../core/picture-items.ts'
import type { ModelRequest } from '../core/request.ts'
import { ZERO_USAGE, type Usage } from '../core/usage.ts'
import { answerCost } from './answer-cost.ts'
import { AnswerFold } from './answer-fold.ts'
import { NO_ADAPTATION } from './no-adaptation.ts'
import { likelyUsage, type Spent, type ToolBill } from './tool-bill.ts'

export interface AskTerms extends AskOptions {
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  /** Knows from the beginning what the call costs. */
  readonly bill?: ToolBill
}

/**
 * A model call on behalf of a tool or plugin: with the same routing, failover and limits as the call it belongs to, and a trace of its own. Throws
 * what the handler throws.
 */
export async function askModel(
  handler: Handler,
  parent: Call,
  request: ModelRequest,
  signal: AbortSignal,
  { costOf, bill, onEvents, isWhole = false }: AskTerms,
): Promise<ModelAnswer> {
  const fold = new AnswerFold()
  const { preferredEndpoint: _, sessionId: __, adaptation: ___, strategy: ____, ...rest } = parent
  const call: Call = {
    ...rest,
    request,
    signal,
    // Only what the caller sees while it is written has to stream; that cannot be taken back. The rest may wait until it is whole.
    stream: parent.stream && onEvents !== undefined,
    requestedModel: request.model ?? request.models?.[0] ?? '',
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {}, parent: parent.trace },
    output: () => [],
    ...(isWhole ? { adaptation: NO_ADAPTATION } : {}),
  }
  const spent: { inAll?: Spent } = {}
  bill?.ask(() => spent.inAll ?? soFar(call, fold, costOf))
  let reason: FinishReason | undefined
  let usage: Usage = ZERO_USAGE
  for await (const events of handler(call)) {
    for (const event of events) {
      if (event.type !== 'response-end') fold.push(event)
      else {
        reason = event.reason
        usage = event.usage ?? likelyUsage(request, fold.written, call.trace)
      }
    }
    onEvents?.(events)
  }
  if (reason === undefined) throw new GatewayError('provider_unavailable', 'The model ended its answer without finishing it')
  const { served } = call.trace
  const items = fold.items()
  const refusal = fold.text('refusal')
  const cost = withBought(call.trace.cost ?? answerCost(costOf, usage, call.trace), call.trace)
  spent.inAll = { cost, tokens: usage.totalTokens }
  return {
    text: fold.text(),
    ...(refusal === '' ? {} : { refusal }),
    images: items.flatMap(imagesOf),
    sources: items.flatMap(sourcesOf),
    items,
    model: served === undefined ? call.requestedModel : servedModel(served.endpoint),
    reason,
    usage,
    cost,
  }
}

/** What an unfinished or broken answer has cost: its turns so far, or else its likely usage, if it had begun, as far as its provider counted. */
function soFar({ request, trace }: Call, { written }: AnswerFold, costOf: (usage: Usage, pricing: Pricing) => Cost): Spent {
  const begun = trace.served?.firstTokenMs !== undefined
  const usage = trace.spentUsage ?? (begun ? likelyUsage(request, written, trace) : ZERO_USAGE)
  return { cost: withBought(trace.cost ?? (begun ? answerCost(costOf, usage, trace) : NO_COST), trace), tokens: usage.totalTokens }
}

const withBought = (cost: Cost, trace: Call['trace']): Cost => trace.withBought?.(cost) ?? cost

/** Image models answer with image items, or with data URLs in their text parts. */
function imagesOf(item: InputItem): string[] {
  const fields = item as {
    readonly type: string
    readonly result?: unknown
    readonly imageUrl?: unknown
    readonly imageB64?: unknown
    readonly output_format?: unknown
  }
  if (!holdsPicture(fields.type)) return []
  const image = [fields.result, fields.imageUrl, fields.imageB64].find((value) => typeof value === 'string' && value !== '') as string | undefined
  if (image === undefined) return []
  return [
    /^(?:data:|https?:)/.test(image)
      ? image
      : `data:image/${typeof fields.output_format === 'string' ? fields.output_format : 'png'};base64,${image}`,
  ]
}

function sourcesOf(item: InputItem): CitableSource[] {
  if (item.type !== 'message' || !Array.isArray(item['content'])) return []
  const parts = item['content'] as readonly {
    readonly annotations?: readonly { readonly type: string; readonly url?: string; readonly title?: string }[]
  }[]
  return parts.flatMap(({ annotations }) =>
    (annotations ?? []).flatMap(({ type, url, title }) => (type === 'url_citation' && url !== undefined ? [{ url, title: title ?? url }] : [])),
  )
}
