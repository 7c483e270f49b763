import type { AttemptRecord, Call, Handler } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import { asGatewayError, GatewayError, isGatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Credential } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { textTokens } from '../router/estimate.ts'
import { failedIndexes, isCredentialFailure, type Try } from '../router/failover.ts'
import { brokenError } from '../router/final-error.ts'
import { attemptLimits, beginDeadline, countLeft, hasAlternative, withinDeadline, type AttemptLimits } from '../router/limits.ts'
import type { PlannedAttempt } from '../router/plan.ts'
import { Outcome } from './attempt-outcome.ts'
import type { AttemptDependencies, AttemptInput } from './attempt.ts'
import { runBatched } from './batched-attempt.ts'
import { ownOf, planCall, usedBy, type PlanningOptions, type Route } from './call-route.ts'
import type { TakeShare } from './endpoint-limits.ts'
import type { Limits } from './limits.ts'
import { nextAttempt, type NextAttemptOptions } from './next-attempt.ts'
import { checkCalls } from './tool-call-check.ts'
import { WordlessTurns } from './wordless-turns.ts'
import { Written } from './written.ts'

export interface FallbackOptions extends AttemptDependencies, PlanningOptions, NextAttemptOptions {
  /** Asked before every attempt whether it may be made, and with how much output. */
  readonly beforeAttempt?: Limits['beforeAttempt']
  /** Takes what an attempt needs of its endpoint's limits. */
  readonly takeShare?: TakeShare
}

/** From this time on, and this share of the whole, the caller's pauses say more about the caller than about the endpoint. */
const HELD_UP_MS = 250
const HELD_UP_SHARE = 0.1

/**
 * Plans the call and tries its endpoints in order. Nothing is passed on before the first content event, so until then a failure is invisible and the
 * next endpoint can serve; after it, the caller sees the failure.
 */
export function createFallback(options: FallbackOptions): Handler {
  return async function* fallback(call) {
    // May be left from an earlier turn of the call.
    call.trace.answerCost = undefined
    const route = await planCall(options, call)
    const silence = new WordlessTurns(call, route)
    let index = 0
    for (;;) {
      const attempt = route.plan.attempts[index]!
      const outcome = new Outcome(call.clock.monotonic(), route.buffers, call)
      try {
        const input = await prepare(options, call, route, index, attempt, outcome)
        let last: ModelEvent | undefined
        for await (const events of runBatched(options, input)) {
          last = events[events.length - 1]
          const free = outcome.take(events)
          if (free === undefined) continue
          if (call.trace.served !== input.record) serves(call, route, input.record, outcome)
          const shown = route.continuation === undefined ? free : route.continuation.take(call, free)
          if (shown.length > 0) yield shown
        }
        outcome.usage = last?.type === 'response-end' ? last.usage : undefined
        settleSuccess(options, call, route, input, outcome)
        return
      } catch (thrown) {
        // Others should not wait for its place while this call waits for its next try.
        outcome.release()
        const error = silence.notice(asGatewayError(thrown), outcome)
        if (call.signal.aborted) {
          options.health.abandoned(attempt.endpoint.id)
          leaveUnread(call, outcome)
          throw error
        }
        // An attempt that ended before it was sent (no usable credential) or without content (a filter) has its reason noted, too.
        if (outcome.record !== undefined) outcome.record.error ??= { type: error.errorType, message: error.message }
        // What stopped an attempt before it was sent (a budget, no usable credential) says nothing about its endpoint.
        if (silence.isOf(outcome)) options.health.abandoned(attempt.endpoint.id)
        else if (outcome.sent) settleFailure(options, attempt, outcome.credential, error)
        const status = outcome.sent ? call.trace.attempts.at(-1)?.status : undefined
        const tried: Try = { index, startedAt: outcome.startedAt, status, error, sent: outcome.sent }
        const failure = afterCommit(call, route, tried, outcome)
        // An endpoint that began in time has used up nothing of the time allowed for beginning.
        if (outcome.begun) route.beginBy = undefined
        route.tries.push({ ...tried, error: failure })
        const next = await nextAttempt(options, call, route, index, failure).catch((final: unknown) => silence.insteadOf(final))
        if (typeof next !== 'number') {
          yield next
          return
        }
        index = next
      } finally {
        outcome.release()
        route.continuation?.left(call)
      }
    }
  }
}

