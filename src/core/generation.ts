import type { InputItem, OutputItem } from './item.ts'
import { isOwnModel } from './own-names.ts'
import type { ModelRequest } from './request.ts'
import type { Usage } from './usage.ts'

/** What a layer really did to a call: a stage of `gateway_metadata.pipeline`. */
export interface PipelineStage {
  readonly type: 'guardrail' | 'plugin' | 'server_tools' | 'response_healing' | 'context_compression'
  readonly name: string
  readonly summary?: string
  readonly data?: { readonly [key: string]: unknown }
  readonly cost_usd?: number | null
  readonly guardrail_id?: string
  readonly guardrail_scope?: string
}

/** Cost of one call, USD. */
export interface Cost {
  readonly total: number
  readonly input: number
  readonly output: number
  /** What caching saved (positive) or cost extra (negative), compared with the plain input price. */
  readonly cacheDiscount: number
  /** Server tools, plugins and per-request items, part of `total`. */
  readonly extras?: { readonly [item: string]: number }
  /** The part of `total` that is charged to the caller's own provider accounts, not the gateway's. Absent: none. */
  readonly byok?: number
  /** Source of the amount: the upstream's own report, the catalog's prices, or none. */
  readonly source: 'upstream' | 'catalog' | 'unknown'
}

export interface GenerationAttempt {
  readonly provider: string
  readonly providerName: string
  readonly model: string
  readonly upstreamModel: string
  readonly endpointId: string
  readonly status: number
  readonly startedAt: number
  readonly firstTokenMs?: number
  readonly durationMs?: number
  readonly errorType?: string
  readonly errorMessage?: string
  readonly upstreamId?: string
  readonly isByok?: boolean
  /** USD for what this attempt wrote. Absent if it wrote the whole answer, or nothing. */
  readonly costUsd?: number
}

/** An attempt in `provider_responses` of the public record and wherever else that list appears. Unknown values are absent. */
export interface ProviderResponse {
  readonly provider_name: string
  readonly model_permaslug: string
  readonly endpoint_id: string
  readonly status: number
  readonly is_byok: boolean
  readonly latency?: number
  readonly id?: string
}

export const toProviderResponse = (attempt: GenerationAttempt): ProviderResponse => ({
  provider_name: attempt.providerName,
  model_permaslug: attempt.model,
  endpoint_id: attempt.endpointId,
  status: attempt.status,
  is_byok: attempt.isByok ?? false,
  ...(attempt.firstTokenMs === undefined ? {} : { latency: attempt.firstTokenMs }),
  ...(attempt.upstreamId === undefined ? {} : { id: attempt.upstreamId }),
})

/** What the caller's own provider accounts paid, USD, over all turns that an own key served; null if there were none. */
export const upstreamInferenceCost = ({ isByok, cost }: Pick<Generation, 'isByok' | 'cost'>): number | null => cost.byok ?? (isByok ? 0 : null)

/** One execution of a server tool during the call. */
export interface GenerationStep {
  readonly kind: 'tool'
  readonly name: string
  /** Where the tool is from, if its name was chosen there or by the caller: the kind of server. Absent for the gateway's own tools. */
  readonly source?: string
  /** `call_id` or `id` of the output item of this execution. */
  readonly itemId: string
  readonly startedAt: number
  readonly durationMs: number
  readonly errorType?: string
  readonly errorMessage?: string
}

export type GenerationStatus = 'completed' | 'incomplete' | 'failed' | 'cancelled'

/** Names of the front doors in records. */
export const API_TYPES = ['responses', 'chat_completions', 'messages', 'generate_content', 'embeddings'] as const
export type ApiType = (typeof API_TYPES)[number]

/** `api_type` of the public record, wherever it appears. It distinguishes what a call produces, not the front door that it used. */
export const publicApiType = ({ apiType }: Pick<Generation, 'apiType'>): 'completions' | 'embeddings' =>
  apiType === 'embeddings' ? 'embeddings' : 'completions'

