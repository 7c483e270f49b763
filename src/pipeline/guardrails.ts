import type { Call, Handler, Layer, Owner } from '../core/call.ts'
import type { Catalog, Endpoint } from '../core/endpoint.ts'
import { GatewayError } from '../core/error.ts'
import type { PipelineStage } from '../core/generation.ts'
import type { AppliedGuardrail, FilterAction, Guardrails } from '../core/guardrail.ts'
import type { ModelRequest } from '../core/request.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { modelNames, type RoutingDefaults } from '../router/plan.ts'
import { resolveModel } from '../router/variants.ts'
import { compileFilters, type ContentFilter } from './guardrails/content-filters.ts'
import { compileEndpointRule, wantsNoRetention, type EndpointRule } from './guardrails/endpoint-rules.ts'
import { collectTexts, replaceTexts, withoutTexts, type TextSlot } from './guardrails/request-texts.ts'
import { redactText, type Hit } from './guardrails/hit-list.ts'
import { redact } from './guardrails/redact-json.ts'
import { scanTexts, type Scan } from './guardrails/scan-texts.ts'

export interface GuardrailOptions {
  /** Absent: no guardrails. */
  readonly guardrails?: Guardrails
  readonly catalog: () => Catalog
  readonly defaults: (owner: Owner) => RoutingDefaults
  /** Texts of one request that filters read. */
  readonly maxTexts?: number
}

interface Compiled {
  readonly filters: readonly ContentFilter[]
  readonly endpointRule: EndpointRule | undefined
  /** Answers for callers whose data may not be retained anywhere are not kept here either. */
  readonly keepsNothing: boolean
}

const DONE: { readonly [A in FilterAction]: string } = { flag: 'flagged', redact: 'redacted', block: 'blocked' }
/** A list of them takes many times the memory of the body. No honest request has as many. */
const MAX_TEXTS = 500_000
/** How many phrases are quoted to the caller, and how much of each. */
const MAX_QUOTED = 20
const MAX_QUOTE = 120

/**
 * Between limits and plugins: applies the operator's guardrails to requests. Callers without guardrails pay one lookup. Throws GatewayError
 * `permission_denied`. What was found is noted in the trace, never in the clear.
 */
export function guardrailLayer({ guardrails, catalog, defaults, maxTexts = MAX_TEXTS }: GuardrailOptions): Layer {
  const compiled = new WeakMap<readonly AppliedGuardrail[], Compiled>()
  const compile = (applied: readonly AppliedGuardrail[]): Compiled => {
    let known = compiled.get(applied)
    if (known === undefined) {
      known = {
        filters: compileFilters(applied),
        endpointRule: compileEndpointRule(applied),
        keepsNothing: applied.some(({ rules }) => wantsNoRetention(rules)),
      }
      compiled.set(applied, known)
    }
    return known
  }
  return (next) => (call) => {
    const applied = guardrails?.of(call.owner)
    if (applied === undefined) return next(call)
    const { filters, endpointRule, keepsNothing } = compile(applied)
    const endpoints = (): readonly Endpoint[] => endpointsOf(modelNames(call.request, defaults(call.owner)), catalog())
    if (endpointRule !== undefined) checkModels(call, endpointRule, endpoints())
    const guarded = guard(call, endpointRule, keepsNothing)
    if (filters.length > 0) return filtered(next, guarded, { filters, endpoints, maxTexts })
    // Entries that cannot be read, as in a row edited by hand, are skipped.
    call.trace.unread = false
    return next(guarded)
  }
}

/**
 * Outside the limits, whose refusals come before anything is read: as long as the filters have not read a request that they may change, records and
 * destinations get none of its texts. Callers without such filters pay one lookup.
 */
export function unreadLayer({ guardrails }: Pick<GuardrailOptions, 'guardrails'>): Layer {
  return (next) => (call) => (mayChange(guardrails, call.owner) ? withholding(next, call) : next(call))
}

const entriesOf = ({ rules }: AppliedGuardrail): readonly { readonly action: FilterAction }[] => [
  ...(rules.content_filter_builtins ?? []),
  ...(rules.content_filters ?? []),
]

