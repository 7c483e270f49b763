import type { ReasoningEffort, ReasoningOptions } from '../../core/request.ts'

/** What the caller wants of reasoning: not specified, on (how much), or off. */
export type RequestedReasoning =
  | { readonly mode: 'default' }
  | { readonly mode: 'off' }
  | {
      readonly mode: 'on'
      readonly effort?: Exclude<ReasoningEffort, 'none'>
      readonly maxTokens?: number
      /** The limit of the answer includes both. */
      readonly within?: true
    }

const ORDER: readonly Exclude<ReasoningEffort, 'none'>[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The share of the output limit that an effort stands for, at endpoints that have only budgets. */
const SHARE: { readonly [E in Exclude<ReasoningEffort, 'none'>]: number } = { max: 0.95, xhigh: 0.95, high: 0.8, medium: 0.5, low: 0.2, minimal: 0.1 }

export function requestedReasoning(options: ReasoningOptions | null | undefined): RequestedReasoning {
  if (options == null) return { mode: 'default' }
  const { effort, max_tokens: maxTokens, enabled, within_output: within } = options
  // A budget of zero means no reasoning; formats with a minimum budget would otherwise reason a little.
  if (effort === 'none' || enabled === false || (maxTokens === 0 && effort == null)) return { mode: 'off' }
  if (effort == null && maxTokens == null && enabled == null) return { mode: 'default' }
  return {
    mode: 'on',
    ...(effort == null ? {} : { effort }),
    ...(maxTokens == null ? {} : { maxTokens }),
    ...(within === true ? { within } : {}),
  }
}

/** The allowed effort closest to the wanted one; of two equally close ones the smaller. Undefined if none is allowed. */
export function nearestEffort(wanted: Exclude<ReasoningEffort, 'none'>, allowed: readonly string[]): string | undefined {
  const at = ORDER.indexOf(wanted)
  const ranked = ORDER.filter((effort) => allowed.includes(effort)).map((effort) => ({ effort, distance: Math.abs(ORDER.indexOf(effort) - at) }))
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.effort
}

/** Notes in `dropped` that the caller's effort was replaced by another. */
export function nameChange(requested: RequestedReasoning, effort: string | undefined, dropped: string[]): void {
  if (requested.mode === 'on' && requested.effort !== undefined && effort !== undefined && effort !== requested.effort)
    dropped.push(`reasoning.effort: ${requested.effort} became ${effort}`)
}

/** Tokens that an effort may spend on reasoning out of `maxOutputTokens`, which counts at most 128000. The minimum is left to each format. */
export function effortBudget(effort: Exclude<ReasoningEffort, 'none'>, maxOutputTokens: number): number {
  return Math.max(1, Math.min(128_000, Math.floor(maxOutputTokens * SHARE[effort])))
}

/** The effort whose share of the output limit is closest to a budget, for endpoints that have only efforts. */
export function budgetEffort(budget: number, maxOutputTokens: number): Exclude<ReasoningEffort, 'none'> {
  const share = maxOutputTokens > 0 ? budget / maxOutputTokens : 1
  const known = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const
  return known.reduce((best, effort) => (Math.abs(SHARE[effort] - share) < Math.abs(SHARE[best] - share) ? effort : best), 'medium')
}
