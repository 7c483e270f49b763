import type { ReasoningEffort, ReasoningOptions } from '../../core/request.ts'

/** What the caller wants of reasoning: nothing said, on (how much), or off. */
export type ReasoningWish =
  | { readonly mode: 'default' }
  | { readonly mode: 'off' }
  | {
      readonly mode: 'on'
      readonly effort?: Exclude<ReasoningEffort, 'none'>
      readonly maxTokens?: number
      /** The bound of the answer is that of both. */
      readonly within?: true
    }

const ORDER: readonly Exclude<ReasoningEffort, 'none'>[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Share of the output limit an effort stands for, where an endpoint knows only budgets. */
const SHARE: { readonly [E in Exclude<ReasoningEffort, 'none'>]: number } = { max: 0.95, xhigh: 0.95, high: 0.8, medium: 0.5, low: 0.2, minimal: 0.1 }

export function reasoningWish(options: ReasoningOptions | null | undefined): ReasoningWish {
  if (options == null) return { mode: 'default' }
  const { effort, max_tokens: maxTokens, enabled, within_output: within } = options
  // No tokens to think with are no thoughts; formats with a least budget would make some of them.
  if (effort === 'none' || enabled === false || (maxTokens === 0 && effort == null)) return { mode: 'off' }
  if (effort == null && maxTokens == null && enabled == null) return { mode: 'default' }
  return {
    mode: 'on',
    ...(effort == null ? {} : { effort }),
    ...(maxTokens == null ? {} : { maxTokens }),
    ...(within === true ? { within } : {}),
  }
}

/** The allowed effort closest to the wanted one; of two as close, the smaller. Undefined when nothing is allowed. */
export function nearestEffort(wanted: Exclude<ReasoningEffort, 'none'>, allowed: readonly string[]): string | undefined {
  const at = ORDER.indexOf(wanted)
  const ranked = ORDER.filter((effort) => allowed.includes(effort)).map((effort) => ({ effort, distance: Math.abs(ORDER.indexOf(effort) - at) }))
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.effort
}

/** Names in `dropped` an effort of the caller's that became another. */
export function nameChange(wish: ReasoningWish, effort: string | undefined, dropped: string[]): void {
  if (wish.mode === 'on' && wish.effort !== undefined && effort !== undefined && effort !== wish.effort)
    dropped.push(`reasoning.effort: ${wish.effort} became ${effort}`)
}

/** Tokens an effort may spend on reasoning out of `maxOutputTokens`, 128000 at most. The least a format takes is its own to know. */
export function effortBudget(effort: Exclude<ReasoningEffort, 'none'>, maxOutputTokens: number): number {
  return Math.max(1, Math.min(128_000, Math.floor(maxOutputTokens * SHARE[effort])))
}

/** The effort whose share of the output limit comes closest to a budget, for endpoints that know only efforts. */
export function budgetEffort(budget: number, maxOutputTokens: number): Exclude<ReasoningEffort, 'none'> {
  const share = maxOutputTokens > 0 ? budget / maxOutputTokens : 1
  const known = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const
  return known.reduce((best, effort) => (Math.abs(SHARE[effort] - share) < Math.abs(SHARE[best] - share) ? effort : best), 'medium')
}