function mayChange(guardrails: Guardrails | undefined, owner: Owner): boolean {
  try {
    return guardrails?.of(owner)?.some((applied) => entriesOf(applied).some(({ action }) => action !== 'flag')) ?? false
  } catch {
    // They are not known yet. The call is refused for that.
    return true
  }
}

async function* withholding(next: Handler, call: Call): ReturnType<Handler> {
  call.trace.unread = true
  try {
    yield* next(call)
  } finally {
    if (call.trace.unread) call.trace.keptRequest = withoutTexts(call.request)
  }
}

function guard(call: Call, admits: EndpointRule | undefined, keepsNothing: boolean): Call {
  if (admits === undefined) return call
  if (call.cache === undefined || !keepsNothing) return { ...call, admits }
  const { cache: _, ...others } = call
  return { ...others, admits }
}

const endpointsOf = (names: readonly string[], catalog: Catalog): readonly Endpoint[] =>
  names.flatMap((name) => resolveModel(name, catalog)?.model.endpoints ?? [])

/** Runs before anything costs money. A call all of whose models are forbidden is refused here; the others are filtered when they are planned. */
function checkModels(call: Call, rule: EndpointRule, endpoints: readonly Endpoint[]): void {
  const reasons = new Set<string>()
  for (const endpoint of endpoints) {
    const reason = rule(endpoint)
    if (reason === undefined) return
    reasons.add(reason)
  }
  const [reason] = reasons
  if (reason === undefined) return
  call.trace.candidates = endpoints
  throw refuse(`No endpoint may serve "${call.requestedModel}": ${[...reasons].slice(0, 3).join('; ')}`, { reason: 'guardrail' })
}

interface Reading extends Pick<Compiled, 'filters'>, Required<Pick<GuardrailOptions, 'maxTexts'>> {
  readonly endpoints: () => readonly Endpoint[]
}

async function* filtered(next: Handler, call: Call, { filters, endpoints, maxTexts }: Reading): ReturnType<Handler> {
  const strict = filters.find(({ action }) => action !== 'flag')
  // One more than may be, so that it shows whether these are all.
  const slots = collectTexts(call.request, maxTexts + 1)
  const tooMany = slots.length > maxTexts ? `it has more than ${maxTexts} texts` : undefined
  const why = isInTokens(call) ? 'it is in tokens instead of text' : tooMany
  if (strict !== undefined && why !== undefined) {
    call.trace.candidates = endpoints()
    throw notRead(strict, why)
  }
  const { hits, unfinished = tooMany } = await scan(call, slots, filters)
  if (hits.length === 0 && unfinished === undefined) {
    yield* next(call)
    return
  }
  const quotes = quoter(unfinished === undefined ? hits : undefined, slots)
  if (hits.length > 0) call.trace.pipeline.push(...stagesOf(hits, quotes))
  const blocking = hits.filter(({ filter }) => filter.action === 'block')
  if (unfinished !== undefined && strict !== undefined) {
    // The request was not read to its end, so nothing of it may reach a provider or a record.
    call.trace.candidates = endpoints()
    throw blocking.length > 0 ? blocked(blocking, quotes) : notRead(strict, unfinished)
  }
  const changing = hits.filter(({ filter }) => filter.action !== 'flag')
  const request = redacted(call.request, slots, changing)
  // Records and destinations get the redacted request, also if it was refused.
  if (request !== call.request) call.trace.keptRequest = request
  if (blocking.length > 0) {
    call.trace.candidates = endpoints()
    throw blocked(blocking, quotes)
  }
  yield* next(request === call.request ? call : { ...call, request })
}

/** A prompt given as token numbers cannot be read by filters, so whoever may not send unread text may not send it. */
const isInTokens = ({ request }: Call): boolean => request.input.some(({ type }) => type === 'input_tokens')

/** A request that was not read to its end is kept nowhere, whatever ended the reading. */
async function scan(call: Call, slots: readonly TextSlot[], filters: readonly ContentFilter[]): Promise<Scan> {
  let unread = filters.some(({ action }) => action !== 'flag')
  try {
    const result = await scanTexts(slots, filters, { now: () => call.clock.monotonic(), rest: () => rest(call.signal) })
    if (result.unfinished === undefined) unread = false
    return result
  } finally {
    call.trace.unread = false
    if (unread) call.trace.keptRequest = withoutTexts(call.request)
  }
}

