/** The state of one answer, from the moment its request was sent. Everything here is data: `fold.ts` creates it, components show it. */

/** One event of the stream, parsed. */
export interface StreamEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/** One item of an answer as the gateway sent it. Items of unknown types are kept and sent back unchanged. */
export interface Item {
  readonly type: string
  readonly [member: string]: unknown
}

export type Phase =
  /** Sent, but nothing has arrived yet. */
  | 'waiting'
  | 'streaming'
  | 'completed'
  /** Cut by a limit or a filter: `reason`. */
  | 'incomplete'
  /** Reported by the stream itself. */
  | 'failed'
  /** No answer, and the gateway said why. */
  | 'refused'
  /** The connection ended before the answer did. */
  | 'broken'
  /** Stopped by the user. */
  | 'stopped'

export interface Failure {
  readonly message: string
  /** The HTTP status, or the code of the event. */
  readonly code?: string | undefined
  readonly errorType?: string | undefined
  /** The field of the request that the failure is about. */
  readonly path?: string | undefined
  /** Further details: the provider, its own code and message. */
  readonly details?: { readonly [name: string]: unknown } | undefined
}

export interface Attempt {
  readonly provider: string
  readonly model: string
  readonly status: number
  readonly error_type?: string
}

export interface Metadata {
  readonly requested?: string
  readonly strategy?: string
  readonly summary?: string
  readonly is_byok?: boolean
  readonly endpoints?: {
    readonly total: number
    readonly available: readonly { readonly provider: string; readonly model: string; readonly selected: boolean }[]
  }
  readonly attempts?: readonly Attempt[]
  readonly params?: { readonly [name: string]: unknown }
  readonly pipeline?: readonly { readonly [name: string]: unknown }[]
}

export interface Usage {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly total_tokens?: number
  readonly input_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number }
  readonly output_tokens_details?: { readonly reasoning_tokens?: number }
  /** USD; null if no price is known. */
  readonly cost?: number | null
  readonly is_byok?: boolean
}

export interface Run {
  readonly phase: Phase
  readonly id?: string | undefined
  readonly model?: string | undefined
  /** By their position in the answer. */
  readonly items: readonly Item[]
  readonly reason?: string | undefined
  readonly failure?: Failure | undefined
  readonly usage?: Usage | undefined
  readonly metadata?: Metadata | undefined
  /** The bodies that providers were sent, if the request asked for them. */
  readonly debug: readonly unknown[]
  /** Unknown event types, and how many of each came. */
  readonly unknown: { readonly [type: string]: number }
  /** Milliseconds on one clock. */
  readonly startedAt: number
  readonly firstAt?: number | undefined
  readonly endedAt?: number | undefined
}

export const startRun = (at: number): Run => ({ phase: 'waiting', items: [], debug: [], unknown: {}, startedAt: at })

export const isOver = ({ phase }: Run): boolean => phase !== 'waiting' && phase !== 'streaming'

const RATE_NEEDS_MS = 100

export interface Timing {
  readonly firstMs: number | undefined
  readonly totalMs: number | undefined
  /** Tokens per second after the first one; undefined if the time was too short to measure. */
  readonly rate: number | undefined
}

export function timingOf({ startedAt, firstAt, endedAt, usage }: Run): Timing {
  const since = (at: number | undefined): number | undefined => (at === undefined ? undefined : at - startedAt)
  const spoke = firstAt === undefined || endedAt === undefined ? 0 : endedAt - firstAt
  const tokens = usage?.output_tokens ?? 0
  return { firstMs: since(firstAt), totalMs: since(endedAt), rate: spoke >= RATE_NEEDS_MS && tokens > 0 ? (tokens / spoke) * 1_000 : undefined }
}
