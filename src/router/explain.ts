import { servedModel } from '../core/endpoint-names.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { ModelRequest } from '../core/request.ts'
import type { HealthView } from './health.ts'
import { attemptLimits, hasAlternative } from './limits.ts'
import type { Plan, PlannedAttempt } from './plan.ts'

export interface ExplainedEndpoint {
  readonly endpoint: string
  readonly model: string
  readonly provider: string
  readonly tag: string
}

export interface ExplainedAttempt extends ExplainedEndpoint {
  /** 1-based. */
  readonly position: number
  readonly requested: string
  readonly upstream_model: string
  readonly is_byok: boolean
  readonly state: string
  readonly notes: readonly string[]
  readonly dropped_parameters: readonly string[]
  readonly limits_ms: { readonly connect: number; readonly first_token: number; readonly idle: number; readonly total: number }
  readonly score: {
    /** USD for a million prompt and a million completion tokens. */
    readonly price: number
    /** Share of the first tries of its model this endpoint gets; null when the order is fixed. */
    readonly share: number | null
    readonly latency_p50_ms: number | null
    readonly throughput_p50: number | null
  }
}

/** The answer of `POST /api/v1/route/explain`. */
export interface RouteExplanation {
  readonly requested: string
  readonly strategy: string
  /** How the first model's endpoints are ordered: a sort, or `balanced`. */
  readonly order: string
  readonly estimated_input_tokens: number | null
  readonly attempts: readonly ExplainedAttempt[]
  readonly rejected: readonly (ExplainedEndpoint & { readonly reason: string })[]
  readonly params: { readonly [name: string]: unknown }
  readonly error: { readonly code: number; readonly error_type: string; readonly message: string } | null
}

const identify = (endpoint: Endpoint): ExplainedEndpoint => ({
  endpoint: endpoint.id,
  model: servedModel(endpoint),
  provider: endpoint.providerName,
  tag: endpoint.tag,
})

/** The plan as JSON: every attempt with its limits and figures, and for every other endpoint why it is not among them. */
export function explainPlan(plan: Plan, request: ModelRequest, health?: HealthView): RouteExplanation {
  const planned = new Set(plan.attempts.map(({ endpoint }) => endpoint.id))
  return {
    requested: plan.requested,
    strategy: plan.strategy,
    order: plan.sort ?? (request.provider?.order?.length ? 'order' : 'balanced'),
    estimated_input_tokens: plan.estimate?.inputTokens ?? null,
    attempts: plan.attempts.map((attempt, i) => explainAttempt(plan, attempt, i, request, health)),
    rejected: plan.candidates
      .filter(({ id }) => !planned.has(id))
      .map((endpoint) => ({ ...identify(endpoint), reason: plan.rejected.get(endpoint.id) ?? spareReason(plan) })),
    params: plan.params,
    error: plan.error === undefined ? null : { code: plan.error.status, error_type: plan.error.errorType, message: plan.error.message },
  }
}

function spareReason(plan: Plan): string {
  return plan.attempts.length === 0 ? 'the request was refused before endpoints were compared' : 'usable, but enough better endpoints go before it'
}

function explainAttempt(plan: Plan, attempt: PlannedAttempt, i: number, request: ModelRequest, health: HealthView | undefined): ExplainedAttempt {
  const { endpoint } = attempt
  const limits = attemptLimits({ endpoint, request, hasAlternative: hasAlternative(plan.attempts, i), health })
  const known = health?.get(endpoint.id)
  return {
    position: i + 1,
    ...identify(endpoint),
    requested: attempt.requested,
    upstream_model: endpoint.upstreamModel,
    is_byok: attempt.isByok,
    state: attempt.state,
    notes: attempt.notes,
    dropped_parameters: attempt.dropped,
    limits_ms: { connect: limits.connect, first_token: limits.firstToken, idle: limits.idle, total: limits.total },
    score: {
      price: attempt.price,
      share: attempt.share ?? null,
      latency_p50_ms: known?.latency?.p50 ?? null,
      throughput_p50: known?.throughput?.p50 ?? null,
    },
  }
}
