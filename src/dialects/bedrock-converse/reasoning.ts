import type { ModelRequest } from '../../core/request.ts'
import { budgetEffort, effortBudget, nameChange, nearestEffort, requestedReasoning } from '../shared/reasoning-options.ts'
import type { RequestedReasoning } from '../shared/reasoning-options.ts'
import type { ModelTraits } from './model-traits.ts'

/** Assumed if the length of the answer is not limited; budgets are shares of it. */
const ASSUMED_OUTPUT_TOKENS = 32_000
const MIN_BUDGET = 1024

export interface ReasoningPlan {
  /** Additional request fields. */
  readonly fields: { readonly [field: string]: unknown }
  /** Whether the model is asked to reason. */
  readonly on: boolean
  /** An output limit with room for the thoughts, if the caller's own limit left none. */
  readonly maxTokens?: number
  /** The output limit and sampling parameters must be left out of the request. */
  readonly bare?: boolean
}

export interface ReasoningSituation {
  readonly maxOutputTokens: number | undefined
  /** Whether the tool choice forces a call. */
  readonly forced: boolean
  /** Whether the model is in the middle of a tool loop whose thoughts cannot be sent back. */
  readonly lostThoughts: boolean
}

const OFF: ReasoningPlan = { fields: {}, on: false }

/** Encodes the caller's reasoning options for this model; lists in `dropped` what cannot be expressed. */
export function planReasoning(request: ModelRequest, traits: ModelTraits, situation: ReasoningSituation, dropped: string[]): ReasoningPlan {
  const requested = requestedReasoning(request.reasoning)
  const adaptive = traits.reasoning === 'thinking-adaptive'
  if (requested.mode === 'off') return switchedOff(traits, dropped)
  const excluded = situation.forced && !traits.forced_tool_with_reasoning && traits.reasoning !== 'none'
  // A model that reasons unless told not to would do so, and then refuse the forced call.
  if (requested.mode === 'default') return excluded && traits.reasoning_unasked ? switchedOff(traits, []) : OFF
  if (excluded) {
    dropped.push('reasoning: not together with a forced tool')
    return traits.reasoning_off === 'lowest-effort' ? OFF : switchedOff(traits, [])
  }
  // Models with a budget require the thoughts that led to a call; adaptive ones do not.
  if (situation.lostThoughts && traits.reasoning === 'thinking-budget') {
    dropped.push('reasoning: the thoughts of this tool loop are lost')
    return OFF
  }
  const limit = request.max_output_tokens ?? situation.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS
  const effort = (): string | undefined => {
    const wanted = requested.effort ?? (requested.maxTokens === undefined ? 'medium' : budgetEffort(requested.maxTokens, limit))
    const nearest = nearestEffort(wanted, traits.reasoning_efforts)
    nameChange(requested, nearest, dropped)
    return nearest
  }
  if (adaptive) {
    const display = traits.reasoning_display === null ? {} : { display: traits.reasoning_display }
    const outputEffort = requested.effort === undefined && requested.maxTokens === undefined ? undefined : effort()
    return {
      fields: { thinking: { type: 'adaptive', ...display }, ...(outputEffort === undefined ? {} : { output_config: { effort: outputEffort } }) },
      on: true,
    }
  }
  switch (traits.reasoning) {
    case 'thinking-budget':
      return budgetPlan(requested, request, limit, situation.maxOutputTokens, dropped)
    case 'reasoning-effort':
      return { fields: { reasoning_effort: effort() }, on: true }
    case 'reasoning-config':
      return { fields: { reasoning_config: effort() }, on: true }
    case 'max-effort': {
      const maxReasoningEffort = effort()
      return { fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } }, on: true, bare: maxReasoningEffort === 'high' }
    }
    case 'always':
      return { fields: {}, on: true }
    default:
      dropped.push('reasoning')
      return OFF
  }
}

function switchedOff(traits: ModelTraits, dropped: string[]): ReasoningPlan {
  if (traits.reasoning === 'thinking-adaptive') return adaptiveOff(traits, dropped)
  if (traits.reasoning === 'max-effort') return { fields: { reasoningConfig: { type: 'disabled' } }, on: false }
  if (traits.reasoning === 'always') dropped.push('reasoning: none')
  if (traits.reasoning === 'reasoning-effort') {
    // The least effort is the closest to none that these models support.
    dropped.push('reasoning: none')
    return { fields: { reasoning_effort: traits.reasoning_efforts[0] }, on: true }
  }
  return OFF
}

function adaptiveOff({ reasoning_off: mode, reasoning_efforts: efforts }: ModelTraits, dropped: string[]): ReasoningPlan {
  if (mode === 'disabled') return { fields: { thinking: { type: 'disabled' } }, on: false }
  if (mode === 'between-tools') return { fields: { thinking: { type: 'between_tools' } }, on: false }
  dropped.push('reasoning: none')
  return { fields: { output_config: { effort: efforts[0] } }, on: true }
}

/**
 * The budget must be below the output limit, which covers thoughts and text together. A limit without room is raised as far as the model allows,
 * unless the caller wants the budget to stay within it.
 */
function budgetPlan(
  requested: Extract<RequestedReasoning, { mode: 'on' }>,
  request: ModelRequest,
  limit: number,
  ceiling: number | undefined,
  dropped: string[],
): ReasoningPlan {
  let budget = Math.max(MIN_BUDGET, requested.maxTokens ?? effortBudget(requested.effort ?? 'medium', limit))
  const maxOutputTokens = request.max_output_tokens
  let maxTokens: number | undefined
  if (maxOutputTokens != null && budget >= maxOutputTokens && requested.within !== true) {
    maxTokens = Math.min(maxOutputTokens + budget, ceiling ?? Number.POSITIVE_INFINITY)
    dropped.push(`max_output_tokens: raised to ${maxTokens} for reasoning`)
  }
  const most = maxTokens ?? maxOutputTokens ?? ceiling
  if (most !== undefined && budget >= most) budget = most - 1
  if (budget < MIN_BUDGET) {
    dropped.push('reasoning')
    return OFF
  }
  return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, on: true, ...(maxTokens === undefined ? {} : { maxTokens }) }
}
