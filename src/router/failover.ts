import { servedModel } from '../core/endpoint-names.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { ErrorType, GatewayError } from '../core/error.ts'

/** One failed try of a planned attempt. */
export interface Try {
  /** Position in `plan.attempts`. */
  readonly index: number
  /** Milliseconds on the monotonic clock. */
  readonly startedAt: number
  /** HTTP status of the answer; undefined if there was none. */
  readonly status?: number | undefined
  readonly error: GatewayError
  /** False if it ended before anything was sent (a budget, no usable credential). */
  readonly sent?: boolean
}

export interface FailoverAttempt {
  readonly endpoint: Endpoint
  readonly isByok?: boolean
  readonly state?: 'healthy' | 'outage' | 'benched' | 'probe'
}

export interface FailoverInput {
  readonly attempts: readonly FailoverAttempt[]
  /** All tries of the call, oldest first; the last one has just failed. */
  readonly tries: readonly Try[]
  /** On the clock of the tries. */
  readonly now: number
  readonly random: () => number
  /** `routing.retries: false` forbids a second try on the same endpoint. Default true. */
  readonly retries?: boolean
  /** Live credentials of the failed endpoint that this call has not used yet. */
  readonly spareCredentials?: number
  /** When the call must have begun to answer, on the same clock (`beginDeadline`). */
  readonly beginBy?: number
  /** The caller has seen a part of the answer: another endpoint may continue only if the caller opted in (`stream_failure: continue`). */
  readonly committed?: boolean
  readonly resume?: boolean
  /** Attempts that cannot continue what the caller has. */
  readonly skip?: ReadonlySet<number>
  /** Whether an attempt can be repeated, because its credential may be dead by now. Default: it can. */
  readonly repeatable?: (index: number) => boolean
}

export type Step =
  | { readonly kind: 'retry'; readonly delayMs: number; /** Use another credential. */ readonly rotate: boolean }
  | { readonly kind: 'next'; readonly index: number; readonly delayMs: number }
  | { readonly kind: 'fail' }

const FAIL: Step = { kind: 'fail' }

/** Limits for one provider: tries per call, and tries within a stretch of time. */
const MAX_TRIES = 6
const BURST = { tries: 4, ms: 3_000 }
/** The same after a provider named a pause. */
const BURST_AFTER_HINT = { tries: 2, ms: 1_500 }
/** Tries on one endpoint if nobody else can serve and it is only busy. */
const MAX_TRIES_BUSY = 4
/** The longest pause that the call itself waits out if nobody else can serve. */
const SHORT_PAUSE_MS = 10_000
const BUSY_BACKOFF_MS = 600
const FAULT_BACKOFF_MS = 120
/** How much of the call's time must be left for another try. */
const LEAST_TRY_MS = 1_000

/** The `failover` of an error, after the rules that hold whatever the table says. */
export type Verdict = 'retry' | 'next' | 'next-model' | 'credential' | 'busy' | 'never'

export function judge(error: GatewayError): Verdict {
  if (isCredentialFailure(error)) return 'credential'
  // A limit of the gateway is the caller's own, unless the error says that another endpoint has other limits.
  if (error.errorType === 'rate_limit_exceeded')
    return error.details.source === 'gateway' && error.details.upstreamStatus === undefined && error.details.failover !== 'next' ? 'never' : 'busy'
  // 401, 402 and 403 of the gateway itself (a budget used up before a fallback) are the same at every endpoint, unless the error says otherwise.
  if (CREDENTIAL_TYPES.has(error.errorType)) return error.details.failover ?? 'never'
  // A silent endpoint is never asked twice, whatever the error says.
  if (error.errorType === 'timeout') return 'next'
  return error.failover
}

export const CREDENTIAL_TYPES: ReadonlySet<ErrorType> = new Set(['authentication', 'payment_required', 'permission_denied'])

/** 401, 402 and 403 of an upstream mean that the credential is useless, not that the caller made a mistake. */
export function isCredentialFailure(error: GatewayError): boolean {
  const { credentialDead, source, upstreamStatus } = error.details
  if (credentialDead !== undefined) return credentialDead
  return CREDENTIAL_TYPES.has(error.errorType) && (source === 'provider' || upstreamStatus !== undefined)
}

