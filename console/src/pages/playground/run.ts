/** What is known of one answer, from the moment its request was sent. Everything here is data: `fold.ts` makes it, components show it. */

/** One event of the stream, parsed. */
export interface StreamEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/** One item of an answer, as the gateway told it: items of types this page does not know are kept whole, and sent back whole. */
export interface Item {
  readonly type: string
  readonly [member: string]: unknown
}

export type Phase =
  /** Sent; nothing came yet. */
  | 'waiting'
  | 'streaming'
  | 'completed'
  /** Cut by a limit or a filter: `reason`. */
  | 'incomplete'
  /** The stream said so itself. */
  | 'failed'
  /** No answer began: the gateway said why. */
  | 'refused'
  /** The connection ended before the answer did. */
  | 'broken'
  /** By whoever asked. */
  | 'stopped'

export interface Failure {
  readonly message: string
  /** The HTTP status, or the code of the event. */
  readonly code?: string | undefined
  readonly errorType?: string | undefined
  /** The field of the request it is about. */
  readonly path?: string | undefined
  /** What else was said: the provider, its own code and words. */
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
  /** USD; null when no price is known. */
  readonly cost?: number | null
  readonly is_byok?: boolean
}

export interface Run {
  readonly phase: Phase
  readonly id?: string | undefined
  readonly model?: string | undefined
  /** By their place in the answer. */
  readonly items: readonly Item[]
  readonly reason?: string | undefined
  readonly failure?: Failure | undefined
  readonly usage?: Usage | undefined
  readonly metadata?: Metadata | undefined
  /** What providers were sent, where the request asked for that. */
  readonly debug: readonly unknown[]
  /** Types of events this page does not know, and how many came. */
  readonly unknown: { readonly [type: string]: number }
  /** Milliseconds of one clock. */
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
  /** Tokens per second after the first one; undefined where too little time passed to tell. */
  readonly rate: number | undefined
}

export function timingOf({ startedAt, firstAt, endedAt, usage }: Run): Timing {
  const since = (at: number | undefined): number | undefined => (at === undefined ? undefined : at - startedAt)
  const spoke = firstAt === undefined || endedAt === undefined ? 0 : endedAt - firstAt
  const tokens = usage?.output_tokens ?? 0
  return { firstMs: since(firstAt), totalMs: since(endedAt), rate: spoke >= RATE_NEEDS_MS && tokens > 0 ? (tokens / spoke) * 1_000 : undefined }
}
