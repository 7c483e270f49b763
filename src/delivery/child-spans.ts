import { callerCallsAmong } from '../core/caller-call.ts'
import type { ChildSpan } from '../core/delivery.ts'
import type { Generation, GenerationAttempt, GenerationContent, GenerationStep } from '../core/generation.ts'
import type { OutputItem } from '../core/item.ts'
import { cutText } from '../lib/cut-text.ts'
import { defined } from '../lib/defined.ts'
import { attemptSpanId, otlpSpanId } from '../lib/derived-id.ts'

/** So that a run-away tool loop does not make a trace no backend can display. */
const MAX_TOOL_SPANS = 100
/** Of what a provider says about a failed tool; the output of the span has all of it. */
const MAX_MESSAGE_CHARS = 1_000

/** Upstream attempts, then tools, each in the order they started. Without usage or cost, which the generation's own span has. */
export function childSpans(generation: Generation, content: GenerationContent | undefined): readonly ChildSpan[] {
  return [...generation.attempts.map((attempt, i) => attemptSpan(generation, attempt, i + 1)), ...toolSpans(generation, content)]
}

function attemptSpan(generation: Generation, attempt: GenerationAttempt, number: number): ChildSpan {
  const id = attemptSpanId(generation.id, number)
  return {
    kind: 'attempt',
    id,
    otlpSpanId: otlpSpanId(id),
    name: `provider attempt ${number}: ${attempt.providerName}`,
    startedAt: attempt.startedAt,
    endedAt: attempt.durationMs === undefined ? Math.max(attempt.startedAt, generation.endedAt) : attempt.startedAt + attempt.durationMs,
    ok: attempt.errorType === undefined,
    ...(attempt.errorMessage === undefined ? {} : { message: attempt.errorMessage }),
    attributes: defined({
      'gateway.attempt.number': number,
      'gateway.attempt.provider': attempt.provider,
      'gateway.attempt.model': attempt.model,
      'gateway.attempt.upstream_model': attempt.upstreamModel,
      'gateway.attempt.upstream_id': attempt.upstreamId,
      'gateway.attempt.first_token_ms': attempt.firstTokenMs,
      'gateway.attempt.is_byok': attempt.isByok,
      'http.response.status_code': attempt.status > 0 ? attempt.status : undefined,
      'error.type': attempt.errorType,
    }),
  }
}

/** Items of tools other than the caller's functions: types that end in `_call`, or calls with a namespace. */
const isToolItem = (item: OutputItem): boolean =>
  item.type !== 'function_call' && item.type !== 'custom_tool_call' && (item.type.endsWith('_call') || item.type.includes(':'))

const fieldText = (item: OutputItem | undefined, names: readonly string[]): string | undefined => {
  for (const name of names) {
    const value = (item as { readonly [key: string]: unknown } | undefined)?.[name]
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  }
  return undefined
}

const GIVEN = ['arguments', 'action', 'operation', 'code', 'input', 'queries', 'query', 'prompt']
const FRAME: ReadonlySet<string> = new Set(['type', 'id', 'status', 'call_id', 'name', ...GIVEN])

/** The result of a tool whose item has fields of its own for it: a time, a page, an error. */
function restText(item: OutputItem | undefined): string | undefined {
  const rest = Object.entries(item ?? {}).filter(([name, value]) => !FRAME.has(name) && value !== undefined && value !== null)
  return rest.length === 0 ? undefined : JSON.stringify(Object.fromEntries(rest))
}

function toolSpans(generation: Generation, content: GenerationContent | undefined): readonly ChildSpan[] {
  const output = content?.output ?? []
  const items = new Set(output.filter(isToolItem))
  const ran = (generation.steps ?? []).slice(0, MAX_TOOL_SPANS).map((step) => {
    const item = [...items].find((each) => itemId(each) === step.itemId || each.id === step.itemId)
    if (item !== undefined) items.delete(item)
    return toolSpan(generation, step, item)
  })
  const isCallerCall = callerCallsAmong(output)
  const others = [...items].filter((item) => !isCallerCall(item))
  return withOwnIds([...ran, ...providerToolSpans(generation, others.slice(0, MAX_TOOL_SPANS - ran.length), resultsIn(output))])
}

