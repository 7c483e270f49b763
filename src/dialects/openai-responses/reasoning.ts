import type { Target } from '../../core/dialect.ts'
import type { Parameter } from '../../core/endpoint.ts'
import type { JsonObject, ReasoningItem } from '../../core/item.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ReasoningPayload } from '../../core/reasoning-envelope.ts'
import type { ModelRequest, ReasoningOptions } from '../../core/request.ts'
import { budgetEffort, nearestEffort, requestedReasoning } from '../shared/reasoning-options.ts'
import { effortsFor } from './options.ts'
import type { ResponsesOptions } from './options.ts'

type ReasoningTarget = Pick<Target<ResponsesOptions>, 'options' | 'scope'>

/** Opens an envelope that this endpoint minted: same organisation, and a format that it reads. */
function openOwn(encrypted: string | null | undefined, { options, scope }: ReasoningTarget): ReasoningPayload | undefined {
  const payload = openReasoning(encrypted)
  if (payload === undefined || payload.scope !== scope) return undefined
  return options.replay_formats === 'any' || payload.format === options.reasoning_format ? payload : undefined
}

/** The vendor's blob inside our `encrypted_content`; undefined if this endpoint cannot read it. */
export function openOwnContent(encrypted: string, target: ReasoningTarget): string | undefined {
  return openOwn(encrypted, target)?.data
}

/**
 * A reasoning item of the history in the form in which this endpoint accepts it: without id, and with its encrypted content unwrapped. Undefined if
 * the endpoint cannot read it and does not accept raw text either.
 */
export function encodeReasoningItem(item: ReasoningItem, target: ReasoningTarget, position: number): JsonObject | undefined {
  const { options } = target
  const payload = openOwn(item.encrypted_content, target)
  const id = options.reasoning_ids ? { id: `rs_${position}` } : {}
  const summary = (item.summary ?? []).map(({ text }) => ({ type: 'summary_text', text }))
  if (payload !== undefined && (payload.data !== undefined || payload.signature !== undefined)) {
    const { data, signature, text, format } = payload
    const routed =
      options.replay_formats === 'any' ? { format, ...(signature === undefined ? {} : { signature, content: textContent(item, text) }) } : {}
    return { type: 'reasoning', ...id, summary, ...(data === undefined ? {} : { encrypted_content: data }), ...routed }
  }
  const content = textContent(item, unsignedText(item))
  if (!options.reasoning_text || (content.length === 0 && summary.length === 0)) return undefined
  return { type: 'reasoning', ...id, summary, ...(content.length === 0 ? {} : { content }) }
}

/** Unsigned text in an envelope, which any endpoint may read. */
function unsignedText({ encrypted_content: encrypted, content }: ReasoningItem): string | undefined {
  if (content?.some(({ text }) => text !== '') === true) return undefined
  const payload = openReasoning(encrypted)
  return payload?.data === undefined && payload?.signature === undefined ? payload?.text : undefined
}

function textContent(item: ReasoningItem, exact: string | undefined): readonly JsonObject[] {
  if (exact !== undefined) return [{ type: 'reasoning_text', text: exact }]
  return (item.content ?? []).filter(({ text }) => text !== '').map(({ text }) => ({ type: 'reasoning_text', text }))
}

/** Whether the model takes any setting of reasoning. */
export const reasons = (supports: ReadonlySet<Parameter>): boolean =>
  supports.has('reasoning') || supports.has('reasoning_effort') || supports.has('include_reasoning')

/** The output limit for the conversion of efforts, if none is given. */
const ASSUMED_OUTPUT_TOKENS = 32_000

/** The request's `reasoning` in the endpoint's terms; undefined if nothing of it is left. Changes are listed in `dropped`. */
export function encodeReasoningOptions(request: ModelRequest, target: Target<ResponsesOptions>, dropped: Set<string>): JsonObject | undefined {
  const { options } = target
  if (request.reasoning == null) return undefined
  const {
    effort: _,
    max_tokens: maxTokens,
    enabled,
    summary,
    exclude,
    within_output: _within,
    stated: _stated,
    ...rest
  } = request.reasoning as ReasoningOptions & { readonly exclude?: unknown }
  const encoded: Record<string, unknown> = { ...rest }
  // A field of the Chat Completions format, for which vendors of this format refuse the call.
  if (exclude === true) dropped.add('reasoning.exclude')
  if (options.reasoning_budget && maxTokens != null) encoded['max_tokens'] = maxTokens
  if (options.reasoning_budget && enabled != null) encoded['enabled'] = enabled
  const effort = wantedEffort(request, target)
  if (effort !== undefined) {
    const nearest = nearestAllowed(effort, effortsFor(target))
    if (nearest !== undefined) encoded['effort'] = nearest
    if (nearest !== effort) dropped.add(nearest === undefined ? 'reasoning.effort' : `reasoning.effort: ${effort} became ${nearest}`)
  }
  if (summary != null) {
    if (options.reasoning_summary) encoded['summary'] = summary
    else dropped.add('reasoning.summary')
  }
  for (const key of Object.keys(encoded)) if (encoded[key] == null) delete encoded[key]
  return Object.keys(encoded).length === 0 ? undefined : encoded
}

/** The effort that the request implies: budgets and the bare switch are converted if the endpoint does not understand them. */
function wantedEffort(request: ModelRequest, target: Target<ResponsesOptions>): string | undefined {
  const requested = requestedReasoning(request.reasoning)
  const understood = target.options.reasoning_budget
  // The switch takes precedence over an effort next to it, as in the other formats.
  if (requested.mode === 'off') return understood && request.reasoning?.effort !== 'none' ? undefined : 'none'
  if (request.reasoning?.effort != null) return request.reasoning.effort
  if (understood) return undefined
  if (requested.mode === 'default') return undefined
  if (requested.maxTokens !== undefined)
    return budgetEffort(requested.maxTokens, request.max_output_tokens ?? target.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS)
  return 'medium'
}

function nearestAllowed(effort: string, allowed: readonly string[]): string | undefined {
  if (allowed.includes(effort)) return effort
  // If reasoning cannot be switched off, the least effort is the closest to none.
  return nearestEffort(effort === 'none' ? 'minimal' : (effort as Parameters<typeof nearestEffort>[0]), allowed)
}
