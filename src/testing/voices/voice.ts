/** An answer, whoever gives it. `secret` is what the vendor signs or seals its reasoning with. */
export interface ScriptedAnswer {
  readonly reasoning?: { readonly text: string; readonly secret: string }
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
}

/** One step of a conversation as an upstream was sent it. */
export interface SeenTurn {
  readonly role: 'user' | 'assistant'
  readonly calls: readonly string[]
  readonly results: readonly string[]
}

/** One vendor's format, written down independently of the code under test: how its answers look, and what its requests say. */
export interface VendorVoice {
  readonly dialect: string
  /** Upstream id of a model that reasons, calls tools and sees. */
  readonly model: string
  readonly options: { readonly [option: string]: unknown }
  readonly contentType: string
  /** The frames of a streamed answer. */
  stream(answer: ScriptedAnswer): readonly Buffer[]
  /** The same answer as one body. */
  json(answer: ScriptedAnswer): string
  /** The conversation inside a request; results stand where the vendor wants them. */
  turns(body: Json): SeenTurn[]
  /** Whether the vendor's own secret has to come back with the calls it led to. */
  readonly returnsSecret: boolean
  /** The vendor's words for service tiers; one without a word cannot be asked for. */
  readonly tiers: { readonly default?: string; readonly flex?: string; readonly priority?: string }
  /** The word a request has for its tier; undefined: none. */
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
