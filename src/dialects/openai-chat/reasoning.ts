import type { Target } from '../../core/dialect.ts'
import type { JsonObject } from '../../core/item.ts'
import type { ModelRequest, ReasoningEffort } from '../../core/request.ts'
import { budgetEffort, effortBudget, nearestEffort, reasoningWish } from '../shared/reasoning-options.ts'
import type { ReasoningWish } from '../shared/reasoning-options.ts'
import type { OpenAiChatOptions } from './options.ts'

type ChatTarget = Target<OpenAiChatOptions>
type Effort = Exclude<ReasoningEffort, 'none'>

const COMMON_EFFORTS: readonly string[] = ['low', 'medium', 'high']
/** Where nobody says how long an answer may be, budgets are shares of this. */
const ASSUMED_OUTPUT_TOKENS = 32_000

/** The body fields that ask for reasoning in this server's way; names what could not be said in `dropped`. */
export function encodeReasoning(request: ModelRequest, target: ChatTarget, dropped: string[]): JsonObject {
  const wish = reasoningWish(request.reasoning)
  const { reasoning_style: style } = target.options
  if (wish.mode === 'default') return {}
  if (style === 'none') {
    // Nothing to switch off where nothing can be switched.
    if (wish.mode === 'on') dropped.push('reasoning')
    return {}
  }
  const limit = request.max_output_tokens ?? target.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS
  switch (style) {
    case 'effort':
      return effortField(wish, target.options.reasoning_efforts ?? COMMON_EFFORTS, limit, dropped)
    case 'reasoning-object':
      if (wish.mode === 'off') return { reasoning: { enabled: false } }
      if (wish.maxTokens !== undefined) return { reasoning: { max_tokens: wish.maxTokens } }
      return { reasoning: wish.effort === undefined ? { enabled: true } : { effort: wish.effort } }
    case 'thinking-type': {
      const efforts = target.options.reasoning_efforts
      return {
        thinking: { type: wish.mode === 'on' ? 'enabled' : 'disabled' },
        ...(efforts === undefined || wish.mode === 'off' ? {} : effortField(wish, efforts, limit, dropped)),
      }
    }
    case 'enable-thinking': {
      const budget = wish.mode === 'off' ? undefined : (wish.maxTokens ?? (wish.effort === undefined ? undefined : effortBudget(wish.effort, limit)))
      return { enable_thinking: wish.mode === 'on', ...(budget === undefined ? {} : { thinking_budget: budget }) }
    }
    case 'template-kwargs':
      return { chat_template_kwargs: { enable_thinking: wish.mode === 'on' } }
    case 'think': {
      const effort = wish.mode === 'on' ? effortOf(wish, limit) : undefined
      const known = effort === undefined ? undefined : nearestEffort(effort, target.options.reasoning_efforts ?? [])
      return { think: wish.mode === 'off' ? false : (known ?? true) }
    }
  }
}

function effortOf(wish: Extract<ReasoningWish, { mode: 'on' }>, limit: number): Effort | undefined {
  return wish.effort ?? (wish.maxTokens === undefined ? undefined : budgetEffort(wish.maxTokens, limit))
}

function effortField(wish: ReasoningWish, efforts: readonly string[], limit: number, dropped: string[]): JsonObject {
  if (wish.mode === 'off') {
    if (efforts.includes('none')) return { reasoning_effort: 'none' }
    // The least is the closest to nothing this server can do.
    dropped.push('reasoning: none')
    const least = nearestEffort('minimal', efforts)
    return least === undefined ? {} : { reasoning_effort: least }
  }
  const wanted = wish.mode === 'on' ? (effortOf(wish, limit) ?? 'medium') : undefined
  const effort = wanted === undefined ? undefined : nearestEffort(wanted, efforts)
  return effort === undefined ? {} : { reasoning_effort: effort }
}
