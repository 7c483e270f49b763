import type { AttemptRecord, Call, Handler } from '../core/call.ts'
import { asGatewayError, GatewayError, isGatewayError } from '../core/error.ts'
import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { Credential } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { textTokens } from '../router/estimate.ts'
import { isCredentialFailure, type Try } from '../router/failover.ts'
import { brokenError } from '../router/final-error.ts'
import { attemptLimits, beginDeadline, hasAlternative, withinDeadline, type AttemptLimits } from '../router/limits.ts'
import type { PlannedAttempt } from '../router/plan.ts'
import { runAttempt, type AttemptDependencies, type AttemptInput } from './attempt.ts'
import { ownOf, planCall, usedKey, type PlanningOptions, type Route } from './call-route.ts'
import type { Limits } from './limits.ts'
import { nextAttempt, type NextAttemptOptions } from './next-attempt.ts'
import { AnswerBuffer } from './stream-failure.ts'

export interface FallbackOptions extends AttemptDependencies, PlanningOptions, NextAttemptOptions {
  /** Asked before every attempt whether it may be made, and with how much output. */
  readonly beforeAttempt?: Limits['beforeAttempt']
}

/** More start events than any model sends before its first word: an upstream that goes on like this is broken. */
const MAX_HELD_EVENTS = 4_096

/** How far an attempt came. */
interface Outcome {
  committed: boolean
  /** The endpoint began to answer, whether the caller has seen it or not. */
  begun: boolean
  sent: boolean
  readonly startedAt: number
  credential: Credential | undefined
  /** What is held back, and of whom. */
  held: { readonly record: AttemptRecord; readonly events: readonly (readonly ModelEvent[])[] } | undefined
}

/**
 * Plans the call and tries its endpoints in order. Until the first content event nothing is passed on, so that a failure is invisible and
 * the next endpoint can serve; after it a failure is the caller's to see.
 */
export function createFallback(options: FallbackOptions): Handler {
  return async function* fallback(call) {
    // Of an answer before this one, in a call of several.
    call.trace.answerCost = undefined
    const route = await planCall(options, call)
    let index = 0
    for (;;) {
      const attempt = route.plan.attempts[index]!
      const outcome: Outcome = { committed: false, begun: false, sent: false, startedAt: call.clock.now(), credential: undefined, held: undefined }
      try {
        const events = tryAttempt(options, call, route, index, attempt, outcome)
        yield* route.continuation === undefined ? events : route.continuation.through(events)
        return
      } catch (thrown) {
        const error = asGatewayError(thrown)
        if (call.signal.aborted) {
          options.health.abandoned(attempt.endpoint.id)
          leaveUnread(call, outcome)
          throw error
        }
        // What stopped an attempt before it was made (a budget, no usable credential) says nothing of its endpoint.
        if (outcome.sent) settleFailure(options, attempt, outcome.credential, error)
        const status = outcome.sent ? call.trace.attempts.at(-1)?.status : undefined
        const tried: Try = { index, startedAt: outcome.startedAt, status, error }
        const failure = afterCommit(call, route, attempt, tried, outcome)
        // An endpoint that had begun in time has used up none of the time to begin.
        if (outcome.begun) route.beginBy = undefined
        route.tries.push({ ...tried, error: failure })
        index = await nextAttempt(options, call, route, index, failure)
      }
    }
  }
}

/**
 * What a failure means for the attempts after it. Throws what the caller is told when it has seen a part of the answer and nobody may go
 * on with it: always the failure that broke the answer, never one of those who were to continue it.
 */
function afterCommit(call: Call, route: Route, attempt: PlannedAttempt, tried: Try, outcome: Outcome): GatewayError {
  const { continuation } = route
  const { error } = tried
  if (continuation === undefined) {
    if (outcome.committed) throw brokenError(route.plan.attempts, [...route.tries, tried], error)
    if (outcome.begun) call.trace.params['stream_failure'] = 'an answer that broke while it was held back was left for another attempt'
    return error
  }
  const continued = continuation.original !== undefined
  if (!outcome.committed && !continued) return error
  if (outcome.committed) continuation.broke(error, route.request, attempt)
  if (!continuation.canContinue(route.request)) throw continuation.original ?? error
  // The request itself was good enough for the first endpoint: what this one refuses is the beginning of the answer.
  return continued && error.failover === 'never' && error.details.source === 'provider' ? error.with({ failover: 'next' }) : error
}

