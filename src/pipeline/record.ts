import type { AttemptRecord, Call, Layer } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Pricing } from '../core/endpoint.ts'
import { asGatewayError, type GatewayError } from '../core/error.ts'
import type { FinishReason, ModelEvent } from '../core/event.ts'
import { isContentEvent } from '../core/event.ts'
import type {
  Cost,
  FinishedGeneration,
  Generation,
  GenerationAttempt,
  GenerationContent,
  GenerationSink,
  GenerationStatus,
} from '../core/generation.ts'
import type { OutputItem } from '../core/item.ts'
import { tierServed } from '../core/service-tier.ts'
import { inputWithoutSecrets, withoutSecrets } from '../core/tool-secrets.ts'
import { ZERO_USAGE, type Usage } from '../core/usage.ts'
import { cutText } from '../lib/cut-text.ts'
import { hasLeft } from './abort-reason.ts'
import { answerCost } from './answer-cost.ts'
import { recordedParameters } from './recorded-parameters.ts'

export interface RecordOptions {
  readonly sink: GenerationSink
  /** Money of a usage at an endpoint's prices. */
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  /** The likely usage of a call that ended without a report: the prompt estimated from the request, the output from what was produced. */
  readonly estimateUsage: (call: Call) => Usage
  /** Called once per finished call, for metrics, the log line and the router's health. */
  readonly onFinished?: (generation: Generation, call: Call) => void
}

interface Ending {
  reason?: FinishReason
  nativeReason?: string
  usage?: Usage
  serviceTier?: string
  firstTokenMs?: number
  error?: GatewayError
  /** The handler ran to its end: it neither threw nor was left by its reader. */
  complete: boolean
}

