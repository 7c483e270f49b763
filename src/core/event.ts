import type { Annotation, JsonObject, Logprob, OutputItem } from './item.ts'
import type { PromptCount, Usage } from './usage.ts'

/** Why the model stopped, in the gateway's terms. `tool_calls` is informational: only decoded calls decide whether there are calls. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal'

/**
 * The output of a model, independent of any wire format. Decoders emit these events, layers may add or rewrite them, and the assembler combines them.
 *
 * Rules for producers:
 * - `key` identifies an item within one answer and is private to the producer; the assembler creates all public ids.
 * - An item starts once, then receives deltas, then ends once. `item-start.item` has the type and what is already known (`call_id` and `name` of a
 *   call, the whole item of a built-in tool); text, arguments and summaries arrive as deltas.
 * - Items may overlap (parallel calls); the assembler streams them one after the other.
 * - `item-end.item` completes or overrides fields (`encrypted_content`, `signature`, `status: 'incomplete'`, full `arguments` if they extend the
 *   deltas).
 * - Exactly one `response-end` ends a successful answer. Failures are thrown as GatewayError and are never events.
 */
export type ModelEvent =
  | {
      readonly type: 'response-start'
      readonly upstreamId?: string
      readonly model?: string
      readonly serviceTier?: string
      /** The token counts of the prompt, from upstreams that report them before they answer. */
      readonly prompt?: PromptCount
    }
  /** `id`: the public id, from layers of the gateway that must know it; the assembler creates all others. */
  | { readonly type: 'item-start'; readonly key: string; readonly item: OutputItem; readonly id?: string }
  | TextDelta
  | { readonly type: 'refusal-delta'; readonly key: string; readonly delta: string; readonly part?: number }
  | ReasoningDelta
  | ArgumentsDelta
  /** Offsets of citations count UTF-16 code units of the text part that they follow. */
  | { readonly type: 'annotation'; readonly key: string; readonly annotation: Annotation; readonly part?: number }
  /** Progress of a built-in tool: `name` is the name of the wire event without `response.`, `fields` are its own fields. */
  | { readonly type: 'item-event'; readonly key: string; readonly name: string; readonly fields?: { readonly [field: string]: unknown } }
  | {
      readonly type: 'item-end'
      readonly key: string
      readonly item?: { readonly [field: string]: unknown }
      /** A later answer continues the item, which stays in progress in this one. */
      readonly waits?: true
      /** The gateway's tool failed in a way that says nothing about its state: the same call would fail again. */
      readonly lasting?: true
    }
  | {
      readonly type: 'response-end'
      readonly reason: FinishReason
      readonly nativeReason?: string
      /** What the vendor says about the end besides the reason. */
      readonly stopped?: Stopped
      /** The upstream's own tools have not finished, and it continues if its answer is sent back. Otherwise the answer remains incomplete. */
      readonly paused?: true
      readonly usage?: Usage
      readonly serviceTier?: string
      /** One vector per input, in the same order. An answer to an embeddings request contains nothing else. */
      readonly vectors?: readonly Vector[]
    }

/** What ended the answer, and what else the vendor says about it at its end. */
export interface Stopped {
  /** The caller's stop sequence that ended the answer. */
  readonly sequence?: string
  /** Why the model refused: a category for programs, and an explanation for people. */
  readonly refusal?: { readonly category: string | null; readonly explanation: string | null }
  /** What the vendor's moderation found in prompt and answer, in its own terms, for callers who asked for it. */
  readonly moderation?: JsonObject
}

/** Numbers, or little-endian 32-bit floats in base64. */
export type Vector = readonly number[] | string

export interface TextDelta {
  readonly type: 'text-delta'
  readonly key: string
  readonly delta: string
  /** The content part of the message; a different number closes the open part. */
  readonly part?: number
  readonly logprobs?: readonly Logprob[]
  /** True if the delta is known to need no JSON escaping; the assembler then copies it to the wire event unchanged. */
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
/** The arguments of a function call, or the input of a custom tool call. */
export interface ArgumentsDelta {
  readonly type: 'arguments-delta'
  readonly key: string
  readonly delta: string
  readonly plain?: boolean
}

/** Whether an event is content. It commits the answer if the caller sees it (see `Call.visibilityOf`): failover is no longer possible then. */
export function isContentEvent(event: ModelEvent): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
    case 'arguments-delta':
      return event.delta !== ''
    case 'item-start':
      // A call is content when it is announced, because its name is. Messages and reasoning are only with their first delta.
      return event.item.type !== 'message' && event.item.type !== 'reasoning'
    case 'response-end':
      return event.vectors !== undefined
    case 'item-end':
      return event.item?.['encrypted_content'] != null || event.item?.['signature'] != null
    default:
      return false
  }
}