/** A caller who leaves pays for what was written for him, though it was held back: else leaving would be a way to have models work for nothing. */
function leaveUnread({ trace, signal }: Call, { begun, committed, held }: Outcome): void {
  if (!begun || committed || held === undefined || isGatewayError(signal.reason)) return
  const text = held.events.flatMap((events) => events.map((event) => ('delta' in event ? event.delta : ''))).join('')
  trace.served = held.record
  trace.unread = Math.ceil(textTokens(text))
}

async function* tryAttempt(
  options: FallbackOptions,
  call: Call,
  route: Route,
  index: number,
  attempt: PlannedAttempt,
  outcome: Outcome,
): AsyncGenerator<readonly ModelEvent[], void> {
  const { endpoint } = attempt
  const input = await prepare(options, call, route, index, attempt, outcome)
  const { record } = input
  const { continuation } = route
  const continues = continuation?.original !== undefined
  const buffer = route.buffers ? new AnswerBuffer() : undefined
  let held: (readonly ModelEvent[])[] = []
  outcome.held = { record, events: held }
  let heldEvents = 0
  let last: ModelEvent | undefined
  for await (const events of runAttempt(options, input)) {
    last = events[events.length - 1]
    const first = events[0]
    if (first?.type === 'response-start' && first.upstreamId !== undefined) record.upstreamId = first.upstreamId
    if (outcome.committed) yield continues ? continuation.settle(call, events) : events
    else {
      held.push(events)
      heldEvents += events.length
      if (!outcome.begun) {
        if (isWordless(events)) throw stopped(record, last)
        outcome.begun = events.some(commits)
      }
      if (heldEvents > MAX_HELD_EVENTS && !outcome.begun)
        throw new GatewayError('provider_unavailable', `${endpoint.providerName} sends events without content`, { source: 'provider' })
      if (buffer === undefined ? !outcome.begun : !buffer.take(events)) continue
      outcome.committed = true
      noteRescue(call, route, endpoint.providerName, buffer)
      call.trace.served = record
      const batch = held.length === 1 ? events : held.flat()
      held = []
      outcome.held = undefined
      yield continues ? continuation.settle(call, batch) : batch
    }
  }
  settleSuccess(options, call, route, record, last)
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
  const bound = await options.beforeAttempt?.(call, attempt, route.continuation?.spent)
  const request = requestOf(route, bound?.maxOutputTokens)
  const tooLong = route.tooLong?.has(endpoint.id) === true
  const { adaptation } = route
  const suited = adaptation !== undefined && (attempt.adapt || tooLong) ? await adaptation.adapt(call, request, endpoint, tooLong) : request
  const limits = limitsOf(options, call, route, index)
  const record: AttemptRecord = { endpoint, status: 0, startedAt: call.clock.now(), ...(attempt.isByok ? { isByok: true } : {}) }
  call.trace.attempts.push(record)
  const credential = pickCredential(options, route, attempt)
  outcome.credential = credential
  if (credential !== undefined) record.credentialId = credential.id
  options.health.started(endpoint.id)
  outcome.sent = true
  return { call, request: suited, endpoint, credential, limits, record, maxOutputTokens: bound?.maxOutputTokens }
}

/** What is asked of the next endpoint: the call's request, or the rest of a broken answer, within what may be spent. */
function requestOf({ request, continuation }: Route, bound: number | undefined): ModelRequest {
  const wanted = continuation?.original === undefined ? request : continuation.request(request)
  return bound === undefined ? wanted : { ...wanted, max_output_tokens: Math.min(bound, wanted.max_output_tokens ?? Infinity) }
}

