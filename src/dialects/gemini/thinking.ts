import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { budgetEffort, effortBudget, nameChange, nearestEffort, requestedReasoning } from '../shared/reasoning-options.ts'
import type { RequestedReasoning } from '../shared/reasoning-options.ts'
import type { ModelTraits } from './model-traits.ts'
import type { GeminiOptions } from './options.ts'

/** Assumed if the length of the answer is not limited; budgets are shares of it. */
const ASSUMED_OUTPUT_TOKENS = 32_000

type On = Extract<RequestedReasoning, { mode: 'on' }>

/** `thinkingConfig`, or undefined if nothing is to be set; lists in `dropped` what cannot be expressed. */
export function encodeThinking(request: ModelRequest, target: Target<GeminiOptions>, traits: ModelTraits, dropped: string[]): JsonObject | undefined {
  const requested = requestedReasoning(request.reasoning)
  const wantsSummary = request.reasoning?.summary != null
  if (requested.mode === 'default' && !wantsSummary) return undefined
  if (traits.thinking === 'none' || !target.supports.has('reasoning')) {
    if (requested.mode !== 'off') dropped.push('reasoning')
    return undefined
  }
  if (requested.mode === 'default') return { includeThoughts: true }
  const limit = request.max_output_tokens ?? target.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS
  if (requested.mode === 'off') return traits.thinking === 'level' ? leastLevel(traits, dropped) : noBudget(traits, dropped)
  return { ...(traits.thinking === 'level' ? level(requested, traits, limit, dropped) : budget(requested, traits, limit)), includeThoughts: true }
}

function level(requested: On, { thinking_levels: levels }: ModelTraits, limit: number, dropped: string[]): JsonObject {
  // Some models only know on and off, and are off by default.
  const [off, on, more] = levels
  const switched = off === 'minimal' && more === undefined ? on : undefined
  const effort = requested.effort ?? (requested.maxTokens === undefined ? undefined : budgetEffort(requested.maxTokens, limit))
  const nearest =
    switched !== undefined && requested.effort !== 'minimal' ? switched : effort === undefined ? undefined : nearestEffort(effort, levels)
  nameChange(requested, nearest, dropped)
  return nearest === undefined ? {} : { thinkingLevel: nearest }
}

/** These models always reason; the least level is the closest to none. */
function leastLevel({ thinking_levels: levels }: ModelTraits, dropped: string[]): JsonObject {
  const least = nearestEffort('minimal', levels)
  if (least !== 'minimal') dropped.push('reasoning: none')
  return least === undefined ? {} : { thinkingLevel: least }
}

function budget(requested: On, { thinking_budget: { min, max } }: ModelTraits, limit: number): JsonObject {
  // -1 lets the model choose.
  if (requested.maxTokens === undefined && requested.effort === undefined) return { thinkingBudget: -1 }
  const wanted = requested.maxTokens ?? effortBudget(requested.effort!, limit)
  return { thinkingBudget: Math.max(min, Math.min(max, wanted)) }
}

function noBudget({ thinking_budget: { min, off } }: ModelTraits, dropped: string[]): JsonObject {
  if (off) return { thinkingBudget: 0 }
  dropped.push('reasoning: none')
  return { thinkingBudget: min }
}