/** The outermost layer: one generation record per call, whether it succeeded, failed, or its caller went away. */
export function recordLayer(options: RecordOptions): Layer {
  return (next) =>
    async function* record(call) {
      const ending: Ending = { complete: false }
      const startedAt = receptionOf(call)
      try {
        for await (const batch of next(call)) {
          let events = batch
          if (endsWithoutUsage(call, batch)) {
            // The assembler knows the content of the answer once it has been passed on.
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
        if (call.trace.undelivered !== undefined) ending.error ??= call.trace.undelivered
        const finished = finish(options, call, ending, call.clock.monotonic() - startedAt)
        if (ending.error !== undefined) setBroken(call, finished.generation)
        options.sink.record(finished)
        options.onFinished?.(finished.generation, call)
      }
    }
}

/** When the call was received, on the monotonic clock. It was read, checked and admitted since, and its record begins before that. */
const receptionOf = ({ clock, receivedAt }: Call): number => clock.monotonic() - Math.max(0, clock.now() - receivedAt)

/** If the upstream that served the call ends it without usage, the caller, limits and the record get the same estimate. */
function endsWithoutUsage({ trace }: Call, batch: readonly ModelEvent[]): boolean {
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
  if (hasLeft(call.signal)) return 'cancelled'
  if (ending.error !== undefined) return 'failed'
  if (!ending.complete || ending.reason === undefined) return 'cancelled'
  return ending.reason === 'length' || ending.reason === 'content_filter' ? 'incomplete' : 'completed'
}

/** A layer may hold an answer back, so what counts is when the model began. */
function firstContentMs(call: Call, { firstTokenMs }: Ending): number | undefined {
  const begun = startingAttempt(call)
  if (call.stream || begun?.firstTokenMs === undefined) return firstTokenMs
  return Math.min(firstTokenMs ?? Infinity, begun.startedAt - call.receivedAt + begun.firstTokenMs)
}

/** The attempt that began the answer: the one of the first turn, if there are several. */
function startingAttempt({ trace: { attempts, served } }: Call): AttemptRecord | undefined {
  return served && (attempts.find((attempt) => attempt.firstTokenMs !== undefined && attempt.error === undefined) ?? served)
}

function finish(options: RecordOptions, call: Call, ending: Ending, durationMs: number): FinishedGeneration {
  const status = statusOf(call, ending)
  const output = call.output()
  // Zero-completion insurance: an answer without content that did not end well costs the caller nothing. A caller who leaves while content is held
  // back has seen nothing of it, but it was written and is paid for.
  const firstTokenMs = firstContentMs(call, ending)
  const written = status === 'cancelled' && call.trace.served?.firstTokenMs !== undefined
  const insured = status !== 'completed' && status !== 'incomplete' && firstTokenMs === undefined && !written
  const usage = ending.usage ?? (insured ? ZERO_USAGE : (call.trace.spentUsage ?? options.estimateUsage(call)))
  // What was bought for who leaves, or is refused, is paid for all the same: else he could have the gateway buy for as long as he likes.
  const bought = status === 'cancelled' || isOfTheCaller(ending.error) ? call.trace.extrasCost : undefined
  const cost = insured ? (bought ?? NO_COST) : (call.trace.cost ?? answerCost(options.costOf, usage, call.trace))
  const figures = { durationMs: micros(durationMs), firstTokenMs: firstTokenMs === undefined ? undefined : micros(firstTokenMs), usage, cost }
  return { generation: describe(call, ending, status, figures), content: contentOf(call, output) }
}

const OF_THE_REQUEST: ReadonlySet<number> = new Set([400, 413, 422])
/** Limits, rules and preferences, unless it is the provider that says so. */
const OF_THE_GATEWAY: ReadonlySet<number> = new Set([402, 403, 404])

/** Whether what the caller asks for or may spend is why the call failed: that can be repeated at will. */
function isOfTheCaller(error: GatewayError | undefined): boolean {
  if (error === undefined) return false
  return OF_THE_REQUEST.has(error.status) || (OF_THE_GATEWAY.has(error.status) && error.details.source !== 'provider')
}

/** Whole microseconds: further digits are noise, and would make seventeen digits to write. */
const micros = (ms: number): number => Math.round(ms * 1_000) / 1_000

/** A generation while it is written, member by member: copying two dozen optional members together is expensive, and every call makes a record. */
type Draft = { -readonly [K in keyof Generation]: Generation[K] }

interface Figures {
  readonly durationMs: number
  readonly firstTokenMs: number | undefined
  readonly usage: Usage
  readonly cost: Cost
}

function describe(call: Call, ending: Ending, status: GenerationStatus, { durationMs, firstTokenMs, usage, cost }: Figures): Generation {
  const { owner, origin, trace } = call
  const { error } = ending
  const draft: Draft = {
    id: call.id,
    workspaceId: owner.workspaceId,
    keyHash: owner.keyHash,
    keyName: owner.keyName,
    apiType: origin.apiType,
    requestedModel: cutText(call.requestedModel, MAX_MODEL_CHARS),
    streamed: call.stream,
    status,
    httpStatus: status === 'cancelled' ? 499 : (error?.status ?? 200),
    isByok: trace.served?.isByok ?? false,
    startedAt: call.receivedAt,
    endedAt: call.receivedAt + durationMs,
    durationMs,
    usage,
    cost,
    strategy: trace.strategy,
    attempts: trace.attempts.map(attemptOf),
    pipeline: trace.pipeline,
    parameters: recordedParameters(call),
  }
  if (firstTokenMs !== undefined) draft.firstTokenMs = firstTokenMs
  const begun = startingAttempt(call)
  if (begun !== undefined) draft.routerMs = begun.startedAt - call.receivedAt
  if (ending.reason !== undefined) draft.finishReason = ending.reason
  if (ending.nativeReason !== undefined) draft.nativeFinishReason = cutText(ending.nativeReason, MAX_NAME_CHARS)
  if (trace.cached?.status === 'hit') draft.cacheSourceId = trace.cached.sourceId
  if (error !== undefined && status !== 'cancelled') {
    draft.errorType = error.errorType
    draft.errorMessage = error.message
  }
  if (trace.steps !== undefined && trace.steps.length > 0) draft.steps = trace.steps
  const { metadata, trace: labels } = keptRequest(call)
  if (labels !== undefined) draft.trace = labels
  if (metadata != null) draft.metadata = metadata
  setCaller(draft, call)
  setServed(draft, call, ending)
  return draft
}

/** What is kept of a call's request: the redacted one, if guardrails changed it. */
const keptRequest = ({ request, trace }: Call): Call['request'] => trace.keptRequest ?? request

function contentOf(call: Call, output: readonly OutputItem[]): GenerationContent {
  const { input, instructions, tools } = keptRequest(call)
  return {
    input: inputWithoutSecrets(input),
    output,
    ...(instructions == null ? {} : { instructions }),
    ...(tools === undefined ? {} : { tools: tools.map(withoutSecrets) }),
  }
}

/** The caller pays for what was written before the answer broke, and the failure tells what that was. */
function setBroken({ trace }: Call, { usage, cost }: Generation): void {
  trace.brokenUsage = usage
  trace.cost = cost
}

/** Longer than any model's name. Callers may send megabytes instead. */
export const MAX_MODEL_CHARS = 512

/** Longer than ids and reasons of any vendor; gateways between write ids of several hundred. A server may send megabytes instead, which no destination would take. */
const MAX_NAME_CHARS = 1_024

/** Who called, from where, and what was asked for besides the model. */
function setCaller(draft: Draft, call: Call): void {
  const { owner, origin, request, presetId, requestId, sessionId } = call
  const { user } = keptRequest(call)
  const outputType = outputTypeOf(request)
  if (outputType !== undefined) draft.outputType = outputType
  if (presetId !== undefined) draft.presetId = presetId
  if (owner.userId !== undefined) draft.userId = owner.userId
  if (requestId !== undefined) draft.requestId = requestId
  if (sessionId !== undefined) draft.sessionId = sessionId
  if (user != null && user !== '') draft.externalUser = user
  if (origin.title !== undefined) draft.origin = origin.title
  if (origin.referer !== undefined) draft.referer = origin.referer
  if (origin.userAgent !== undefined) draft.userAgent = origin.userAgent
}

function outputTypeOf({ text, modalities }: Call['request']): Generation['outputType'] {
  if (modalities?.includes('image') === true) return 'image'
  const format = text?.format?.type
  return format === 'json_schema' || format === 'json_object' ? 'json' : undefined
}

/** Who served it and in which tier; absent if nobody did. */
function setServed(draft: Draft, { request, trace: { served } }: Call, { serviceTier }: Ending): void {
  if (served !== undefined || serviceTier !== undefined) draft.serviceTier = tierServed(serviceTier, served?.endpoint.tier, request, served?.dropped)
  if (served === undefined) return
  const { endpoint, upstreamId } = served
  const { input, output } = endpoint.pricing
  draft.model = servedModel(endpoint)
  draft.provider = endpoint.provider
  draft.providerName = endpoint.providerName
  draft.upstreamModel = endpoint.upstreamModel
  draft.endpointId = endpoint.id
  if (upstreamId !== undefined) draft.upstreamId = cutText(upstreamId, MAX_NAME_CHARS)
  draft.unitPrices = { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) }
}

function attemptOf(attempt: AttemptRecord): GenerationAttempt {
  const { endpoint, firstTokenMs, durationMs, error, upstreamId, isByok, costUsd } = attempt
  const recorded: { -readonly [K in keyof GenerationAttempt]: GenerationAttempt[K] } = {
    provider: endpoint.provider,
    providerName: endpoint.providerName,
    model: servedModel(endpoint),
    upstreamModel: endpoint.upstreamModel,
    endpointId: endpoint.id,
    status: attempt.status,
    startedAt: attempt.startedAt,
  }
  if (firstTokenMs !== undefined) recorded.firstTokenMs = micros(firstTokenMs)
  if (durationMs !== undefined) recorded.durationMs = micros(durationMs)
  if (error !== undefined) {
    // An abandoned attempt is nobody's failure.
    recorded.errorType = attempt.abandoned === true ? 'cancelled' : error.type
    recorded.errorMessage = error.message
  }
  if (upstreamId !== undefined) recorded.upstreamId = cutText(upstreamId, MAX_NAME_CHARS)
  if (isByok !== undefined) recorded.isByok = isByok
  if (costUsd !== undefined) recorded.costUsd = costUsd
  return recorded
}
