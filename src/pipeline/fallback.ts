import type { AttemptRecord, Call, Handler, StreamFailure } from '../core/call.ts'
import type { Catalog, Pricing } from '../core/endpoint.ts'
import { asGatewayError, GatewayError } from '../core/error.ts'
import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { Cost } from '../core/generation.ts'
import type { Credential } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Usage } from '../core/usage.ts'
import { sleep } from '../lib/sleep.ts'
import { finalError, isCredentialFailure, nextStep, type Try } from '../router/failover.ts'
import type { Health } from '../router/health.ts'
import { attemptLimits, beginDeadline, hasAlternative, withinDeadline, type AttemptLimits } from '../router/limits.ts'
import { planRoute, type Plan, type PlannedAttempt, type RoutingDefaults } from '../router/plan.ts'
import type { Sticky, StickySession } from '../router/sticky.ts'
import { runAttempt, type AttemptDependencies, type AttemptInput } from './attempt.ts'
import type { CredentialPools } from './credential-pool.ts'
import type { Limits } from './limits.ts'
import type { OwnCredentials } from './own-credentials.ts'
import { AnswerBuffer, Continuation } from './stream-failure.ts'

export interface FallbackOptions extends AttemptDependencies {
  /** The current snapshot; replaced as a whole on reload. */
  readonly catalog: () => Catalog
  readonly defaults: () => RoutingDefaults
  readonly retries: () => boolean
  /** For calls that do not say. Default `fail`. */
  readonly streamFailure?: () => StreamFailure
  /** Money of a usage at an endpoint's prices: an answer of several endpoints is paid to each. */
  readonly costOf: (usage: Usage, pricing: Pricing) => Cost
  readonly health: Health
  readonly sticky: Sticky
  readonly pools: CredentialPools
  /** The request without the reasoning items a provider refused to read. */
  readonly withoutReasoning: (request: ModelRequest) => ModelRequest
  /** Asked before every attempt whether it may be made, and with how much output. */
  readonly beforeAttempt?: Limits['beforeAttempt']
  /** The caller's own provider keys; undefined when there are none. */
  readonly ownCredentials?: (call: Call) => OwnCredentials | undefined
}

/** More start events than any model sends before its first word: an upstream that goes on like this is broken. */
const MAX_HELD_EVENTS = 4_096

/** What one call accumulates while it is being tried. */
interface Route {
  readonly plan: Plan
  readonly session: StickySession | undefined
  readonly tries: Try[]
  readonly own: OwnCredentials | undefined
  /** Credentials used so far, by provider; own keys apart. */
  readonly used: Map<string, Set<string>>
  request: ModelRequest
  strippedReasoning: boolean
  beginBy: number | undefined
  readonly buffers: boolean
  /** For callers who opted into continuation. */
  readonly continuation: Continuation | undefined
}

/** How far an attempt came. */
interface Outcome {
  committed: boolean
  /** The endpoint began to answer, whether the caller has seen it or not. */
  begun: boolean
  sent: boolean
  readonly startedAt: number
  credential: Credential | undefined
}

/**
 * Plans the call and tries its endpoints in order. Until the first content event nothing is passed on, so that a failure is invisible and
 * the next endpoint can serve; after it a failure is the caller's to see.
 */
export function createFallback(options: FallbackOptions): Handler {
  return async function* fallback(call) {
    const route = await planCall(options, call)
    let index = 0
    for (;;) {
      const attempt = route.plan.attempts[index]!
      const outcome: Outcome = { committed: false, begun: false, sent: false, startedAt: call.clock.now(), credential: undefined }
      try {
        const events = tryAttempt(options, call, route, index, attempt, outcome)
        yield* route.continuation === undefined ? events : route.continuation.through(events)
        return
      } catch (thrown) {
        const error = asGatewayError(thrown)
        if (call.signal.aborted) {
          options.health.abandoned(attempt.endpoint.id)
          throw error
        }
        // What stopped an attempt before it was made (a budget, no usable credential) says nothing of its endpoint.
        if (outcome.sent) settleFailure(options, attempt, outcome.credential, error)
        const failure = afterCommit(call, route, attempt, error, outcome)
        // An endpoint that had begun in time has used up none of the time to begin.
        if (outcome.begun) route.beginBy = undefined
        route.tries.push({ index, startedAt: outcome.startedAt, error: failure })
        index = await nextAttempt(options, call, route, index, failure)
      }
    }
  }
}

