import type { Generation, GenerationContent } from './generation.ts'

/** How a generation names itself to systems with different ideas of an id. All derive from the generation id and the caller's `trace`. */
export interface DeliveryIds {
  /** The caller's trace id as given, else the generation id: for systems that take any text. */
  readonly trace: string
  /** Id of the generation's own span: the generation id. */
  readonly generation: string
  /** Id of the span around the generation; only when the caller named one (`trace.span_name`). */
  readonly wrapper?: string
  /** The caller's `parent_span_id` as given; belongs on the topmost span sent. */
  readonly parent?: string
  /** The same in OpenTelemetry's form: 32 and 16 lower-case hex digits, never all zero. */
  readonly otlp: {
    readonly traceId: string
    readonly generationSpanId: string
    readonly wrapperSpanId?: string
    readonly parentSpanId?: string
  }
}

export interface DeliveryNames {
  readonly trace: string
  readonly generation: string
  readonly wrapper?: string
}

/** A step under the generation: an upstream attempt or a server tool's execution. Carries no usage and no cost, so nothing is counted twice. */
export interface ChildSpan {
  readonly kind: 'attempt' | 'tool'
  /** Unique and stable; children of one generation are ordered by start. */
  readonly id: string
  readonly otlpSpanId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly endedAt: number
  readonly ok: boolean
  readonly message?: string
  readonly attributes: { readonly [key: string]: string | number | boolean }
  /** Arguments and result of a tool, as text. Absent in privacy mode. */
  readonly input?: string
  readonly output?: string
}

export interface DeliveryFailure {
  /** The gateway's error type, or `cancelled` when the caller went away. */
  readonly type: string
  /** In privacy mode a sentence of ours: upstream errors like to quote the prompt. */
  readonly message: string
}

/**
 * What an encoder sees of one generation: everything a destination may see and nothing else. Privacy mode is already applied to every
 * field, media bytes are placeholders, names and ids are resolved, groups the destination did not ask for are absent.
 * An encoder that sends any part of it leaks nothing.
 */
export interface DeliveryRecord {
  readonly generation: Generation
  /** Absent in privacy mode, and for generations whose content was dropped to keep the queue within its bounds. */
  readonly content?: GenerationContent
  readonly ids: DeliveryIds
  readonly names: DeliveryNames
  /** The caller's own metadata: `trace` without its reserved keys, over the request's `metadata`. Values keep their JSON types. */
  readonly metadata: { readonly [key: string]: unknown }
  /** Facts the gateway always adds (`trace.metadata.gateway.*` in OpenTelemetry's form). Never null. */
  readonly gateway: { readonly [key: string]: string | number | boolean }
  /** Fields of the public generation record the owner opted in to (`gateway_generation`). Undefined when none. */
  readonly broadcast?: { readonly [field: string]: unknown }
  readonly environment?: string
  readonly release?: string
  readonly tags: readonly string[]
  readonly children: readonly ChildSpan[]
  /** Set for failed and cancelled generations. */
  readonly failure?: DeliveryFailure
  /** The content was shortened to fit the destination's limits, or is not there although it may be seen. `gateway.content_truncated` says so too. */
  readonly truncated: boolean
}
