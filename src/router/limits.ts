import type { Endpoint } from '../core/endpoint.ts'
import type { Timeouts } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import type { HealthView } from './health.ts'
import { offersTools } from './offers-tools.ts'

/** Limits of one attempt in milliseconds: connecting, silence before the first content event, silence after it, everything together. */
export interface AttemptLimits extends Timeouts {
  readonly firstToken: number
  readonly idle: number
  /** A stream that has had longer pauses is given more silence than `idle`, up to this much. */
  readonly longestIdle: number
}

/** `first_token: auto` while another endpoint could still serve and nothing reasons. */
const PATIENCE_WITH_ALTERNATIVE_MS = 12_000
/** `first_token: auto` otherwise: a model that reasons silently must not be cut off by a guess. */
const PATIENCE_MS = 120_000
/** `idle: auto` for a plain answer: longer than the pauses of such streams, short enough to end a dead one within 45 s. */
const SILENCE_MS = 35_000
/** `idle: auto` if silence is part of the work: reasoning between texts, arguments that arrive in one piece, media. */
const LONG_SILENCE_MS = 120_000
/** An endpoint that is known to be slow is given this many times its own observed p90. */
const P90_FACTOR = 4

/** How long a call may take until its first content event, failed attempts included. */
const BEGIN_WITHIN_MS = 90_000
const BEGIN_WITHIN_REASONING_MS = 300_000
/** The least time of an attempt, and what it leaves for each of the next two. */
const LEAST_ATTEMPT_MS = 1_000
const RESERVED_ATTEMPTS = 2

/** Whether the request asks for reasoning, during which silence is normal. */
function asksForReasoning(request: ModelRequest): boolean {
  const { reasoning } = request
  if (reasoning === null || reasoning === undefined) return false
  return reasoning.enabled !== false && reasoning.effort !== 'none'
}

export interface LimitsInput {
  readonly endpoint: Endpoint
  readonly request: ModelRequest
  /** The answer is requested in one piece, whatever its format would ask for. */
  readonly whole?: boolean
  /** Whether another endpoint could still serve the call (`hasAlternative`). */
  readonly hasAlternative: boolean
  readonly health?: HealthView | undefined
}

/** The limits of an attempt, `auto` resolved. Configured limits are taken as they are. */
export function attemptLimits(input: LimitsInput): AttemptLimits {
  const { endpoint, request } = input
  const { connect, firstToken, total } = endpoint.connection.timeouts
  if (input.whole === true || asksWhole(endpoint, request)) return { connect, firstToken: total, idle: total, longestIdle: total, total }
  const reasons = endpoint.reasonsByDefault === true || asksForReasoning(request)
  const silence = idleLimits(endpoint, request, reasons)
  if (firstToken !== 'auto') return { connect, firstToken, ...silence, total }
  const patient = !input.hasAlternative || reasons
  const p90 = input.health?.get(endpoint.id)?.latency?.p90 ?? 0
  const auto = Math.max(patient ? PATIENCE_MS : PATIENCE_WITH_ALTERNATIVE_MS, Math.ceil(p90 * P90_FACTOR))
  return { connect, firstToken: Math.min(auto, total), ...silence, total }
}

const asksWhole = ({ connection, upstreamModel, supports }: Endpoint, request: ModelRequest): boolean =>
  connection.dialect.asksWhole?.(request, { options: connection.options, upstreamModel, supports }) === true

/** How long an answer that has begun may be silent. A configured `idle` is taken as it is. */
function idleLimits(endpoint: Endpoint, request: ModelRequest, reasons: boolean): Pick<AttemptLimits, 'idle' | 'longestIdle'> {
  const { idle, total } = endpoint.connection.timeouts
  if (idle !== 'auto') return { idle, longestIdle: idle }
  const longestIdle = Math.min(LONG_SILENCE_MS, total)
  const busy = reasons || offersTools(request) || request.modalities?.some((modality) => modality !== 'text') === true
  return { idle: busy ? longestIdle : Math.min(SILENCE_MS, total), longestIdle }
}

const NONE: ReadonlySet<number> = new Set()

/** How many attempts after the one at `index` have not failed (`failedIndexes`). */
export function countLeft(attempts: readonly unknown[], index: number, failed: ReadonlySet<number>): number {
  let left = 0
  for (let i = index + 1; i < attempts.length; i++) if (!failed.has(i)) left++
  return left
}

/** Whether there is a different endpoint among the remaining attempts; the same server with another key is no alternative. */
export function hasAlternative(attempts: readonly { readonly endpoint: Endpoint }[], index: number, failed: ReadonlySet<number> = NONE): boolean {
  const current = attempts[index]?.endpoint
  for (let i = index + 1; i < attempts.length; i++) if (attempts[i]!.endpoint !== current && !failed.has(i)) return true
  return false
}

/** When a call must have begun to answer, on the clock of `startedAt`. Never earlier than its first attempt is allowed to. */
export function beginDeadline(input: {
  readonly request: ModelRequest
  readonly endpoint: Endpoint
  readonly firstLimits: AttemptLimits
  readonly startedAt: number
}): number {
  const reasons = input.endpoint.reasonsByDefault === true || asksForReasoning(input.request)
  const allowance = reasons ? BEGIN_WITHIN_REASONING_MS : BEGIN_WITHIN_MS
  return input.startedAt + Math.max(allowance, input.firstLimits.firstToken)
}

/**
 * Fits an attempt into what is left of the call: its patience shrinks so that the next attempts (two at most) get a fair share, but never below a
 * second. The connect limit stays as configured, because connections are kept by it; patience counts from before connecting and so bounds it.
 * Undefined if nothing is left.
 */
export function withinDeadline(limits: AttemptLimits, remainingMs: number, attemptsAfter: number): AttemptLimits | undefined {
  if (remainingMs < LEAST_ATTEMPT_MS) return undefined
  const sharers = 1 + Math.min(attemptsAfter, RESERVED_ATTEMPTS)
  const reserve = Math.min((sharers - 1) * PATIENCE_WITH_ALTERNATIVE_MS, (remainingMs * (sharers - 1)) / sharers)
  const firstToken = Math.floor(Math.max(LEAST_ATTEMPT_MS, Math.min(limits.firstToken, remainingMs - reserve)))
  return firstToken === limits.firstToken ? limits : { ...limits, firstToken }
}