/**
 * What a failure after the first content means for further attempts. Throws the caller's error if nobody may continue: always the failure that broke
 * the answer, never that of an endpoint which was to continue it.
 */
function afterCommit(call: Call, route: Route, tried: Try, outcome: Outcome): GatewayError {
  const { continuation } = route
  const { error } = tried
  if (continuation === undefined) {
    if (outcome.committed) throw brokenError(route.plan.attempts, [...route.tries, tried], error)
    if (outcome.begun) call.trace.params['stream_failure'] = 'an answer that broke while it was held back was left for another attempt'
    return error
  }
  const continued = continuation.original !== undefined
  if (!outcome.committed && !continued) return error
  if (outcome.committed && outcome.record !== undefined) continuation.broke(error, route.request, outcome.record)
  if (!continuation.canContinue(route.request)) throw brokenError(route.plan.attempts, [...route.tries, tried], continuation.original ?? error)
  // The first endpoint accepted the request itself, so what this one refuses is the beginning of the answer.
  return continued && error.failover === 'never' && error.details.source === 'provider' ? error.with({ failover: 'next' }) : error
}

/** A caller who leaves pays for what was written, even if it was held back: otherwise leaving would get work from models for nothing. */
function leaveUnread({ trace, signal }: Call, { begun, committed, held, record }: Outcome): void {
  if (committed || record === undefined || isGatewayError(signal.reason)) return
  // Of a batched answer some parts may have been made.
  if (!begun && record.firstTokenMs === undefined) return
  const text = held.flatMap((events) => events.map((event) => ('delta' in event ? event.delta : ''))).join('')
  const written = new Written()
  for (const event of held.flat()) written.note(event)
  trace.served = record
  trace.undeliveredPictures = written.pictures
  trace.undeliveredTokens = Math.ceil(textTokens(text))
}

/** The first content of an attempt goes out: this attempt serves the call. */
function serves(call: Call, { continuation }: Route, record: AttemptRecord, { outgrown }: Outcome): void {
  if (outgrown && call.stream) call.trace.params['stream_failure'] = 'the answer outgrew what is held back and was streamed from there on'
  if (continuation?.original !== undefined) {
    call.trace.params['stream_failure'] = `continued by ${record.endpoint.providerName} after ${continuation.chars} characters`
  }
  call.trace.served = record
}

/** Everything that is decided before the request is sent: what may be spent, limits, credential, and the record of the attempt. */
async function prepare(
  options: FallbackOptions,
  call: Call,
  route: Route,
  index: number,
  attempt: PlannedAttempt,
  outcome: Outcome,
): Promise<AttemptInput> {
  const { endpoint } = attempt
  // Usually there are no limits and nothing to wait for.
  const admitting = options.beforeAttempt?.(call, attempt, route.continuation?.spent)
  const bound = admitting === undefined ? undefined : await admitting
  const taking = options.takeShare?.(call, attempt, { estimate: route.plan.estimate, health: options.health })
  if (taking !== undefined) outcome.share = await taking
  const base = requestOf(route, bound?.maxOutputTokens)
  const loosened = call.trace.unenforcedSchemas?.has(endpoint.id) === true ? options.withLooseSchemas(base) : base
  const refused = call.trace.refused?.get(endpoint.id)
  const request = refused === undefined ? loosened : options.withoutParameters(loosened, refused)
  const tooLong = call.trace.tooLong?.has(endpoint.id) === true
  const { adaptation } = route
  const suited = adaptation !== undefined && (attempt.adapt || tooLong) ? await adaptation.adapt(call, request, endpoint, tooLong) : request
  outcome.calls = checkCalls(suited)
  const limits = limitsOf(options, call, route, index)
  const record: AttemptRecord = { endpoint, status: 0, startedAt: call.clock.now(), ...(attempt.isByok ? { isByok: true } : {}) }
  call.trace.attempts.push(record)
  outcome.record = record
  const credential = pickCredential(options, route, index)
  outcome.credential = credential
  if (credential !== undefined) record.credentialId = credential.id
  options.health.started(endpoint.id)
  outcome.sent = true
  const unstreamed = call.trace.unstreamed?.has(endpoint.id) === true
  return { call, request: suited, endpoint, credential, limits, record, whole: unstreamed, maxOutputTokens: bound?.maxOutputTokens }
}