/** Lets other calls run, unless this caller has left. */
async function rest(signal: AbortSignal): Promise<void> {
  await nextTurn()
  signal.throwIfAborted()
}

const notRead = ({ guardrail }: ContentFilter, why: string): GatewayError =>
  refuse(`Request blocked by content filters, which did not read it to its end: ${why}`, {
    reason: 'guardrail',
    guardrail_id: guardrail.id,
    guardrail_scope: guardrail.scope,
  })

function redacted(request: ModelRequest, slots: readonly TextSlot[], hits: readonly Hit[]): ModelRequest {
  if (hits.length === 0) return request
  const bySlot = Map.groupBy(hits, ({ slot }) => slot)
  const texts = new Map([...bySlot].map(([slot, own]) => [slot, redact(slots[slot]!.text, own)]))
  return replaceTexts(request, texts)
}

function blocked(hits: readonly Hit[], quotes: Quotes): GatewayError {
  const content = hits.find(({ filter }) => filter.kind === 'content')
  const { guardrail } = (content ?? hits[0]!).filter
  const about = { reason: 'guardrail', guardrail_id: guardrail.id, guardrail_scope: guardrail.scope }
  if (content !== undefined) return refuse(`Request blocked by content filter: ${content.filter.label}`, about)
  return refuse('Request blocked: prompt injection patterns detected', { ...about, patterns: quotes(hits) })
}

const refuse = (message: string, metadata: { readonly [key: string]: unknown }): GatewayError =>
  new GatewayError('permission_denied', message, { failover: 'never', metadata })

/** One stage for each guardrail and kind of filter that found something. */
function stagesOf(hits: readonly Hit[], quotes: Quotes): readonly PipelineStage[] {
  const groups = Map.groupBy(hits, ({ filter: { guardrail, kind, action } }) => `${guardrail.id} ${kind} ${action}`)
  return [...groups.values()].map((group): PipelineStage => {
    const { guardrail, kind, action } = group[0]!.filter
    const found = group.filter(({ continued }) => !continued)
    const done = DONE[action]
    const entities = [...new Set(found.map(({ filter }) => filter.entity))]
    const names = [...new Set(found.flatMap(({ what }) => what ?? []))].slice(0, MAX_QUOTED)
    const what = kind === 'injection' ? `prompt injection detected (${found.length} matched)` : `${entities.join(', ')} (${found.length} matched)`
    return {
      type: 'guardrail',
      name: kind === 'injection' ? 'regex_pi_detection' : 'content-filter',
      guardrail_id: guardrail.id,
      guardrail_scope: guardrail.scope,
      summary: `${done[0]!.toUpperCase()}${done.slice(1)}: ${what}`,
      data: {
        action: done,
        flagged: true,
        detected: true,
        engines: ['regex'],
        matched_entity_types: entities,
        matches: found.length,
        ...(names.length === 0 ? {} : { pattern_names: names }),
        ...(kind === 'injection' ? { patterns: quotes(group) } : {}),
      },
    }
  })
}

type Quotes = (hits: readonly Hit[]) => readonly string[]

/**
 * Attacks are quoted; sensitive text never is, even as a part of an attack. `all`: everything found in the request; undefined if it was not read to
 * its end, so that nobody knows what a quote would reveal.
 */
function quoter(all: readonly Hit[] | undefined, slots: readonly TextSlot[]): Quotes {
  const sensitive = Map.groupBy(all?.filter(({ filter }) => filter.kind === 'content' && filter.action !== 'flag') ?? [], ({ slot }) => slot)
  return (hits) => {
    const quoted = new Map<string, string>()
    for (const { slot, start, end: last } of all === undefined ? [] : hits) {
      const end = Math.min(last, start + MAX_QUOTE)
      const text = slots[slot]!.text.slice(start, end)
      if (quoted.has(text)) continue
      if (quoted.size === MAX_QUOTED) break
      const within = sensitive.get(slot)?.filter((hit) => hit.start < end && hit.end > start) ?? []
      quoted.set(
        text,
        redactText(
          text,
          within.map((hit) => ({ ...hit, start: Math.max(hit.start, start) - start, end: Math.min(hit.end, end) - start })),
        ),
      )
    }
    return [...new Set(quoted.values())]
  }
}
