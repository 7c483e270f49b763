import type { Generation, GenerationContent } from './generation.ts'

/** The ids of a generation, for systems with different forms of ids. All are derived from the generation id and the caller's `trace`. */
export interface DeliveryIds {
  /** The caller's trace id unchanged, or else the generation id: for systems that accept any text. */
  readonly trace: string
  /** Id of the generation's own span: the generation id. */
  readonly generation: string
  /** Id of the span around the generation; only if the caller named one (`trace.span_name`). */
  readonly wrapper?: string
  /** The caller's `parent_span_id` unchanged; it belongs on the topmost span sent. */
  readonly parent?: string
  /** The same ids in OpenTelemetry's form: 32 and 16 lower-case hex digits, never all zero. */
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

/** A step within the generation: an upstream attempt or an execution of a server tool. It has no usage and no cost, so that nothing is counted twice. */
export interface ChildSpan {
  readonly kind: 'attempt' | 'tool'
  /** Unique and stable. The children of a generation are ordered by start. */
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
  /** The gateway's error type, or `cancelled` if the caller disconnected. */
  readonly type: string
  /** In privacy mode a sentence of the gateway, because upstream errors often quote the prompt. */
  readonly message: string
}

/**
 * An encoder's view of one generation: everything that the destination may see, and nothing else. Privacy mode is already applied to every field,
 * media bytes are replaced by placeholders, names and ids are resolved, and groups that the destination did not ask for are absent. An encoder may
 * send any part of it without leaking anything.
 */
export interface DeliveryRecord {
  readonly generation: Generation
  /** Absent in privacy mode, and if the content was dropped to keep the queue within its bounds. */
  readonly content?: GenerationContent
  readonly ids: DeliveryIds
  readonly names: DeliveryNames
  /** The caller's own metadata: the request's `metadata`, overridden by `trace` without its reserved keys. Values keep their JSON types. */
  readonly metadata: { readonly [key: string]: unknown }
  /** Facts that the gateway always adds (`trace.metadata.gateway.*` in OpenTelemetry's form). Never null. */
  readonly gateway: { readonly [key: string]: string | number | boolean }
  /** Fields of the public generation record that the owner opted in to (`gateway_generation`). Undefined if there are none. */
  readonly broadcast?: { readonly [field: string]: unknown }
  readonly environment?: string
  readonly release?: string
  readonly tags: readonly string[]
  readonly children: readonly ChildSpan[]
  /** Set for failed and cancelled generations. */
  readonly failure?: DeliveryFailure
  /**
   * The content was shortened to fit the destination's limits, or is missing although the destination may see it. Reported as
   * `gateway.content_truncated`, too.
   */
  readonly truncated: boolean
}