/** What the next endpoint is asked: the call's request, or the rest of a broken answer, within what may be spent. */
function requestOf({ request, continuation }: Route, bound: number | undefined): ModelRequest {
  const wanted = continuation?.original === undefined ? request : continuation.request(request)
  return bound === undefined ? wanted : { ...wanted, max_output_tokens: Math.min(bound, wanted.max_output_tokens ?? Infinity) }
}

function limitsOf(options: FallbackOptions, call: Call, route: Route, index: number): AttemptLimits {
  const { attempts } = route.plan
  const { endpoint } = attempts[index]!
  const failed = failedIndexes(route.tries)
  const other = hasAlternative(attempts, index, failed)
  const unstreamed = call.trace.unstreamed?.has(endpoint.id) === true
  const own = attemptLimits({ endpoint, request: route.request, whole: unstreamed, hasAlternative: other, health: options.health.view() })
  if (route.beginBy === undefined) {
    route.beginBy = beginDeadline({ request: route.request, endpoint, firstLimits: own, startedAt: call.clock.monotonic() })
    return own
  }
  const fitted = withinDeadline(own, route.beginBy - call.clock.monotonic(), countLeft(attempts, index, failed))
  if (fitted === undefined) throw new GatewayError('timeout', 'No endpoint answered within the time of the call')
  return fitted
}

function pickCredential({ pools }: FallbackOptions, route: Route, index: number): Credential | undefined {
  const { session, plan } = route
  const attempt = plan.attempts[index]!
  const { endpoint } = attempt
  // Many endpoints have one key or none; the session is looked up only if there is a choice.
  const stays =
    endpoint.connection.credentials.length > 1 && session !== undefined && (session.explicit || session.pinned(servedModel(endpoint)) !== undefined)
  const used = usedBy(route, attempt)
  const own = ownOf(route, attempt)
  try {
    return pools.pick(endpoint.connection, used, own, stays ? session.seed : undefined)
  } catch (error) {
    if (own !== undefined || hasAlternative(plan.attempts, index, failedIndexes(route.tries))) throw error
    const again = pools.pickDead(endpoint.connection, used)
    if (again === undefined) throw error
    return again
  }
}

/** If the caller held an answer up, nobody knows how fast it was written: the upstream may have written on, or had to wait. */
const isHeldUp = ({ heldMs = 0, durationMs = 0 }: AttemptRecord): boolean => heldMs >= HELD_UP_MS && heldMs >= durationMs * HELD_UP_SHARE

function settleSuccess(options: FallbackOptions, call: Call, route: Route, { record, credential }: AttemptInput, { usage, calls }: Outcome): void {
  const { endpoint } = record
  const badToolCall = calls?.bad
  if (credential !== undefined) options.pools.served(endpoint.connection, credential)
  options.health.success(endpoint.id, {
    ...(record.firstTokenMs === undefined ? {} : { firstTokenMs: record.firstTokenMs }),
    ...(record.durationMs === undefined || isHeldUp(record) ? {} : { durationMs: record.durationMs }),
    ...(usage === undefined ? {} : { tokens: usage.outputTokens }),
    ...(badToolCall === undefined ? {} : { badToolCall }),
  })
  if (route.session === undefined) return
  const manual = call.request.provider?.order != null
  options.sticky.succeeded(route.session, { model: servedModel(endpoint), endpointId: endpoint.id, cachedTokens: usage?.cachedTokens ?? 0 }, manual)
}

function settleFailure(
  options: FallbackOptions,
  { endpoint, isByok }: PlannedAttempt,
  credential: Credential | undefined,
  error: GatewayError,
): void {
  if (credential !== undefined) options.pools.report(endpoint.connection, credential, error)
  const limited = error.errorType === 'rate_limit_exceeded'
  // What a caller's own key runs into (its limits, its bill, models its account may not use) says nothing about the endpoint. Nor does a limit of one
  // key of the pool while others serve.
  const ofItsKey = isByok
    ? limited || isCredentialFailure(error) || error.errorType === 'not_found'
    : limited && credential !== undefined && options.pools.hasLive(endpoint.connection)
  if (ofItsKey) options.health.abandoned(endpoint.id)
  else options.health.failure(endpoint.id, error)
}
