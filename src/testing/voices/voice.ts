/** An answer, independent of the vendor. `secret` is the vendor's signature or encryption of its reasoning. */
export interface ScriptedAnswer {
  readonly reasoning?: { readonly text: string; readonly secret: string }
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
}

/** One turn of a conversation as sent to an upstream. */
export interface SeenTurn {
  readonly role: 'user' | 'assistant'
  readonly calls: readonly string[]
  readonly results: readonly string[]
}

/** One vendor's format, written independently of the code under test: what its answers look like, and how to read its requests. */
export interface VendorVoice {
  readonly dialect: string
  /** Upstream id of a model that reasons, calls tools and accepts images. */
  readonly model: string
  readonly options: { readonly [option: string]: unknown }
  readonly contentType: string
  /** The frames of a streamed answer. */
  stream(answer: ScriptedAnswer): readonly Buffer[]
  /** The same answer as one body. */
  json(answer: ScriptedAnswer): string
  /** The conversation within a request; results are where the vendor expects them. */
  turns(body: Json): SeenTurn[]
  /** Whether the vendor's secret must come back with the calls it led to. */
  readonly returnsSecret: boolean
  /** The vendor's names for service tiers; a tier without a name cannot be requested. */
  readonly tiers: { readonly default?: string; readonly flex?: string; readonly priority?: string }
  /** The tier in a request; undefined: none. */
  tier(body: Json): unknown
}

export type Json = { readonly [field: string]: unknown }

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : [])
export const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
export const sse = (events: readonly unknown[], { named = false, end = '' } = {}): Buffer[] => [
  ...events.map((event) => Buffer.from(`${named ? `event: ${String(object(event)['type'])}\n` : ''}data: ${JSON.stringify(event)}\n\n`)),
  ...(end === '' ? [] : [Buffer.from(end)]),
]
export const DONE = 'data: [DONE]\n\n'
export const defined = <T>(...values: (T | undefined)[]): T[] => values.filter((value) => value !== undefined)
export const both = (text: string): string[] => [text.slice(0, 3), text.slice(3)].filter((piece) => piece !== '')
