import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, ReasoningEffort } from '../../core/request.ts'
import { budgetEffort, effortBudget, nameChange, nearestEffort, requestedReasoning } from '../shared/reasoning-options.ts'
import type { RequestedReasoning } from '../shared/reasoning-options.ts'
import { forcedToolsFor, reasoningRulesFor } from './options.ts'
import type { OpenAiChatOptions, ReasoningRules } from './options.ts'

type ChatTarget = Target<OpenAiChatOptions>
type Effort = Exclude<ReasoningEffort, 'none'>

const COMMON_EFFORTS: readonly string[] = ['low', 'medium', 'high']
/** Assumed if the length of the answer is not limited; budgets are shares of it. */
const ASSUMED_OUTPUT_TOKENS = 32_000

/**
 * The body fields that request reasoning in this server's way; lists in `dropped` what cannot be expressed. `forced` means that a call is required.
 */
export function encodeReasoning(request: ModelRequest, target: ChatTarget, dropped: string[], forced = false): JsonObject {
  if (request.reasoning?.stated === true) return { reasoning_effort: 'none' }
  const requested = possibleReasoning(requestedReasoning(request.reasoning), forced && forcedToolsFor(target) === 'without-reasoning', dropped)
  if (requested.mode === 'default') return {}
  const rules = reasoningRulesFor(target)
  // If an endpoint reasons and no style is declared, the field of the format itself is used, which most servers know.
  const { style = 'effort', efforts = [] } = rules
  const { supports } = target
  if (!supports.has('reasoning') && !supports.has('reasoning_effort')) {
    if (requested.mode === 'on') dropped.push('reasoning')
    return {}
  }
  if (requested.mode === 'off' && rules.off !== undefined)
    return rules.off === 'thinking-type' ? { thinking: { type: 'disabled' } } : { reasoning: { enabled: false } }
  const limit = request.max_output_tokens ?? target.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS
  switch (style) {
    case 'none':
      // Without a style, reasoning cannot be switched off either.
      if (requested.mode === 'on') dropped.push('reasoning')
      return {}
    case 'effort':
      return effortField(requested, { ...rules, style, efforts: rules.efforts ?? COMMON_EFFORTS }, limit, dropped)
    case 'reasoning-object':
      return { reasoning: reasoningObject(requested) }
    case 'thinking-type':
      if (requested.mode === 'off') return { thinking: { type: 'disabled' } }
      return { thinking: { type: 'enabled' }, ...effortField(requested, { ...rules, efforts }, limit, dropped) }
    case 'enable-thinking':
      return enableThinking(requested, limit, target.options.thinking_budget, dropped)
    case 'template-kwargs':
      return templateArguments(requested, rules, limit, dropped)
    case 'think':
      return { think: thinkLevel(requested, efforts, limit) }
  }
}

/** A model that thinks unless told not to would do so, and then refuse the forced call. */
function possibleReasoning(requested: RequestedReasoning, yields: boolean, dropped: string[]): RequestedReasoning {
  if (yields && requested.mode === 'on') dropped.push('reasoning: not with a forced tool choice')
  return yields ? { mode: 'off' } : requested
}

type KnownEfforts = ReasoningRules & { readonly efforts: readonly string[] }
type Decided = Exclude<RequestedReasoning, { mode: 'default' }>

function reasoningObject(requested: Decided): JsonObject {
  if (requested.mode === 'off') return { enabled: false }
  if (requested.maxTokens !== undefined) return { max_tokens: requested.maxTokens }
  return requested.effort === undefined ? { enabled: true } : { effort: requested.effort }
}

function enableThinking(requested: Decided, limit: number, knowsBudget: boolean, dropped: string[]): JsonObject {
  if (requested.mode === 'off') return { enable_thinking: false }
  if (!knowsBudget) {
    if (requested.effort !== undefined) dropped.push('reasoning.effort')
    if (requested.maxTokens !== undefined) dropped.push('reasoning.max_tokens')
    return { enable_thinking: true }
  }
  const budget = requested.maxTokens ?? (requested.effort === undefined ? undefined : effortBudget(requested.effort, limit))
  return { enable_thinking: true, ...(budget === undefined ? {} : { thinking_budget: budget }) }
}

/**
 * Chat templates read the switch under two names, and those with levels read a level; they ignore what they do not read. Servers that write the
 * prompt of such a model themselves read the level outside the template arguments.
 */
function templateArguments(requested: Decided, { efforts = COMMON_EFFORTS, known }: ReasoningRules, limit: number, dropped: string[]): JsonObject {
  const on = requested.mode === 'on'
  const wanted = on ? effortOf(requested, limit) : known ? 'minimal' : undefined
  if (!on && known) dropped.push('reasoning: none')
  const effort = wanted === undefined ? undefined : nearestEffort(wanted, efforts)
  nameChange(requested, effort, dropped)
  const level = effort === undefined ? {} : { reasoning_effort: effort }
  return { chat_template_kwargs: { enable_thinking: on, thinking: on, ...level }, ...level }
}

/** A level if the server has levels, otherwise a switch. */
function thinkLevel(requested: Decided, efforts: readonly string[], limit: number): string | boolean {
  if (requested.mode === 'off') return false
  const effort = effortOf(requested, limit)
  return (effort === undefined ? undefined : nearestEffort(effort, efforts)) ?? true
}

function effortOf(requested: Extract<Decided, { mode: 'on' }>, limit: number): Effort | undefined {
  return requested.effort ?? (requested.maxTokens === undefined ? undefined : budgetEffort(requested.maxTokens, limit))
}

function effortField(requested: Decided, { style, efforts, known }: KnownEfforts, limit: number, dropped: string[]): JsonObject {
  if (requested.mode === 'off') {
    if (efforts.includes('none')) return { reasoning_effort: 'none' }
    dropped.push('reasoning: none')
    // For a model that always reasons the least effort is the closest to none; any other model would only start to reason with it.
    if (!known) return {}
  }
  const wanted = requested.mode === 'off' ? 'minimal' : effortOf(requested, limit)
  // A model that always reasons and has no medium effort keeps its default if no effort is requested.
  if (wanted === undefined && known && !efforts.includes('medium') && !efforts.includes('none')) return {}
  const effort = nearestEffort(wanted ?? 'medium', efforts)
  if (effort !== undefined) {
    nameChange(requested, effort, dropped)
    return { reasoning_effort: effort }
  }
  if (style === 'effort' && requested.mode === 'on' && wanted !== undefined) dropped.push('reasoning.effort')
  return {}
}
