import type { AttemptRecord, Call, Layer } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import type { Endpoint, Pricing } from '../core/endpoint.ts'
import { asGatewayError, isGatewayError, type GatewayError } from '../core/error.ts'
import type { FinishReason, ModelEvent } from '../core/event.ts'
import { isContentEvent } from '../core/event.ts'
import type { Cost, FinishedGeneration, Generation, GenerationAttempt, GenerationSink, GenerationStatus } from '../core/generation.ts'
import { tierServed } from '../core/service-tier.ts'
import { withoutSecrets } from '../core/tool-secrets.ts'
import { ZERO_USAGE, type Usage } from '../core/usage.ts'
import { answerCost } from './answer-cost.ts'

export interface RecordOptions {
  readonly sink: GenerationSink
  /** Money of a usage at an endpoint's prices. */
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  /** What a call that ended without a report has probably used: prompt estimated from the request, output from what was produced. */
  readonly estimateUsage: (call: Call) => Usage
  /** Told once per finished call: metrics, the log line, the router's health. */
  readonly onFinished?: (generation: Generation, call: Call) => void
}

interface Ending {
  reason?: FinishReason
  nativeReason?: string
  usage?: Usage
  serviceTier?: string
  firstTokenMs?: number
  error?: GatewayError
  /** The handler ran to its end: neither thrown nor left by the reader. */
  complete: boolean
}

/** The outermost layer: one generation record per call, whether it succeeded, failed, or its caller went away. */
export function recordLayer(options: RecordOptions): Layer {
  return (next) =>
    async function* record(call) {
      const ending: Ending = { complete: false }
      const startedAt = call.clock.monotonic()
      try {
        for await (const batch of next(call)) {
          let events = batch
          if (endsUnreported(call, batch)) {
            // What the answer holds is known to whoever assembles it once it has been passed on.
            const rest = batch.slice(0, -1)
            observe(rest, ending, call, startedAt)
            if (rest.length > 0) yield rest
            events = [{ ...batch[batch.length - 1], usage: options.estimateUsage(call) } as ModelEvent]
          }
          observe(events, ending, call, startedAt)
          if (ending.usage !== undefined && call.trace.cost === undefined) call.trace.cost = answerCost(options.costOf, ending.usage, call.trace)
          yield events
        }
        ending.complete = true
      } catch (error) {
        ending.error = asGatewayError(error)
        throw error
      } finally {
        const finished = finish(options, call, ending, call.clock.monotonic() - startedAt)
        if (ending.error !== undefined) tellOfBroken(call, finished.generation)
        options.sink.record(finished)
        options.onFinished?.(finished.generation, call)
      }
    }
}

/** An upstream that served the call ends it without a word about usage: callers, limits and the record get one estimate. */
function endsUnreported({ trace }: Call, batch: readonly ModelEvent[]): boolean {
  const last = batch[batch.length - 1]
  return last?.type === 'response-end' && last.usage === undefined && trace.served !== undefined
}

function observe(events: readonly ModelEvent[], ending: Ending, call: Call, startedAt: number): void {
  if (ending.firstTokenMs === undefined && events.some(isContentEvent)) ending.firstTokenMs = call.clock.monotonic() - startedAt
  const last = events[events.length - 1]
  if (last?.type !== 'response-end') return
  ending.reason = last.reason
  if (last.nativeReason !== undefined) ending.nativeReason = last.nativeReason
  if (last.usage !== undefined) ending.usage = last.usage
  if (last.serviceTier !== undefined) ending.serviceTier = last.serviceTier
}

function statusOf(call: Call, ending: Ending): GenerationStatus {
  if (call.signal.aborted && !isGatewayError(call.signal.reason)) return 'cancelled'
  if (ending.error !== undefined) return 'failed'
  if (!ending.complete || ending.reason === undefined) return 'cancelled'
  return ending.reason === 'length' || ending.reason === 'content_filter' ? 'incomplete' : 'completed'
}

/** An answer that nobody reads before its end may be held back by a layer: what counts is when the model began. */
function firstContentMs(call: Call, { firstTokenMs }: Ending): number | undefined {
  const begun = begunBy(call)
  if (call.stream || begun?.firstTokenMs === undefined) return firstTokenMs
  return Math.min(firstTokenMs ?? Infinity, begun.startedAt - call.receivedAt + begun.firstTokenMs)
}

/** The attempt that began what was served: of several turns the first one's. */
function begunBy({ trace: { attempts, served } }: Call): AttemptRecord | undefined {
  return served && (attempts.find((attempt) => attempt.firstTokenMs !== undefined && attempt.error === undefined) ?? served)
}

function finish(options: RecordOptions, call: Call, ending: Ending, durationMs: number): FinishedGeneration {
  const status = statusOf(call, ending)
  const output = call.output()
  // Zero-completion insurance: an answer without content that did not end well costs the caller nothing. Who leaves while a model writes has
  // seen nothing of what is held back, and yet it was written.
  const firstTokenMs = firstContentMs(call, ending)
  const written = status === 'cancelled' && call.trace.served?.firstTokenMs !== undefined
  const insured = status !== 'completed' && status !== 'incomplete' && firstTokenMs === undefined && !written
  const usage = ending.usage ?? (insured ? ZERO_USAGE : (call.trace.spent ?? options.estimateUsage(call)))
  const cost = insured ? NO_COST : (call.trace.cost ?? answerCost(options.costOf, usage, call.trace))
  const { request } = call
  const begun = begunBy(call)
  const kept = call.trace.keptRequest ?? request
  return {
    generation: {
      ...identity(call),
      ...servedBy(call),
      ...ended(ending, status),
      ...tierOf(call, ending),
      isByok: call.trace.served?.isByok ?? false,
      startedAt: call.receivedAt,
      endedAt: call.receivedAt + durationMs,
      durationMs,
      ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
      ...(begun === undefined ? {} : { routerMs: begun.startedAt - call.receivedAt }),
      usage,
      cost,
      strategy: call.trace.strategy,
      attempts: call.trace.attempts.map(attemptOf),
      pipeline: call.trace.pipeline,
      ...(request.trace === undefined ? {} : { trace: request.trace }),
      ...(kept.metadata == null ? {} : { metadata: kept.metadata }),
      parameters: parametersOf(call),
    },
    content: {
      input: kept.input,
      output,
      ...(kept.instructions == null ? {} : { instructions: kept.instructions }),
      ...(kept.tools === undefined ? {} : { tools: kept.tools.map(withoutSecrets) }),
    },
  }
}