function noteRescue({ trace, stream }: Call, { continuation }: Route, providerName: string, buffer: AnswerBuffer | undefined): void {
  if (buffer?.full === true && stream) trace.params['stream_failure'] = 'the answer outgrew what is held back and was streamed from there on'
  if (continuation?.original !== undefined) trace.params['stream_failure'] = `continued by ${providerName} after ${continuation.chars} characters`
}

/** The provider's filter, or the model itself, ended the answer before its first word. */
const isWordless = (events: readonly ModelEvent[]): boolean => {
  const last = events[events.length - 1]
  return last?.type === 'response-end' && (last.reason === 'content_filter' || last.reason === 'refusal') && !events.some(isContentEvent)
}

/** An answer without a word helps nobody: another model may answer, and if none does the caller is told why. */
function stopped({ endpoint, status }: AttemptRecord, last: ModelEvent | undefined): GatewayError {
  const end = last?.type === 'response-end' ? last : undefined
  const [type, what] =
    end?.reason === 'refusal'
      ? (['refusal', 'The model refused to answer'] as const)
      : (['content_policy_violation', 'The answer was stopped by a filter'] as const)
  return new GatewayError(type, `${endpoint.providerName}: ${what} before its first word`, {
    source: 'provider',
    providerName: endpoint.providerName,
    upstreamStatus: status,
    ...(end?.nativeReason === undefined ? {} : { providerCode: end.nativeReason }),
  })
}

/** Content commits an answer; so does an end without content, which the decoder has found to be a legal answer. */
const commits = (event: ModelEvent): boolean => event.type === 'response-end' || isContentEvent(event)

function limitsOf(options: FallbackOptions, call: Call, route: Route, index: number): AttemptLimits {
  const { attempts } = route.plan
  const { endpoint } = attempts[index]!
  const own = attemptLimits({ endpoint, request: route.request, hasAlternative: hasAlternative(attempts, index), health: options.health.view() })
  if (route.beginBy === undefined) {
    route.beginBy = beginDeadline({ request: route.request, endpoint, firstLimits: own, startedAt: call.clock.now() })
    return own
  }
  const fitted = withinDeadline(own, route.beginBy - call.clock.now(), attempts.length - 1 - index)
  if (fitted === undefined) throw new GatewayError('timeout', 'No endpoint answered within the time of the call')
  return fitted
}

function pickCredential(options: FallbackOptions, route: Route, attempt: PlannedAttempt): Credential | undefined {
  const key = usedKey(attempt)
  let used = route.used.get(key)
  if (used === undefined) {
    used = new Set()
    route.used.set(key, used)
  }
  // A retry of the same endpoint may use the same credential again: only dead ones were put aside.
  return options.pools.pick(attempt.endpoint.connection, used, ownOf(route, attempt))
}

function settleSuccess(options: FallbackOptions, call: Call, route: Route, record: AttemptRecord, last: ModelEvent | undefined): void {
  const { endpoint } = record
  const usage = last?.type === 'response-end' ? last.usage : undefined
  options.health.success(endpoint.id, {
    ...(record.firstTokenMs === undefined ? {} : { firstTokenMs: record.firstTokenMs }),
    ...(record.durationMs === undefined ? {} : { durationMs: record.durationMs }),
    ...(usage === undefined ? {} : { tokens: usage.outputTokens }),
  })
  if (route.session === undefined) return
  const manual = call.request.provider?.order != null
  options.sticky.succeeded(route.session, { model: endpoint.model, endpointId: endpoint.id, cachedTokens: usage?.cachedTokens ?? 0 }, manual)
}

function settleFailure(
  options: FallbackOptions,
  { endpoint, isByok }: PlannedAttempt,
  credential: Credential | undefined,
  error: GatewayError,
): void {
  // What one caller's key meets (its limits, its bill) says nothing of the endpoint.
  if (isByok && (error.errorType === 'rate_limit_exceeded' || isCredentialFailure(error))) options.health.abandoned(endpoint.id)
  else options.health.failure(endpoint.id, error)
  if (credential !== undefined) options.pools.report(endpoint.connection, credential, error)
}