/**
 * What to do after a failed try. Pure.
 *
 * 5xx and lost connections: once more on the same endpoint, then the next. Silence and dead credentials: the next. Busy (429): the next; only if
 * nobody else can serve, wait for the hint or back off. Context length and content policy: the next model. The caller's own mistake: nobody.
 */
export function nextStep(input: FailoverInput): Step {
  const last = input.tries.at(-1)
  if (last === undefined) return FAIL
  const committed = input.committed === true
  if (committed && input.resume !== true) return FAIL
  if (!committed && input.beginBy !== undefined && input.beginBy - input.now < LEAST_TRY_MS) return FAIL
  const verdict = judge(last.error)
  if (verdict === 'never') return FAIL
  const next = nextIndexes(input, last.index)
  const others = next.length > 0
  return (
    rotate(input, last, verdict) ??
    retryFault(input, last, verdict, others) ??
    moveOn(input, next) ??
    waitForBusy(input, last, verdict, others) ??
    FAIL
  )
}

const mayRetry = (input: FailoverInput): boolean => input.retries !== false && input.committed !== true

/** A refused or limited credential does not rule out its endpoint while there are others. */
function rotate(input: FailoverInput, last: Try, verdict: Verdict): Step | undefined {
  // What was not sent used no credential.
  if ((input.spareCredentials ?? 0) === 0 || last.sent === false) return undefined
  const tries = providerTries(input, last.index).length
  const allowed = verdict === 'credential' ? tries < MAX_TRIES : verdict === 'busy' && tries < BURST_AFTER_HINT.tries
  return allowed ? { kind: 'retry', delayMs: 0, rotate: true } : undefined
}

function retryFault(input: FailoverInput, last: Try, verdict: Verdict, others: boolean): Step | undefined {
  if (verdict !== 'retry' || !mayRetry(input) || !worthRetrying(input, last, others)) return undefined
  const delayMs = spaced(input, last.index, jitter(FAULT_BACKOFF_MS, input.random), last.error.details.retryAfterMs ?? 0)
  return delayMs === undefined ? undefined : { kind: 'retry', delayMs, rotate: false }
}

/** Skips a provider that must be left alone for longer than the call may wait. */
function moveOn(input: FailoverInput, next: readonly number[]): Step | undefined {
  for (const index of next) {
    const delayMs = spaced(input, index, 0, 0)
    if (delayMs !== undefined) return { kind: 'next', index, delayMs }
  }
  return undefined
}

/**
 * Nobody else can serve, so the busy endpoint that is ready first is waited for. If a budget of the caller's forbids the others, the caller is told
 * at once, unless an own key was busy last, which may still serve.
 */
function waitForBusy(input: FailoverInput, last: Try, verdict: Verdict, others: boolean): Step | undefined {
  if (others || !mayRetry(input) || (verdict !== 'busy' && input.tries.some(isForbidden))) return undefined
  let first: { readonly index: number; readonly delayMs: number } | undefined
  for (const index of new Set(input.tries.map((one) => one.index))) {
    const delayMs = busyDelay(input, index)
    if (delayMs !== undefined && (first === undefined || delayMs < first.delayMs)) first = { index, delayMs }
  }
  if (first === undefined) return undefined
  return first.index === last.index ? { kind: 'retry', delayMs: first.delayMs, rotate: false } : { kind: 'next', ...first }
}

const isForbidden = ({ error, sent }: Try): boolean => sent === false && CREDENTIAL_TYPES.has(error.errorType) && !isCredentialFailure(error)

const isBrieflyBusy = (error: GatewayError): boolean => judge(error) === 'busy' && (error.details.retryAfterMs ?? 0) <= SHORT_PAUSE_MS

const NONE: ReadonlySet<number> = new Set()

/** Attempts with nothing more to expect: they were made, and their last answer was not that they are busy for a moment. */
export function failedIndexes(tries: readonly Try[]): ReadonlySet<number> {
  if (tries.length === 0) return NONE
  const failed = new Set<number>()
  for (const { index, error } of tries) {
    if (isBrieflyBusy(error)) failed.delete(index)
    else failed.add(index)
  }
  return failed
}

