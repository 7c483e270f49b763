import type { AttemptRecord, Call, Handler } from '../core/call.ts'
import { servedModel } from '../core/endpoint-names.ts'
import { asGatewayError, GatewayError, isGatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Credential } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'
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
import { WordlessTurns } from './wordless-turns.ts'

export interface FallbackOptions extends AttemptDependencies, PlanningOptions, NextAttemptOptions {
  /** Asked before every attempt whether it may be made, and with how much output. */
  readonly beforeAttempt?: Limits['beforeAttempt']
  /** Asked for what an attempt takes of the limits its endpoint has. */
  readonly takeShare?: TakeShare
}

/** From so much on, and so much of the whole, a caller's pauses tell more of him than of the endpoint. */
const HELD_UP_MS = 250
const HELD_UP_SHARE = 0.1

/**
 * Plans the call and tries its endpoints in order. Until the first content event nothing is passed on, so that a failure is invisible and
 * the next endpoint can serve; after it a failure is the caller's to see.
 */
export function createFallback(options: FallbackOptions): Handler {
  return async function* fallback(call) {
    // Of an answer before this one, in a call of several.
    call.trace.answerCost = undefined
    const route = await planCall(options, call)
    const silence = new WordlessTurns(call, route)
    let index = 0
    for (;;) {
      const attempt = route.plan.attempts[index]!
      const outcome = new Outcome(call.clock.monotonic(), route.buffers)
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
        settleSuccess(options, call, route, input, outcome.usage)
        return
      } catch (thrown) {
        // Others need not wait for its place while the call waits for its next try.
        outcome.release()
        const error = silence.notice(asGatewayError(thrown), outcome)
        if (call.signal.aborted) {
          options.health.abandoned(attempt.endpoint.id)
          leaveUnread(call, outcome)
          throw error
        }
        // What ended before it was sent (no usable credential) or without a word (a filter) has its reason, too.
        if (outcome.record !== undefined) outcome.record.error ??= { type: error.errorType, message: error.message }
        // What stopped an attempt before it was made (a budget, no usable credential) says nothing of its endpoint.
        if (silence.isOf(outcome)) options.health.abandoned(attempt.endpoint.id)
        else if (outcome.sent) settleFailure(options, attempt, outcome.credential, error)
        const status = outcome.sent ? call.trace.attempts.at(-1)?.status : undefined
        const tried: Try = { index, startedAt: outcome.startedAt, status, error, sent: outcome.sent }
        const failure = afterCommit(call, route, tried, outcome)
        // An endpoint that had begun in time has used up none of the time to begin.
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
 * What a failure means for the attempts after it. Throws what the caller is told when it has seen a part of the answer and nobody may go
 * on with it: always the failure that broke the answer, never one of those who were to continue it.
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
  // The request itself was good enough for the first endpoint: what this one refuses is the beginning of the answer.
  return continued && error.failover === 'never' && error.details.source === 'provider' ? error.with({ failover: 'next' }) : error
}

/** A caller who leaves pays for what was written for him, though it was held back: else leaving would be a way to have models work for nothing. */
function leaveUnread({ trace, signal }: Call, { begun, committed, held, record }: Outcome): void {
  if (committed || record === undefined || isGatewayError(signal.reason)) return
  // Of an answer in several batches some may have been made.
  if (!begun && record.firstTokenMs === undefined) return
  const text = held.flatMap((events) => events.map((event) => ('delta' in event ? event.delta : ''))).join('')
  trace.served = record
  trace.unread = Math.ceil(textTokens(text))
}

/** The first words of an attempt go out: it is the one that serves. */
function serves(call: Call, { continuation }: Route, record: AttemptRecord, { outgrown }: Outcome): void {
  if (outgrown && call.stream) call.trace.params['stream_failure'] = 'the answer outgrew what is held back and was streamed from there on'
  if (continuation?.original !== undefined) {
    call.trace.params['stream_failure'] = `continued by ${record.endpoint.providerName} after ${continuation.chars} characters`
  }
  call.trace.served = record
}

/** Everything decided before the first byte goes out: what may be spent, limits, credential, and the record that is kept of it. */
async function prepare(
  options: FallbackOptions,
  call: Call,
  route: Route,
  index: number,
  attempt: PlannedAttempt,
  outcome: Outcome,
): Promise<AttemptInput> {
  const { endpoint } = attempt
  // Mostly there are no limits, and nothing is waited for.
  const admitting = options.beforeAttempt?.(call, attempt, route.continuation?.spent)
  const bound = admitting === undefined ? undefined : await admitting
  const taking = options.takeShare?.(call, attempt, { estimate: route.plan.estimate, health: options.health })
  if (taking !== undefined) outcome.share = await taking
  const asked = requestOf(route, bound?.maxOutputTokens)
  const held = call.trace.unheld?.has(endpoint.id) === true ? options.withLooseSchemas(asked) : asked
  const refused = call.trace.refused?.get(endpoint.id)
  const request = refused === undefined ? held : options.withoutParameters(held, refused)
  const tooLong = call.trace.tooLong?.has(endpoint.id) === true
  const { adaptation } = route
  const suited = adaptation !== undefined && (attempt.adapt || tooLong) ? await adaptation.adapt(call, request, endpoint, tooLong) : request
  const limits = limitsOf(options, call, route, index)
  const record: AttemptRecord = { endpoint, status: 0, startedAt: call.clock.now(), ...(attempt.isByok ? { isByok: true } : {}) }
  call.trace.attempts.push(record)
  outcome.record = record
  const credential = pickCredential(options, route, index)
  outcome.credential = credential
  if (credential !== undefined) record.credentialId = credential.id
  options.health.started(endpoint.id)
  outcome.sent = true
  const whole = call.trace.whole?.has(endpoint.id) === true
  return { call, request: suited, endpoint, credential, limits, record, whole, maxOutputTokens: bound?.maxOutputTokens }
}

/** What is asked of the next endpoint: the call's request, or the rest of a broken answer, within what may be spent. */
function requestOf({ request, continuation }: Route, bound: number | undefined): ModelRequest {
  const wanted = continuation?.original === undefined ? request : continuation.request(request)
  return bound === undefined ? wanted : { ...wanted, max_output_tokens: Math.min(bound, wanted.max_output_tokens ?? Infinity) }
}

function limitsOf(options: FallbackOptions, call: Call, route: Route, index: number): AttemptLimits {
  const { attempts } = route.plan
  const { endpoint } = attempts[index]!
  const failed = failedIndexes(route.tries)
  const other = hasAlternative(attempts, index, failed)
  const whole = call.trace.whole?.has(endpoint.id) === true
  const own = attemptLimits({ endpoint, request: route.request, whole, hasAlternative: other, health: options.health.view() })
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
  // Many endpoints have one key or none: only where there is a choice the session is looked up.
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

/** Of an answer that waited for its caller nobody knows how fast it was written: meanwhile the upstream wrote on, or had to wait, too. */
const isHeldUp = ({ heldMs = 0, durationMs = 0 }: AttemptRecord): boolean => heldMs >= HELD_UP_MS && heldMs >= durationMs * HELD_UP_SHARE

function settleSuccess(options: FallbackOptions, call: Call, route: Route, { record, credential }: AttemptInput, usage: Usage | undefined): void {
  const { endpoint } = record
  if (credential !== undefined) options.pools.served(endpoint.connection, credential)
  options.health.success(endpoint.id, {
    ...(record.firstTokenMs === undefined ? {} : { firstTokenMs: record.firstTokenMs }),
    ...(record.durationMs === undefined || isHeldUp(record) ? {} : { durationMs: record.durationMs }),
    ...(usage === undefined ? {} : { tokens: usage.outputTokens }),
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
  // What one caller's key meets (its limits, its bill, models its account may not use) says nothing of the endpoint, nor does a limit of one
  // key of the pool while others serve.
  const ofItsKey = isByok
    ? limited || isCredentialFailure(error) || error.errorType === 'not_found'
    : limited && credential !== undefined && options.pools.hasLive(endpoint.connection)
  if (ofItsKey) options.health.abandoned(endpoint.id)
  else options.health.failure(endpoint.id, error)
}
