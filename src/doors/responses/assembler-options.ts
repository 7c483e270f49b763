import type { ModelRequest } from '../../core/request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { ResourceState } from './resource.ts'

export interface AssemblerOptions {
  readonly id: string
  readonly request: ModelRequest
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  readonly stream: boolean
  readonly clock: Clock
  readonly newId: IdSource
  /** What is known of the serving endpoint when the first event is written, and of the cost when the last one is; `usage`: of an answer that broke. */
  readonly facts: () => Pick<ResourceState, 'model' | 'tier' | 'dropped' | 'cost' | 'isByok' | 'usage'>
  /** The router's own estimate of the prompt, for formats that report a number before the answer. */
  readonly promptTokens?: () => number
  /** Members added to the terminal event's response (`gateway_metadata`). */
  readonly extra?: () => { readonly [field: string]: unknown } | undefined
  /** Bodies that upstreams were sent since the previous call, as JSON text, for callers who asked to see them. */
  readonly echoes?: () => readonly string[]
  /** Also show raw reasoning text as a summary (in Chat Completions: as `reasoning_content`), for clients that display nothing else. */
  readonly mirrorReasoning?: boolean
  /** A failed stream reports the failure in an event of its own before the terminal event, which some clients ignore. */
  readonly errorEvent?: boolean
  /** Bound on the text of one answer, in characters. */
  readonly maxChars?: number
}
