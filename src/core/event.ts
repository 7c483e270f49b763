import type { Annotation, Logprob, OutputItem } from './item.ts'
import type { PromptCount, Usage } from './usage.ts'

/** Why the model stopped, in the gateway's words. `tool_calls` never decides anything: decoded calls do. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal'

/**
 * What a model says, free of any wire format. Decoders emit these, layers may add or rewrite them, the assembler folds them.
 *
 * Rules for producers:
 * - `key` names an item within one answer and is private to the producer; the assembler mints all public ids.
 * - An item is started once, then receives deltas, then ends once. `item-start.item` carries the type and what is known already
 *   (`call_id` and `name` of a call, the whole item of a built-in tool); text, arguments and summaries arrive as deltas.
 * - Items may overlap (parallel calls); the assembler streams them one after the other.
 * - `item-end.item` completes or overrides fields (`encrypted_content`, `signature`, `status: 'incomplete'`, full `arguments` when they
 *   extend the deltas).
 * - Exactly one `response-end` closes a successful answer. Failures are thrown as GatewayError, never events.
 */
export type ModelEvent =
  | {
      readonly type: 'response-start'
      readonly upstreamId?: string
      readonly model?: string
      readonly serviceTier?: string
      /** What the prompt took, from upstreams that count it before they answer. */
      readonly prompt?: PromptCount
    }
  /** `id`: the public id, from layers of the gateway that must know it; the assembler mints all others. */
  | { readonly type: 'item-start'; readonly key: string; readonly item: OutputItem; readonly id?: string }
  | TextDelta
  | { readonly type: 'refusal-delta'; readonly key: string; readonly delta: string; readonly part?: number }
  | ReasoningDelta
  | ArgumentsDelta
  /** Offsets of citations count UTF-16 code units of the text part they follow. */
  | { readonly type: 'annotation'; readonly key: string; readonly annotation: Annotation; readonly part?: number }
  /** Progress of a built-in tool: `name` is the wire event's name without `response.`, `fields` its own fields. */
  | { readonly type: 'item-event'; readonly key: string; readonly name: string; readonly fields?: { readonly [field: string]: unknown } }
  | { readonly type: 'item-end'; readonly key: string; readonly item?: { readonly [field: string]: unknown } }
  | {
      readonly type: 'response-end'
      readonly reason: FinishReason
      readonly nativeReason?: string
      /** What its vendor says about the end besides the reason. */
      readonly stopped?: Stopped
      /** The upstream goes on when its answer is sent back: tools of its own are not done. Whoever does not ask it to has an answer cut off. */
      readonly paused?: true
      readonly usage?: Usage
      readonly serviceTier?: string
      /** One for each input, in their order: all there is of an answer to a request for embeddings. */
      readonly vectors?: readonly Vector[]
    }

/** What ended the answer, if the vendor says so. */
export interface Stopped {
  /** The sequence of the caller's that the answer ran into. */
  readonly sequence?: string
  /** Why the model would not answer: a word for programs, and one for people. */
  readonly refusal?: { readonly category: string | null; readonly explanation: string | null }
}

/** Numbers, or little-endian 32-bit floats in base64. */
export type Vector = readonly number[] | string

export interface TextDelta {
  readonly type: 'text-delta'
  readonly key: string
  readonly delta: string
  /** Which content part of the message; a change of number closes the open part. */
  readonly part?: number
  readonly logprobs?: readonly Logprob[]
  /** True when the delta is known to need no JSON escaping: the assembler then copies it into the wire event as it is. */
  readonly plain?: boolean
}
export interface ReasoningDelta {
  readonly type: 'reasoning-delta'
  readonly key: string
  readonly kind: 'text' | 'summary'
  readonly delta: string
  readonly part?: number
  readonly plain?: boolean
}
/** Arguments of a function call or the input of a custom tool call. */
export interface ArgumentsDelta {
  readonly type: 'arguments-delta'
  readonly key: string
  readonly delta: string
  readonly plain?: boolean
}

/** The events after which an answer is committed: the caller will see bytes, failover is over. */
export function isContentEvent(event: ModelEvent): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
    case 'arguments-delta':
      return event.delta !== ''
    case 'item-start':
      // A call commits when it is announced (its name is content); messages and reasoning only with their first delta.
      return event.item.type !== 'message' && event.item.type !== 'reasoning'
    case 'response-end':
      return event.vectors !== undefined
    case 'item-end':
      return event.item?.['encrypted_content'] != null || event.item?.['signature'] != null
    default:
      return false
  }
}
