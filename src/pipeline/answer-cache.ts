import { createHash } from 'node:crypto'
import type { AnswerCache, CachePreferences, KeptAnswer } from '../core/answer-cache.ts'
import type { Call, Handler, Layer } from '../core/call.ts'
import { isCall } from '../core/caller-call.ts'
import { NO_COST } from '../core/cost.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Catalog, Endpoint } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import type { JsonObject } from '../core/item.ts'
import { asksToPrewarm } from '../core/prewarm.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { AnswerNotes } from './answer-notes.ts'

export interface AnswerCacheOptions {
  /** Absent: no answer is kept. */
  readonly answers?: AnswerCache
  readonly catalog: () => Catalog
  /** What affects the answer besides the request. Absent: nothing does. Throws GatewayError. */
  readonly partIn?: (call: Call) => unknown
}

/** Events of one batch when a kept answer is told: as many as a reader takes without waiting. */
const BATCH = 64
/** How long a kept answer is told before other calls get their turn. */
const PAUSE_AFTER_MS = 10

/**
 * Behind guardrails, which look at every request, and in front of everything that costs money: the same request with the same key gets the same
 * answer, free of charge. What is kept is what the models said, not what was written to the caller, so streams and JSON share it and every call has
 * its own ids. Only complete answers are kept.
 */
export function answerCacheLayer({ answers, catalog, partIn }: AnswerCacheOptions): Layer {
  return (next) => (call) => {
    const { cache: settings } = call
    // A caller who asks to see what a provider is sent wants a provider to be asked, and so does one who wants its cache filled.
    if (settings === undefined || answers?.enabled() !== true || call.echoes === true || asksToPrewarm(call.request)) return next(call)
    return answered(next, call, { preferences: settings, answers, catalog, part: partIn?.(call) })
  }
}

interface Asked {
  readonly preferences: CachePreferences
  readonly answers: AnswerCache
  readonly catalog: () => Catalog
  readonly part: unknown
}

async function* answered(next: Handler, call: Call, { preferences, answers, catalog, part }: Asked): ReturnType<Handler> {
  const key = keyOf(call, part)
  const cached = preferences.fresh ? undefined : await answers.find(key)
  call.signal.throwIfAborted()
  const endpoint = cached && servingOf(cached, call, catalog())
  if (cached !== undefined && endpoint !== undefined) {
    recordHit(cached, endpoint, call)
    yield* toldAgain(cached.events, call)
    return
  }
  call.trace.cached = { status: 'miss', ttlMs: preferences.ttlMs }
  const notes = new AnswerNotes()
  for await (const events of next(call)) {
    notes.take(events)
    if (notes.whole !== undefined && isWorthKeeping(notes.whole, call)) await keep(answers, key, call, preferences, notes.whole)
    yield events
  }
}

/**
 * What makes two requests the same: who asks, at which front door, and everything that affects the answer. How the answer is delivered, and what only
 * records and sessions are named by, does not. Each front door translates in its own way, so they never share answers.
 */
function keyOf({ owner, origin, request }: Call, part: unknown): string {
  const { stream: _, stream_options: _options, session_id: _session, trace: _trace, metadata: _metadata, ...content } = request
  return createHash('sha256')
    .update(`1\n${owner.workspaceId}\n${owner.keyHash}\n${origin.apiType}\n${JSON.stringify([content, part])}`)
    .digest('base64url')
}

/** The endpoint that served it, if it still may serve this caller. */
function servingOf({ model, endpointId }: KeptAnswer, { admits }: Call, catalog: Catalog): Endpoint | undefined {
  const endpoint = catalog.find(model)?.endpoints.find(({ id }) => id === endpointId)
  return endpoint === undefined || admits?.(endpoint) !== undefined ? undefined : endpoint
}

function recordHit({ sourceId, strategy, keptAt, expiresAt }: KeptAnswer, endpoint: Endpoint, { trace, clock }: Call): void {
  const now = clock.now()
  trace.cached = { status: 'hit', sourceId, ageMs: Math.max(0, now - keptAt), ttlMs: Math.max(0, expiresAt - now) }
  trace.params['response_cache'] = `the answer of ${sourceId} was reused`
  trace.strategy = strategy
  trace.candidates = [endpoint]
  trace.served = { endpoint, status: 200, startedAt: now }
  trace.cost = NO_COST
  // However the telling ends, it costs nothing.
  trace.spentUsage = ZERO_USAGE
}

/** Read from memory a long answer would be told in one go: other calls would wait for its last byte, and a caller who left would go unnoticed. */
async function* toldAgain(events: readonly ModelEvent[], { clock, signal }: Call): ReturnType<Handler> {
  let since = clock.monotonic()
  for (let at = 0; at < events.length; at += BATCH) {
    yield events.slice(at, at + BATCH).map(unpaid)
    if (clock.monotonic() - since < PAUSE_AFTER_MS) continue
    await nextTurn()
    signal.throwIfAborted()
    since = clock.monotonic()
  }
}

/** The kept answer costs no tokens. */
const unpaid = (event: ModelEvent): ModelEvent => {
  if (event.type === 'response-end') return { ...event, usage: ZERO_USAGE }
  if (event.type !== 'response-start') return event
  const { upstreamId: _, ...rest } = event
  return { ...rest, prompt: ZERO_USAGE }
}

/**
 * An answer cut off by a filter, because the caller's money ran out, or by its provider within a call says nothing about the next one, nor does one for
 * which a tool or a plugin failed.
 */
function isWorthKeeping(events: readonly ModelEvent[], { trace }: Call): boolean {
  const last = events.at(-1)
  if (last?.type !== 'response-end' || last.reason === 'content_filter') return false
  if (trace.pipeline.some(({ data }) => data?.['error'] !== undefined)) return false
  const isCut = last.reason === 'length'
  return !(isCut && trace.params['max_output_tokens'] !== undefined) && !hasBrokenItem(events, isCut)
}

/** Whose end says nothing about the answer. Code that fails is a part of the model's work. */
const INDIFFERENT: ReadonlySet<string> = new Set(['message', 'reasoning', 'code_interpreter_call'])

/** `isCut`: the answer ends at its limit, where a call may be incomplete. */
function hasBrokenItem(events: readonly ModelEvent[], isCut: boolean): boolean {
  const types = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'item-start') types.set(event.key, event.item.type)
    if (event.type !== 'item-end') continue
    const type = types.get(event.key)!
    if (event.lasting === true || INDIFFERENT.has(type) || !isBroken(event.item)) continue
    if (!isCut || !isCall(type)) return true
  }
  return false
}

/** A list of a server's tools has an error and no status. */
const isBroken = ({ status, error }: JsonObject = {}): boolean => status === 'failed' || status === 'incomplete' || error != null

async function keep(answers: AnswerCache, key: string, call: Call, { ttlMs }: CachePreferences, events: readonly ModelEvent[]): Promise<void> {
  const { served } = call.trace
  if (served === undefined || call.signal.aborted) return
  const now = call.clock.now()
  const { endpoint } = served
  const { strategy } = call.trace
  const answer = { sourceId: call.id, model: servedModel(endpoint), endpointId: endpoint.id, strategy, keptAt: now, expiresAt: now + ttlMs, events }
  await answers.keep(key, call.owner.workspaceId, answer)
}
