import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { budgetEffort, effortBudget, nameChange, nearestEffort, requestedReasoning } from '../shared/reasoning-options.ts'
import type { RequestedReasoning } from '../shared/reasoning-options.ts'
import { isThought } from './messages.ts'
import type { Message } from './messages.ts'
import { rulesFor } from './options.ts'
import type { MessagesTarget, ModelRules } from './options.ts'

const MIN_BUDGET = 1024

type BoundTarget = Pick<MessagesTarget, 'options' | 'upstreamModel' | 'maxOutputTokens'>

/** The length of the answer, and the part of it for thinking. */
export interface ThinkingPlan {
  readonly maxTokens: number
  readonly thinking?: JsonObject
  readonly effort?: string
  /** Whether thinking was requested and is sent. */
  readonly active: boolean
}

/** Reasons against thinking in this request. */
export interface Obstacles {
  readonly forcedTool: boolean
  /** The running tool loop began without the thinking that led to it. */
  readonly loopWithoutThinking: boolean
}

/** The output of a request with a limit: its answer plus the largest amount of thinking. */
export function mostOutput({ max_output_tokens: maxOutputTokens, reasoning }: ModelRequest, target: BoundTarget): number | undefined {
  const requested = requestedReasoning(reasoning)
  const rules = rulesFor(target)
  if (maxOutputTokens == null || requested.mode !== 'on' || !usesBudget(requested, rules)) return undefined
  return budgetPlan(requested, maxOutputTokens, true, target.maxOutputTokens ?? rules.max_output_tokens, []).maxTokens
}

const usesBudget = (requested: Extract<RequestedReasoning, { mode: 'on' }>, { thinking }: ModelRules): boolean =>
  thinking === 'budget' || (thinking === 'adaptive-or-budget' && requested.maxTokens !== undefined && requested.effort === undefined)

export function planThinking(
  request: ModelRequest,
  target: MessagesTarget,
  rules: ModelRules,
  obstacles: Obstacles,
  dropped: string[],
): ThinkingPlan {
  const limit = target.maxOutputTokens ?? rules.max_output_tokens
  const wanted = request.max_output_tokens ?? undefined
  let maxTokens = wanted ?? limit ?? Math.min(target.options.default_max_tokens, target.contextLength)
  if (limit !== undefined && maxTokens > limit) {
    maxTokens = limit
    dropped.push(`max_output_tokens: lowered to ${limit}`)
  }
  const requested = possibleReasoning(requestedReasoning(request.reasoning), target, rules, obstacles, dropped)
  if (requested.mode === 'off') return { maxTokens, active: false, ...switchOff(rules, dropped) }
  if (requested.mode === 'default') return { maxTokens, active: false }
  if (usesBudget(requested, rules)) return budgetPlan(requested, maxTokens, wanted !== undefined, limit, dropped)
  const wantedEffort = requested.effort ?? (requested.maxTokens === undefined ? undefined : budgetEffort(requested.maxTokens, maxTokens))
  const effort = wantedEffort === undefined ? undefined : nearestEffort(wantedEffort, rules.efforts)
  nameChange(requested, effort, dropped)
  return {
    maxTokens,
    active: true,
    thinking: { type: 'adaptive', ...(rules.thinking_display === undefined ? {} : { display: rules.thinking_display }) },
    ...(effort === undefined ? {} : { effort }),
  }
}

/**
 * The thinking options of a request that sends thoughts back: thoughts after a changed history should be dropped, instead of the whole request being
 * refused. A model that thinks by default is asked to think explicitly, so that the option can be sent.
 */
export function withStaleThoughts(thinking: JsonObject | undefined, rules: ModelRules, messages: readonly Message[]): JsonObject | undefined {
  if (rules.stale_thinking !== 'dropped' || (thinking !== undefined && thinking['type'] !== 'adaptive')) return thinking
  if (!messages.some(({ content }) => content.some(isThought))) return thinking
  return { type: 'adaptive', ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } }
}

/** The caller's reasoning options as far as this request allows them; what it does not allow is listed in `dropped`. */
function possibleReasoning(
  requested: RequestedReasoning,
  target: MessagesTarget,
  rules: ModelRules,
  obstacles: Obstacles,
  dropped: string[],
): RequestedReasoning {
  if (requested.mode === 'default' && !obstacles.forcedTool) return requested
  if (rules.thinking === 'none' || !target.supports.has('reasoning')) {
    if (requested.mode === 'on') dropped.push('reasoning')
    return { mode: 'default' }
  }
  if (requested.mode === 'off') return requested
  if (obstacles.forcedTool) {
    if (requested.mode === 'on') dropped.push('reasoning: not with a forced tool choice')
    // A model that thinks unless told not to would do so, and then refuse the forced call.
    return { mode: rules.thinking === 'adaptive' && rules.thinking_off === 'disabled' ? 'off' : 'default' }
  }
  if (obstacles.loopWithoutThinking && rules.thinking_in_tool_loops === 'required') {
    dropped.push('reasoning: the running tool loop began without it')
    return { mode: 'default' }
  }
  return requested
}

function switchOff(rules: ModelRules, dropped: string[]): { thinking?: JsonObject; effort?: string } {
  switch (rules.thinking_off) {
    case 'omit':
      return {}
    case 'disabled':
      return { thinking: { type: 'disabled' } }
    case 'between-tools':
      return { thinking: { type: 'between_tools' } }
    case 'lowest-effort': {
      dropped.push('reasoning: none')
      const effort = nearestEffort('minimal', rules.efforts)
      return effort === undefined ? {} : { effort }
    }
  }
}

/**
 * The budget is added to the length that the caller allowed, up to the model's limit, unless that length is meant to include it. It must be smaller
 * than the total.
 */
function budgetPlan(
  requested: Extract<RequestedReasoning, { mode: 'on' }>,
  answerTokens: number,
  isSet: boolean,
  limit: number | undefined,
  dropped: string[],
): ThinkingPlan {
  let budget = Math.max(MIN_BUDGET, requested.maxTokens ?? effortBudget(requested.effort ?? 'medium', answerTokens))
  const isMore = isSet ? requested.within !== true : budget >= answerTokens
  const total = isMore ? answerTokens + budget : answerTokens
  const maxTokens = Math.min(total, limit ?? total)
  if (budget >= maxTokens) budget = maxTokens - Math.min(MIN_BUDGET, Math.floor(maxTokens / 2))
  if (budget < MIN_BUDGET) {
    dropped.push('reasoning: the answer is too short for it')
    return { maxTokens: answerTokens, active: false }
  }
  return { maxTokens, thinking: { type: 'enabled', budget_tokens: budget }, active: true }
}
