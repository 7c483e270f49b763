import type { CachePreferences } from '../core/answer-cache.ts'
import type { AnswerHold, Call, CallOrigin, Owner, StreamFailure } from '../core/call.ts'
import type { OutputItem } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'
import type { Clock } from '../lib/clock.ts'

const NOTHING: readonly OutputItem[] = []

export interface CallInput {
  readonly id: string
  readonly receivedAt: number
  readonly requestId: string
  readonly owner: Owner
  readonly request: ModelRequest
  readonly requestedModel: string
  readonly signal: AbortSignal
  readonly origin: CallOrigin
  readonly presetId?: string
  readonly streamFailure?: StreamFailure
  readonly cache?: CachePreferences
  readonly hold?: AnswerHold
  readonly visibilityOf?: Call['visibilityOf']
}

/** What a call is made with besides its input. */
export interface CallContext {
  readonly clock: Clock
  readonly random: () => number
  readonly echoUpstreamBody: () => boolean
}

/** A call of which only the request is known yet. */
export function createCall(options: CallContext, input: CallInput): Call {
  const { request } = input
  return {
    ...input,
    stream: request.stream === true,
    ...(request.stream === true && request.debug?.echo_upstream_body === true && options.echoUpstreamBody() ? { echoes: true } : {}),
    clock: options.clock,
    random: options.random,
    ...(request.session_id === undefined ? {} : { sessionId: request.session_id }),
    trace: { strategy: 'direct', candidates: [], rejected: new Map(), attempts: [], pipeline: [], params: {} },
    output: () => NOTHING,
  }
}