/** The rest of a short pause, or of a backoff if none was named; undefined for an endpoint that is not busy, or was busy too often. */
function busyDelay(input: FailoverInput, index: number): number | undefined {
  const { tries, now, random } = input
  // Other credentials that were refused since do not affect the one that is busy.
  const at = tries.findLastIndex((one) => one.index === index && judge(one.error) !== 'credential')
  const error = tries[at]?.error
  if (error === undefined || !isBrieflyBusy(error)) return undefined
  const count = tries.filter((one) => one.index === index && judge(one.error) !== 'credential').length
  const hint = error.details.retryAfterMs
  if (count >= MAX_TRIES_BUSY || isDoneWith(input, index) || input.repeatable?.(index) === false) return undefined
  const wait = hint === undefined ? jitter(BUSY_BACKOFF_MS * 2 ** (count - 1), random) : hint + 0.1 * jitter(hint, random)
  // It had answered by the time the next try began.
  return spaced(input, index, wait - (now - (tries[at + 1]?.startedAt ?? now)), 0)
}

/** Its model refused this very prompt, or its server was silent when it was asked with another key. */
function isDoneWith({ attempts, tries }: FailoverInput, index: number): boolean {
  const endpoint = attempts[index]?.endpoint
  return tries.some((one) => {
    const other = attempts[one.index]?.endpoint
    if (endpoint === undefined || other === undefined) return false
    return one.error.errorType === 'timeout'
      ? other.id === endpoint.id
      : judge(one.error) === 'next-model' && servedModel(other) === servedModel(endpoint)
  })
}

/** One retry after a fault. None for a probe or a benched endpoint, nor if it asked for a pause and others can serve. */
function worthRetrying(input: FailoverInput, last: Try, others: boolean): boolean {
  const faults = input.tries.filter(({ index, error }) => index === last.index && judge(error) === 'retry')
  if (faults.length > 1) return false
  const state = input.attempts[last.index]?.state
  const pause = last.error.details.retryAfterMs ?? 0
  if (others && (state === 'probe' || state === 'benched' || pause > BURST_AFTER_HINT.ms)) return false
  return pause <= SHORT_PAUSE_MS
}

/**
 * The attempts that are still worth making, in order: not tried yet, not of a model that refused this very prompt, not of a server that was silent
 * (another key leads to the same server), and not of a provider that has had its tries.
 */
function nextIndexes(input: FailoverInput, from: number): readonly number[] {
  const { attempts, tries } = input
  const tried = new Set<number>()
  const refusedModels = new Set<string>()
  const silent = new Set<string>()
  for (const { index, error } of tries) {
    const endpoint = attempts[index]?.endpoint
    tried.add(index)
    if (endpoint === undefined) continue
    if (judge(error) === 'next-model') refusedModels.add(servedModel(endpoint))
    if (error.errorType === 'timeout') silent.add(endpoint.id)
  }
  const next: number[] = []
  for (let step = 1; step < attempts.length; step++) {
    const index = (from + step) % attempts.length
    const attempt = attempts[index]
    if (attempt === undefined || tried.has(index) || input.skip?.has(index) === true) continue
    const { endpoint } = attempt
    if (refusedModels.has(servedModel(endpoint)) || silent.has(endpoint.id)) continue
    if (providerTries(input, index).length < MAX_TRIES) next.push(index)
  }
  return next
}

/** What a provider has seen of the call. */
function providerTries(input: FailoverInput, index: number): readonly Try[] {
  const provider = input.attempts[index]?.endpoint.provider
  return input.tries.filter((one) => one.sent !== false && input.attempts[one.index]?.endpoint.provider === provider)
}

/**
 * The wait before another try at this provider: at least `wait` and `hint`, and long enough that it never sees more tries in a stretch of time than
 * allowed. Undefined if the provider has had its tries or the call would end first.
 */
function spaced(input: FailoverInput, index: number, wait: number, hint: number): number | undefined {
  const before = providerTries(input, index)
  if (before.length >= MAX_TRIES) return undefined
  let delay = Math.max(wait, hint)
  const hinted = before.some(({ error }) => judge(error) === 'busy' && error.details.retryAfterMs !== undefined)
  for (const { tries, ms } of hinted ? [BURST_AFTER_HINT, BURST] : [BURST]) {
    const oldest = before.at(-tries)
    if (oldest !== undefined) delay = Math.max(delay, oldest.startedAt + ms - input.now)
  }
  delay = Math.ceil(Math.max(0, delay))
  if (input.beginBy !== undefined && input.now + delay > input.beginBy - LEAST_TRY_MS) return undefined
  return delay
}

/** Between half of a wait and all of it, so that callers who were refused together do not return together. */
const jitter = (ms: number, random: () => number): number => ms * (0.5 + random() / 2)