/**
 * What a failure means for the attempts after it. Throws what the caller is told when it has seen a part of the answer and nobody may go
 * on with it: always the failure that broke the answer, never one of those who were to continue it.
 */
function afterCommit(call: Call, route: Route, { endpoint }: PlannedAttempt, error: GatewayError, outcome: Outcome): GatewayError {
  const { continuation } = route
  if (continuation === undefined) {
    if (outcome.committed) throw error
    if (outcome.begun) call.trace.params['stream_failure'] = 'an answer that broke while it was held back was left for another attempt'
    return error
  }
  const continued = continuation.original !== undefined
  if (!outcome.committed && !continued) return error
  if (outcome.committed) continuation.broke(error, route.request, endpoint)
  if (!continuation.canContinue(route.request)) throw continuation.original ?? error
  // The request itself was good enough for the first endpoint: what this one refuses is the beginning of the answer.
  return continued && error.failover === 'never' && error.details.source === 'provider' ? error.with({ failover: 'next' }) : error
}

async function planCall(options: FallbackOptions, call: Call): Promise<Route> {
  const { request } = call
  const defaults = options.defaults()
  const catalog = options.catalog()
  const session = defaults.sticky === false ? undefined : options.sticky.open(call.owner.workspaceId, request, call.sessionId)
  if (session !== undefined) {
    await loadPins(options, catalog, session, call)
  }
  const own = options.ownCredentials?.(call)
  const planned = planRoute({
    request,
    catalog,
    health: options.health.view(),
    random: call.random,
    now: call.clock.now(),
    defaults,
    ...(session === undefined ? {} : { session }),
    ...(own === undefined ? {} : { ownKeys: own.use }),
  })
  call.trace.strategy = planned.strategy
  call.trace.candidates = planned.candidates
  call.trace.rejected = planned.rejected
  Object.assign(call.trace.params, planned.params)
  if (planned.error !== undefined) throw planned.error
  const mode = call.streamFailure ?? options.streamFailure?.() ?? 'fail'
  return {
    plan: preferring(planned, call.preferredEndpoint),
    session,
    own,
    tries: [],
    used: new Map(),
    request,
    strippedReasoning: false,
    beginBy: undefined,
    buffers: mode === 'buffer',
    continuation: mode === 'continue' ? new Continuation(options.costOf) : undefined,
  }
}

/** The plan with the endpoint that served the step before in front, if it is still among the attempts. */
function preferring(plan: Plan, endpointId: string | undefined): Plan {
  const index = endpointId === undefined ? -1 : plan.attempts.findIndex(({ endpoint }) => endpoint.id === endpointId)
  if (index <= 0) return plan
  return { ...plan, attempts: [plan.attempts[index]!, ...plan.attempts.slice(0, index), ...plan.attempts.slice(index + 1)] }
}

/** Only a shared pin store makes this wait. */
async function loadPins(options: FallbackOptions, catalog: Catalog, session: StickySession, call: Call): Promise<void> {
  if (!options.sticky.shared) return
  const models = [call.requestedModel, ...(call.request.models ?? [])].flatMap((name) => catalog.find(name)?.slug ?? [])
  await options.sticky.load(session, models)
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
      if (!outcome.begun) outcome.begun = events.some(commits)
      if (heldEvents > MAX_HELD_EVENTS && !outcome.begun)
        throw new GatewayError('provider_unavailable', `${endpoint.providerName} sends events without content`, { source: 'provider' })
      if (buffer === undefined ? !outcome.begun : !buffer.take(events)) continue
      outcome.committed = true
      noteRescue(call, route, endpoint.providerName, buffer)
      call.trace.served = record
      const batch = held.length === 1 ? events : held.flat()
      held = []
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
  const bound = await options.beforeAttempt?.(call, attempt, route.continuation?.spentUsd)
  const limits = limitsOf(options, call, route, index)
  const record: AttemptRecord = { endpoint, status: 0, startedAt: call.clock.now(), ...(attempt.isByok ? { isByok: true } : {}) }
  call.trace.attempts.push(record)
  const credential = pickCredential(options, route, attempt)
  outcome.credential = credential
  if (credential !== undefined) record.credentialId = credential.id
  options.health.started(endpoint.id)
  outcome.sent = true
  return { call, request: requestOf(route, bound?.maxOutputTokens), endpoint, credential, limits, record }
}

