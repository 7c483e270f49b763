import type { CallLimits, SubjectLimits } from '../core/call-limits.ts'
import { periodEnd, type RateState, type Verdict } from '../core/counter.ts'
import { GatewayError } from '../core/error.ts'

type Refused = Extract<Verdict, { readonly ok: false }>

const WHOSE: { readonly [K in SubjectLimits['kind']]: string } = {
  key: 'This key',
  guardrail: 'This key',
  workspace: 'This workspace',
  installation: 'This gateway',
}

/**
 * The error for a refused caller: 402 for the key's own limit and for credits, 403 for the budget of a guardrail or workspace (the broadest interval
 * exceeded), 429 for rates, 503 if spending is unknown.
 */
export function refusal(verdict: Refused, limits: CallLimits, now: number): GatewayError {
  const subject = limits.find((one) => one.subject === verdict.subject)
  const whose = WHOSE[subject?.kind ?? 'key']
  switch (verdict.reason) {
    case 'rate': {
      const { rate, state, retryAfterMs } = verdict
      return tooMany(`${whose} may make use of ${Math.round(state.limit)} ${rate} per minute`, state, retryAfterMs, rate)
    }
    case 'open': {
      const state = { limit: verdict.limit, remaining: 0, resetAt: now + 1_000 }
      return tooMany(`${whose} may have ${verdict.limit} requests running at a time`, state, 1_000, 'concurrent_requests')
    }
    case 'unknown':
      return new GatewayError('provider_overloaded', 'The spending so far is not available at the moment; try again', {
        retryAfterMs: 2_000,
        failover: 'never',
      })
    case 'budget':
      return overBudget(subject, verdict, now)
  }
}

/** `limit`: `requests`, `tokens` or `concurrent_requests`. */
export type OnLimited = (limit: string) => void

/** Refuses a call, and tells which rate limit did. */
export function refuse(verdict: Refused, limits: CallLimits, now: number, onLimited: OnLimited | undefined): never {
  if (verdict.reason === 'rate') onLimited?.(verdict.rate)
  if (verdict.reason === 'open') onLimited?.('concurrent_requests')
  throw refusal(verdict, limits, now)
}

const LIMIT_SOURCE: { readonly [K in SubjectLimits['kind']]: string } = {
  key: 'key_limit',
  guardrail: 'guardrail_budget',
  workspace: 'workspace_budget',
  installation: 'credits',
}

function tooMany(message: string, { limit, remaining, resetAt }: RateState, retryAfterMs: number, name: string): GatewayError {
  return new GatewayError('rate_limit_exceeded', `${message}; try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s`, {
    retryAfterMs,
    metadata: { limit: name },
    headers: { 'x-ratelimit-limit': String(Math.floor(limit)), 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': String(resetAt) },
  })
}

type OverBudget = Extract<Refused, { readonly reason: 'budget' }>

function overBudget(subject: SubjectLimits | undefined, { intervals, leftUsd, availableUsd }: OverBudget, now: number): GatewayError {
  const interval = intervals[0] ?? 'lifetime'
  const limitUsd = subject?.budgets.find((budget) => budget.interval === interval)?.limitUsd ?? 0
  const resetsAt = periodEnd(interval, now)
  const metadata = {
    limit_source: LIMIT_SOURCE[subject?.kind ?? 'key'],
    interval,
    limit_usd: limitUsd,
    available_usd: leftUsd,
    ...(resetsAt === undefined ? {} : { resets_at: new Date(resetsAt).toISOString() }),
  }
  const left = leftUsd > 0 ? `the ${usd(leftUsd)} USD that are left do not cover this request` : 'nothing is left'
  const named = interval === 'lifetime' ? '' : `${interval} `
  // What is left may pay for a cheaper endpoint.
  const details = { metadata, ...(availableUsd > 0 ? { failover: 'next' as const } : {}) }
  switch (subject?.kind) {
    case 'workspace':
      return new GatewayError('permission_denied', `The workspace's ${interval} budget of ${usd(limitUsd)} USD is reached: ${left}`, details)
    case 'guardrail':
      return new GatewayError(
        'permission_denied',
        `The ${named}limit of ${usd(limitUsd)} USD that a guardrail sets for the key is reached: ${left}`,
        details,
      )
    case 'installation':
      return new GatewayError('payment_required', `The credits of this gateway (${usd(limitUsd)} USD) are used up: ${left}`, details)
    default:
      return new GatewayError('payment_required', `The key's ${named}limit of ${usd(limitUsd)} USD is reached: ${left}`, details)
  }
}

/** From here on down six decimals would round most of an amount away, and numbers are soon written with an exponent. */
const TINY_USD = 0.001

/** Six decimals at most, nine of tiny amounts (limits are counted in billionths), without trailing zeros. */
const usd = (amount: number): string => (amount < TINY_USD ? amount.toFixed(9).replace(/\.?0+$/, '') : String(Number(amount.toFixed(6))))