/** Servers number the calls of each turn from the start. Platforms would keep only the last of the spans with one id. */
function withOwnIds(spans: readonly ChildSpan[]): readonly ChildSpan[] {
  const times = new Map<string, number>()
  return spans.map((span) => {
    const time = (times.get(span.id) ?? 0) + 1
    times.set(span.id, time)
    if (time === 1) return span
    const id = `${span.id}:${time}`
    return { ...span, id, otlpSpanId: otlpSpanId(id) }
  })
}

/** Shells and searches for tools have their result in an item of its own behind the call, with its id. The id may have been used before. */
function resultsIn(output: readonly OutputItem[]): ReadonlyMap<OutputItem, OutputItem> {
  const results = new Map<OutputItem, OutputItem>()
  const open = new Map<string, OutputItem>()
  for (const item of output) {
    const id = itemId(item)
    if (id === undefined) continue
    const call = open.get(id)
    if (!item.type.endsWith('_output')) open.set(id, item)
    else if (call !== undefined) results.set(call, item)
  }
  return results
}

/** Tools that the provider ran itself: their times are unknown, so they span the whole answer and say so. */
function providerToolSpans(generation: Generation, items: readonly OutputItem[], results: ReadonlyMap<OutputItem, OutputItem>): readonly ChildSpan[] {
  return items.map((item, i) => {
    const startedAt = Math.min(generation.endedAt, generation.startedAt + (generation.firstTokenMs ?? 0))
    const step: GenerationStep = {
      kind: 'tool',
      name: toolName(item),
      itemId: itemId(item) ?? String(i),
      startedAt,
      durationMs: generation.endedAt - startedAt,
      ...failureOf(item),
    }
    const span = toolSpan(generation, step, item, results.get(item))
    return { ...span, attributes: { ...span.attributes, 'gateway.tool.timing': 'unknown' } }
  })
}

/** The failure that the provider reports of its tool, in its own words. */
function failureOf(item: OutputItem): Pick<GenerationStep, 'errorType' | 'errorMessage'> {
  const message = fieldText(item, ['error'])
  if (message === undefined && (item as { readonly status?: unknown }).status !== 'failed') return {}
  return { errorType: 'provider_unavailable', ...(message === undefined ? {} : { errorMessage: cutText(message, MAX_MESSAGE_CHARS) }) }
}

const itemId = (item: OutputItem): string | undefined => {
  const callId = (item as { readonly [key: string]: unknown })['call_id']
  return typeof callId === 'string' ? callId : (item.id ?? undefined)
}

const toolName = (item: OutputItem): string => {
  const name = (item as { readonly [key: string]: unknown })['name']
  return typeof name === 'string' && name !== '' ? name : item.type.replace(/_call$/, '')
}

function toolSpan(generation: Generation, step: GenerationStep, item: OutputItem | undefined, result = item): ChildSpan {
  const id = `${generation.id}:tool:${step.itemId}`
  const input = fieldText(item, GIVEN)
  const output = fieldText(result, ['output', 'outputs', 'result', 'results']) ?? restText(result)
  return {
    kind: 'tool',
    id,
    otlpSpanId: otlpSpanId(id),
    name: `tool: ${step.name}`,
    startedAt: step.startedAt,
    endedAt: step.startedAt + step.durationMs,
    ok: step.errorType === undefined,
    ...(step.errorMessage === undefined ? {} : { message: step.errorMessage }),
    attributes: defined({ 'gen_ai.tool.name': step.name, 'gen_ai.tool.call.id': step.itemId, 'error.type': step.errorType }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  }
}