/** The caller pays for what was written before the answer broke, and reads of it where the failure is told. */
function tellOfBroken({ trace }: Call, { usage, cost }: Generation): void {
  trace.broken = usage
  trace.cost = cost
}

function identity(
  call: Call,
): Pick<
  Generation,
  | 'id'
  | 'workspaceId'
  | 'keyHash'
  | 'keyName'
  | 'userId'
  | 'apiType'
  | 'requestId'
  | 'sessionId'
  | 'externalUser'
  | 'origin'
  | 'referer'
  | 'userAgent'
  | 'requestedModel'
  | 'presetId'
  | 'streamed'
  | 'outputType'
> {
  const { owner, origin, request } = call
  const outputType = outputTypeOf(request)
  return {
    id: call.id,
    workspaceId: owner.workspaceId,
    keyHash: owner.keyHash,
    keyName: owner.keyName,
    apiType: origin.apiType,
    requestedModel: call.requestedModel,
    streamed: call.stream,
    ...(outputType === undefined ? {} : { outputType }),
    ...(call.presetId === undefined ? {} : { presetId: call.presetId }),
    ...(owner.userId === undefined ? {} : { userId: owner.userId }),
    ...(call.requestId === undefined ? {} : { requestId: call.requestId }),
    ...(call.sessionId === undefined ? {} : { sessionId: call.sessionId }),
    ...(request.user == null ? {} : { externalUser: request.user }),
    ...(origin.title === undefined ? {} : { origin: origin.title }),
    ...(origin.referer === undefined ? {} : { referer: origin.referer }),
    ...(origin.userAgent === undefined ? {} : { userAgent: origin.userAgent }),
  }
}

function outputTypeOf({ text, modalities }: Call['request']): Generation['outputType'] {
  if (modalities?.includes('image') === true) return 'image'
  const format = text?.format?.type
  return format === 'json_schema' || format === 'json_object' ? 'json' : undefined
}

function servedBy(call: Call): Partial<Generation> {
  const served = call.trace.served
  if (served === undefined) return {}
  const { endpoint } = served
  const { input, output } = endpoint.pricing
  return {
    model: endpoint.model,
    provider: endpoint.provider,
    providerName: endpoint.providerName,
    upstreamModel: endpoint.upstreamModel,
    endpointId: endpoint.id,
    ...(served.upstreamId === undefined ? {} : { upstreamId: served.upstreamId }),
    unitPrices: { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) },
  }
}

/** What nobody served has no tier. */
function tierOf({ request, trace: { served } }: Call, { serviceTier }: Ending): Pick<Generation, 'serviceTier'> {
  if (served === undefined && serviceTier === undefined) return {}
  return { serviceTier: tierServed(serviceTier, served?.endpoint.tier, request) }
}

function ended(ending: Ending, status: GenerationStatus): Pick<Generation, 'status' | 'httpStatus'> & Partial<Generation> {
  const { error } = ending
  return {
    status,
    httpStatus: status === 'cancelled' ? 499 : (error?.status ?? 200),
    ...(ending.reason === undefined ? {} : { finishReason: ending.reason }),
    ...(ending.nativeReason === undefined ? {} : { nativeFinishReason: ending.nativeReason }),
    ...(error === undefined || status === 'cancelled' ? {} : { errorType: error.errorType, errorMessage: error.message }),
  }
}

function attemptOf(attempt: Call['trace']['attempts'][number]): GenerationAttempt {
  const endpoint: Endpoint = attempt.endpoint
  return {
    provider: endpoint.provider,
    providerName: endpoint.providerName,
    model: endpoint.model,
    upstreamModel: endpoint.upstreamModel,
    endpointId: endpoint.id,
    status: attempt.status,
    startedAt: attempt.startedAt,
    ...(attempt.firstTokenMs === undefined ? {} : { firstTokenMs: attempt.firstTokenMs }),
    ...(attempt.durationMs === undefined ? {} : { durationMs: attempt.durationMs }),
    ...(attempt.error === undefined ? {} : { errorType: attempt.error.type, errorMessage: attempt.error.message }),
    ...(attempt.upstreamId === undefined ? {} : { upstreamId: attempt.upstreamId }),
    ...(attempt.isByok === undefined ? {} : { isByok: attempt.isByok }),
  }
}

const RECORDED_PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'max_output_tokens',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'parallel_tool_calls',
  'tool_choice',
  'reasoning',
  'service_tier',
  'truncation',
  'max_tool_calls',
] as const

/** The sampling parameters as sent, by their wire names. */
function parametersOf(call: Call): { readonly [name: string]: unknown } {
  const parameters: Record<string, unknown> = {}
  for (const name of RECORDED_PARAMETERS) if (call.request[name] != null) parameters[name] = call.request[name]
  return parameters
}
