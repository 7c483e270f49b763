import { createHash } from 'node:crypto'
import type { AnswerCache, CacheWish, KeptAnswer } from '../core/answer-cache.ts'
import type { Call, Handler, Layer } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import { servedModel } from '../core/endpoint-names.ts'
import type { Catalog, Endpoint } from '../core/endpoint.ts'
import type { ModelEvent } from '../core/event.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { nextTurn } from '../lib/next-turn.ts'
import { AnswerNotes } from './answer-notes.ts'

export interface AnswerCacheOptions {
  /** Absent: nothing is kept. */
  readonly answers?: AnswerCache
  readonly catalog: () => Catalog
  /** What else has a part in the answer to a call than its request. Absent: nothing. Throws GatewayError. */
  readonly partIn?: (call: Call) => unknown
}

/** Events told in one batch when an answer is told again: as many as a reader takes without waiting. */
const BATCH = 64
/** Of telling an answer again, until others have their turn. */
const PAUSE_AFTER_MS = 10

/**
 * Behind guardrails, which look at every request, and before whatever costs money: who asks the same again, with the same key, is told the same
 * answer, for nothing. What is told is what models said, not what was written to the caller, so that streams and JSON share it and every call has
 * its own ids. Only whole answers are kept.
 */
export function answerCacheLayer({ answers, catalog, partIn }: AnswerCacheOptions): Layer {
  return (next) => (call) => {
    const { cache: wish } = call
    // Who wants to see what a provider is sent wants a provider asked.
    if (wish === undefined || answers?.enabled() !== true || call.echoes === true) return next(call)
    return answered(next, call, { wish, answers, catalog, part: partIn?.(call) })
  }
}

interface Asked {
  readonly wish: CacheWish
  readonly answers: AnswerCache
  readonly catalog: () => Catalog
  readonly part: unknown
}

async function* answered(next: Handler, call: Call, { wish, answers, catalog, part }: Asked): ReturnType<Handler> {
  const key = keyOf(call, part)
  const kept = wish.fresh ? undefined : await answers.find(key)
  call.signal.throwIfAborted()
  const endpoint = kept && servingOf(kept, call, catalog())
  if (kept !== undefined && endpoint !== undefined) {
    tellOf(kept, endpoint, call)
    yield* toldAgain(kept.events, call)
    return
  }
  call.trace.cached = { status: 'miss', ttlMs: wish.ttlMs }
  const notes = new AnswerNotes()
  for await (const events of next(call)) {
    notes.take(events)
    if (notes.whole !== undefined && isWorthKeeping(events.at(-1), call)) await keep(answers, key, call, wish, notes.whole)
    yield events
  }
}

/**
 * What makes two requests the same: who asks, where, and everything that has a part in the answer. How it is told, and what only records and
 * sessions are named by, has none. Front doors translate, each in its way: what one was asked, another is never asked in the same words.
 */
function keyOf({ owner, origin, request }: Call, part: unknown): string {
  const { stream: _, stream_options: _options, session_id: _session, trace: _trace, metadata: _metadata, ...asked } = request
  return createHash('sha256')
    .update(`1\n${owner.workspaceId}\n${owner.keyHash}\n${origin.apiType}\n${JSON.stringify([asked, part])}`)
    .digest('base64url')
}

/** The endpoint that served it, if it still may serve this caller. */
function servingOf({ model, endpointId }: KeptAnswer, { admits }: Call, catalog: Catalog): Endpoint | undefined {
  const endpoint = catalog.find(model)?.endpoints.find(({ id }) => id === endpointId)
  return endpoint === undefined || admits?.(endpoint) !== undefined ? undefined : endpoint
}

function tellOf({ sourceId, strategy, keptAt, expiresAt }: KeptAnswer, endpoint: Endpoint, { trace, clock }: Call): void {
  const now = clock.now()
  trace.cached = { status: 'hit', sourceId, ageMs: Math.max(0, now - keptAt), ttlMs: Math.max(0, expiresAt - now) }
  trace.params['response_cache'] = `the answer of ${sourceId} was told again`
  trace.strategy = strategy
  trace.candidates = [endpoint]
  trace.served = { endpoint, status: 200, startedAt: now }
  trace.cost = NO_COST
  // Whatever becomes of the telling.
  trace.spent = ZERO_USAGE
}

/** From memory a long answer would be told in one go, and everybody else would wait for its last byte; who has left would not even be noticed. */
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

/** Nobody counted tokens for it. */
const unpaid = (event: ModelEvent): ModelEvent => {
  if (event.type === 'response-end') return { ...event, usage: ZERO_USAGE }
  if (event.type !== 'response-start') return event
  const { upstreamId: _, ...rest } = event
  return { ...rest, prompt: ZERO_USAGE }
}

/** An answer that was cut off by a filter, or where the caller's money ended, says nothing of the next. */
function isWorthKeeping(last: ModelEvent | undefined, { trace }: Call): boolean {
  if (last?.type !== 'response-end' || last.reason === 'content_filter') return false
  return last.reason !== 'length' || trace.params['max_output_tokens'] === undefined
}

async function keep(answers: AnswerCache, key: string, call: Call, { ttlMs }: CacheWish, events: readonly ModelEvent[]): Promise<void> {
  const { served } = call.trace
  if (served === undefined || call.signal.aborted) return
  const now = call.clock.now()
  const { endpoint } = served
  const { strategy } = call.trace
  const answer = { sourceId: call.id, model: servedModel(endpoint), endpointId: endpoint.id, strategy, keptAt: now, expiresAt: now + ttlMs, events }
  await answers.keep(key, call.owner.workspaceId, answer)
}