/** What is asked of the next endpoint: the call's request, or the rest of a broken answer, within what may be spent. */
function requestOf({ request, continuation }: Route, bound: number | undefined): ModelRequest {
  const wanted = continuation?.original === undefined ? request : continuation.request(request)
  return bound === undefined ? wanted : { ...wanted, max_output_tokens: Math.min(bound, wanted.max_output_tokens ?? Infinity) }
}

function noteRescue({ trace }: Call, { continuation }: Route, providerName: string, buffer: AnswerBuffer | undefined): void {
  if (buffer?.full === true) trace.params['stream_failure'] = 'the answer outgrew what is held back and was streamed from there on'
  if (continuation?.original !== undefined) trace.params['stream_failure'] = `continued by ${providerName} after ${continuation.chars} characters`
}

/** What a broken answer means for the choice of the next endpoint: only one that can go on with it. */
function resumption({ plan: { attempts }, continuation, request }: Route): {
  readonly committed?: true
  readonly resume?: true
  readonly skip?: ReadonlySet<number>
} {
  if (continuation?.original === undefined) return {}
  return { committed: true, resume: true, skip: new Set(attempts.flatMap(({ endpoint }, n) => (continuation.suits(endpoint, request) ? [] : [n]))) }
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

const usedKey = ({ endpoint, isByok }: PlannedAttempt): string => (isByok ? `own ${endpoint.connection.provider}` : endpoint.connection.provider)

const ownOf = (route: Route, { endpoint, isByok }: PlannedAttempt): readonly Credential[] | undefined =>
  isByok ? route.own?.of(endpoint) : undefined

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

/** The provider could not read the reasoning of an earlier turn: once, the same endpoint is asked without it. */
function stripReasoning(options: FallbackOptions, call: Call, route: Route, error: GatewayError): boolean {
  if (error.details.metadata?.['strip_reasoning'] !== true || route.strippedReasoning) return false
  route.strippedReasoning = true
  route.request = options.withoutReasoning(route.request)
  call.trace.params['reasoning_dropped'] = 'the provider could not read the encrypted reasoning of an earlier turn'
  return true
}

/** The credential of the last attempt, when the failure was about it. */
function refusedCredential({ trace }: Call, error: GatewayError): string | undefined {
  return error.details.credentialDead === true || error.errorType === 'rate_limit_exceeded' ? trace.attempts.at(-1)?.credentialId : undefined
}

/** Waits as the discipline asks and names the attempt to make next; throws the error the caller sees when there is none. */
async function nextAttempt(options: FallbackOptions, call: Call, route: Route, index: number, error: GatewayError): Promise<number> {
  const { attempts } = route.plan
  const attempt = attempts[index]!
  const { connection } = attempt.endpoint
  if (stripReasoning(options, call, route, error)) return index
  const used = route.used.get(usedKey(attempt))
  const refused = refusedCredential(call, error)
  if (refused !== undefined) used?.add(refused)
  const resumed = resumption(route)
  const step = nextStep({
    ...resumed,
    attempts,
    tries: route.tries,
    now: call.clock.now(),
    random: call.random,
    retries: options.retries(),
    spareCredentials:
      resumed.skip?.has(index) !== true && used !== undefined && options.pools.hasOther(connection, used, ownOf(route, attempt)) ? 1 : 0,
    ...(route.beginBy === undefined ? {} : { beginBy: route.beginBy }),
  })
  if (step.kind === 'fail') throw route.continuation?.original ?? finalError(attempts, route.tries)
  // Waiting out a rate limit on the only credential means using it again.
  if (step.kind === 'retry' && !step.rotate && error.errorType === 'rate_limit_exceeded' && refused !== undefined) used?.delete(refused)
  if (step.delayMs > 0) await sleep(step.delayMs, call.signal)
  return step.kind === 'next' ? step.index : index
}
