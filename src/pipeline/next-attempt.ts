import type { Call } from '../core/call.ts'
import type { GatewayError } from '../core/error.ts'
import type { ModelRequest } from '../core/request.ts'
import { sleep } from '../lib/sleep.ts'
import { isCredentialFailure, nextStep } from '../router/failover.ts'
import { brokenError, finalError } from '../router/final-error.ts'
import type { PlannedAttempt } from '../router/plan.ts'
import { isLost, ownOf, putAside, takeBack, usedBy, type Route } from './call-route.ts'
import type { CredentialPools } from './credential-pool.ts'

export interface NextAttemptOptions {
  readonly retries: () => boolean
  readonly pools: CredentialPools
  /** The request without the reasoning items a provider refused to read. */
  readonly withoutReasoning: (request: ModelRequest) => ModelRequest
  /** The request with its schemas told instead of enforced. */
  readonly withLooseSchemas: (request: ModelRequest) => ModelRequest
  /** The request without those parameters; the same where it has none of them. */
  readonly withoutParameters: (request: ModelRequest, names: Iterable<string>) => ModelRequest
}

/** After a broken answer only an endpoint that can continue it is chosen next. */
function resumption({ plan: { attempts }, continuation, request }: Route): {
  readonly committed?: true
  readonly resume?: true
  readonly skip?: ReadonlySet<number>
} {
  if (continuation?.original === undefined) return {}
  return { committed: true, resume: true, skip: new Set(attempts.flatMap(({ endpoint }, n) => (continuation.suits(endpoint, request) ? [] : [n]))) }
}

/** The provider could not read the reasoning of an earlier turn: ask the same endpoint once without it. */
function stripReasoning(options: NextAttemptOptions, call: Call, route: Route, error: GatewayError): boolean {
  if (error.details.metadata?.['strip_reasoning'] !== true || route.strippedReasoning) return false
  route.strippedReasoning = true
  const stripped = options.withoutReasoning(route.request)
  const readable = new Set(stripped.input)
  call.trace.unreadable = new Set([...(call.trace.unreadable ?? []), ...route.request.input.filter((item) => !readable.has(item))])
  route.request = stripped
  call.trace.params['reasoning_dropped'] = 'the provider could not read the encrypted reasoning of an earlier turn'
  return true
}

/** The provider cannot make a grammar of the caller's schemas: from now on this endpoint gets them as instructions, unless the caller wants them enforced. */
function loosensSchemas(
  options: NextAttemptOptions,
  { request, trace }: Call,
  route: Route,
  { endpoint }: PlannedAttempt,
  error: GatewayError,
): boolean {
  if (error.details.metadata?.['loosen_schemas'] !== true || trace.unenforcedSchemas?.has(endpoint.id) === true) return false
  if (request.provider?.require_parameters === true || options.withLooseSchemas(route.request) === route.request) return false
  trace.unenforcedSchemas ??= new Set()
  trace.unenforcedSchemas.add(endpoint.id)
  trace.params['schemas'] = `told in the prompt and not enforced: ${endpoint.providerName} can make no grammar of them`
  return true
}

/** The provider does not stream such an answer: from now on this endpoint is asked for whole ones, which are told in one piece. */
function asksWhole({ trace }: Call, { endpoint }: PlannedAttempt, error: GatewayError): boolean {
  if (error.details.metadata?.['ask_whole'] !== true || trace.unstreamed?.has(endpoint.id) === true) return false
  trace.unstreamed ??= new Set()
  trace.unstreamed.add(endpoint.id)
  return true
}

/** The provider refuses an optional parameter: from now on this endpoint does not get it, unless the caller requires it. */
function leavesOut(options: NextAttemptOptions, { request, trace }: Call, route: Route, { endpoint }: PlannedAttempt, error: GatewayError): boolean {
  const name = error.details.metadata?.['refused_parameter']
  if (typeof name !== 'string' || trace.refused?.get(endpoint.id)?.has(name) === true) return false
  if (request.provider?.require_parameters === true || options.withoutParameters(route.request, [name]) === route.request) return false
  trace.refused ??= new Map()
  const names = trace.refused.get(endpoint.id) ?? new Set()
  trace.refused.set(endpoint.id, names.add(name))
  trace.params['refused'] = `${[...names].join(', ')}: left out, ${endpoint.providerName} does not take it`
  return true
}

/** The estimate said that the prompt fits and the provider says that it does not: ask the same endpoint once with a shorter one, where that is allowed. */
async function shortens(call: Call, route: Route, { endpoint }: PlannedAttempt, error: GatewayError): Promise<boolean> {
  const { adaptation, continuation, request } = route
  if (error.errorType !== 'context_length_exceeded' || continuation?.original !== undefined || call.trace.tooLong?.has(endpoint.id) === true)
    return false
  if (adaptation === undefined || endpoint.contextLength > adaptation.shortensUpTo || !endpoint.outputModalities.has('text')) return false
  call.trace.tooLong ??= new Set()
  call.trace.tooLong.add(endpoint.id)
  return (await adaptation.adapt(call, request, endpoint, true)) !== request
}

/**
 * The credential of the last attempt if the failure was about it, even if it is good for other calls, because it would be refused here again. An
 * attempt that was not sent (its endpoint is full) used none; then it is the last one known from earlier attempts.
 */
function refusedCredential({ trace }: Call, { tries }: Route, error: GatewayError): string | undefined {
  if (tries.at(-1)?.sent === false) return undefined
  return isCredentialFailure(error) || error.errorType === 'rate_limit_exceeded' ? trace.attempts.at(-1)?.credentialId : undefined
}

/** Waits as the retry discipline asks and returns the next attempt. Throws the caller's error if there is none. */
export async function nextAttempt(options: NextAttemptOptions, call: Call, route: Route, index: number, error: GatewayError): Promise<number> {
  const { attempts } = route.plan
  const attempt = attempts[index]!
  if (stripReasoning(options, call, route, error) || loosensSchemas(options, call, route, attempt, error)) return index
  if (asksWhole(call, attempt, error) || leavesOut(options, call, route, attempt, error) || (await shortens(call, route, attempt, error)))
    return index
  const refused = refusedCredential(call, route, error)
  if (refused !== undefined) putAside(route, attempt, refused, error.details.credentialDead === true)
  const resumed = resumption(route)
  const hasSpare = (of: PlannedAttempt): boolean => options.pools.hasOther(of.endpoint.connection, usedBy(route, of), ownOf(route, of))
  const step = nextStep({
    ...resumed,
    attempts,
    tries: route.tries,
    now: call.clock.monotonic(),
    random: call.random,
    retries: options.retries(),
    spareCredentials: resumed.skip?.has(index) !== true && hasSpare(attempt) ? 1 : 0,
    repeatable: (n) => !isLost(route, attempts[n]!, call.trace.attempts) || hasSpare(attempts[n]!),
    ...(route.beginBy === undefined ? {} : { beginBy: route.beginBy }),
  })
  if (step.kind === 'fail') {
    const original = route.continuation?.original
    throw original === undefined ? finalError(attempts, route.tries) : brokenError(attempts, route.tries, original)
  }
  const following = step.kind === 'next' ? step.index : index
  const waits =
    step.kind === 'next'
      ? route.tries.some((one) => one.index === step.index)
      : !step.rotate && (error.errorType === 'rate_limit_exceeded' || isCredentialFailure(error))
  if (waits) takeBack(route, attempts[following]!, call.trace.attempts)
  if (step.delayMs > 0) await sleep(step.delayMs, call.signal)
  return following
}
