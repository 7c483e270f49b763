/**
 * An independent reader of chat completion streams: what a client collects that follows the vendor's documentation. Throws with one sentence at the first
 * chunk that makes no sense to a client.
 */

type Fields = { readonly [field: string]: unknown }
type Growing = { [field: string]: unknown }

interface Choice {
  readonly index: number
  readonly delta: Fields
  readonly logprobs: { readonly content: readonly unknown[] } | null
  readonly finish_reason: string | null
  readonly native_finish_reason?: string | null
}

export interface ChatChunk extends Fields {
  readonly id: string
  readonly object: string
  readonly created: number
  readonly model: string
  readonly choices: readonly Choice[]
  readonly usage?: Fields
  readonly error?: Fields
}

export interface FoldedCall extends Fields {
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly custom?: { readonly name: string; readonly input: string }
}

export interface FoldedChat {
  readonly chunks: readonly ChatChunk[]
  /** As in the completion, but values that were never sent are absent. */
  readonly message: {
    readonly role: unknown
    readonly content: string
    readonly refusal: string
    readonly reasoning: string
    readonly reasoning_details: readonly Fields[]
    readonly tool_calls: readonly FoldedCall[]
    readonly annotations: readonly unknown[]
    readonly images: readonly unknown[]
  }
  readonly logprobs: readonly unknown[]
  readonly finishReason: string
  readonly nativeFinishReason: string | null | undefined
  readonly usage: Fields | undefined
  readonly model: string
  readonly error: Fields | undefined
}

const DONE = 'data: [DONE]\n\n'

/** The chunks of a stream, without comments. */
function chunksOf(wire: string): readonly ChatChunk[] {
  if (!wire.endsWith(DONE)) throw new Error(`the stream does not end with [DONE] but with ${JSON.stringify(wire.slice(-80))}`)
  const frames = wire
    .slice(0, -DONE.length)
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
  return frames.map((frame) => {
    if (!frame.startsWith('data: {') || frame.includes('\n')) throw new Error(`not a chunk: ${JSON.stringify(frame.slice(0, 200))}`)
    return JSON.parse(frame.slice('data: '.length)) as ChatChunk
  })
}

/** Texts are concatenated, all other fields take the last value; null is ignored. */
function merge(before: Growing, piece: Fields, growing: readonly string[]): void {
  for (const [field, value] of Object.entries(piece)) {
    if (value === null && before[field] !== undefined) continue
    before[field] = growing.includes(field) && typeof before[field] === 'string' ? before[field] + String(value) : value
  }
}

/** The lists of a message while they grow. */
class Lists {
  readonly #details = new Map<unknown, Growing>()
  readonly #calls: Growing[] = []
  readonly annotations: unknown[] = []
  readonly images: unknown[] = []

  get details(): readonly Fields[] {
    return [...this.#details.values()]
  }

  get calls(): readonly FoldedCall[] {
    return this.#calls as unknown as readonly FoldedCall[]
  }

  add({ reasoning_details: pieces, tool_calls: calls, annotations, images }: Fields): void {
    for (const piece of (pieces ?? []) as readonly Fields[]) this.#addPiece(piece)
    for (const { index, ...piece } of (calls ?? []) as readonly ({ readonly index: number } & Fields)[]) {
      const call = (this.#calls[index] ??= {})
      for (const [field, value] of Object.entries(piece)) {
        if (field === 'function') merge((call[field] ??= {}) as Growing, value as Fields, ['arguments'])
        else if (field === 'custom') merge((call[field] ??= {}) as Growing, value as Fields, ['input'])
        else merge(call, { [field]: value }, [])
      }
    }
    this.annotations.push(...((annotations ?? []) as readonly unknown[]))
    this.images.push(...((images ?? []) as readonly unknown[]))
  }

  #addPiece(piece: Fields): void {
    const known = this.#details.get(piece['index'])
    if (known === undefined) this.#details.set(piece['index'], { ...piece })
    else if (known['type'] !== piece['type']) throw new Error(`a piece of ${String(known['type'])} goes on as ${String(piece['type'])}`)
    else merge(known, piece, ['text', 'summary', 'data'])
  }
}

export function foldChat(wire: string): FoldedChat {
  const chunks = chunksOf(wire)
  const texts = { content: '', refusal: '', reasoning: '' }
  const lists = new Lists()
  const logprobs: unknown[] = []
  let role: unknown
  let ended: Choice | undefined
  for (const [n, { choices }] of chunks.entries()) {
    const [choice] = choices
    if (choice === undefined) continue
    if (ended !== undefined || choices.length > 1) throw new Error(`chunk ${n} has a choice too many`)
    const { delta } = choice
    role ??= delta['role']
    if (role === undefined) throw new Error(`chunk ${n} says something before the role`)
    for (const field of ['content', 'refusal', 'reasoning'] as const) texts[field] += (delta[field] as string | null | undefined) ?? ''
    lists.add(delta)
    logprobs.push(...(choice.logprobs?.content ?? []))
    if (choice.finish_reason !== null) ended = choice
  }
  if (ended === undefined) throw new Error('nothing says why the answer ended')
  const usages = chunks.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
  if (usages.length > 1) throw new Error('usage is told more than once')
  const { details, calls, annotations, images } = lists
  return {
    chunks,
    message: { role, ...texts, reasoning_details: details, tool_calls: calls, annotations, images },
    logprobs,
    finishReason: ended.finish_reason!,
    nativeFinishReason: ended.native_finish_reason,
    usage: usages[0],
    model: chunks.at(-1)!.model,
    error: chunks.find(({ error }) => error !== undefined)?.error,
  }
}