/**
 * The finished record of one call: success, failure or abort, streamed or not. JSON-serialisable. Times are milliseconds since the epoch, durations
 * milliseconds, costs USD.
 */
export interface Generation {
  readonly id: string
  readonly workspaceId: string
  readonly keyHash: string
  readonly keyName: string
  readonly userId?: string
  readonly apiType: ApiType
  readonly requestId?: string
  readonly sessionId?: string
  /** The caller's `user` field. */
  readonly externalUser?: string
  readonly origin?: string
  readonly referer?: string
  readonly userAgent?: string
  readonly requestedModel: string
  /** Model and endpoint that served; absent if none was reached. */
  readonly model?: string
  readonly provider?: string
  readonly providerName?: string
  readonly upstreamModel?: string
  readonly upstreamId?: string
  readonly endpointId?: string
  readonly isByok: boolean
  readonly streamed: boolean
  readonly status: GenerationStatus
  readonly finishReason?: string
  readonly nativeFinishReason?: string
  readonly errorType?: string
  readonly errorMessage?: string
  readonly httpStatus: number
  readonly startedAt: number
  readonly endedAt: number
  /** From arrival of the request to the first content event. */
  readonly firstTokenMs?: number
  /** From arrival of the request to sending it to the upstream that served. */
  readonly routerMs?: number
  readonly durationMs: number
  readonly usage: Usage
  readonly cost: Cost
  readonly unitPrices?: { readonly input?: number; readonly output?: number }
  readonly strategy: string
  readonly serviceTier?: string
  /** The kind of answer that the caller requested, if it is not text. */
  readonly outputType?: 'json' | 'image'
  readonly presetId?: string
  /** The generation whose cached answer was replayed without calling a model. */
  readonly cacheSourceId?: string
  readonly attempts: readonly GenerationAttempt[]
  readonly pipeline: readonly PipelineStage[]
  /** Server tools that the gateway ran, in the order in which they started. Absent if there were none, or if their times were not recorded. */
  readonly steps?: readonly GenerationStep[]
  /** The caller's `trace` object, including reserved keys. */
  readonly trace?: { readonly [key: string]: unknown }
  readonly metadata?: { readonly [key: string]: string }
  readonly parameters: { readonly [name: string]: unknown }
}

/** Why an answer ended, as shown in its record. A call that failed before it had a reason of its own ended with an error. */
export const finishReasonOf = ({ finishReason, status }: Pick<Generation, 'finishReason' | 'status'>): string | undefined =>
  finishReason ?? (status === 'failed' ? 'error' : undefined)

/** Strategies whose model names let the gateway choose. */
const CHOOSING: ReadonlySet<string> = new Set(['auto', 'free', 'pareto', 'bodybuilder', 'fusion'])

/**
 * What chose the model (`router` in the contract): the name that the caller used (`gateway/auto`, without variants), or a strategy name. Undefined if
 * the caller named the model that served.
 */
export function routerOf({ strategy, requestedModel }: Pick<Generation, 'strategy' | 'requestedModel'>): string | undefined {
  if (strategy === 'direct') return undefined
  const name = CHOOSING.has(strategy) && isOwnModel(requestedModel) ? /^[^:@]+/.exec(requestedModel)?.[0] : undefined
  return name ?? strategy
}

/** The content of a call. Separate from the record, because it leaves the process only for destinations and stores that asked for it. */
export interface GenerationContent {
  readonly instructions?: string
  readonly input: readonly InputItem[]
  readonly output: readonly OutputItem[]
  readonly tools?: ModelRequest['tools']
}

export interface FinishedGeneration {
  readonly generation: Generation
  readonly content: GenerationContent
}

/** Receives finished generations. `record` never throws and never waits: the hot path calls it once per call. */
export interface GenerationSink {
  record(finished: FinishedGeneration): void
  /** Resolves when everything recorded so far is durable. Rejects if the store cannot take it within the time limit. */
  flush(): Promise<void>
}
