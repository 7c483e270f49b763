import type { ReasoningItem } from '../../core/item.ts'
import { publicReasoningFormat } from '../../core/reasoning-envelope.ts'

/** One piece of thought as this format tells it and takes it back. Pieces of one item have its `id`; `index` counts the pieces of an answer. */
export interface ReasoningDetail {
  readonly type: string
  readonly text?: string | null
  readonly summary?: string
  readonly data?: string
  readonly signature?: string | null
  readonly id?: string | null
  readonly format?: string | null
  readonly index?: number | null
}

const TYPES: ReadonlySet<string> = new Set(['reasoning.text', 'reasoning.summary', 'reasoning.encrypted'])

interface Thought {
  readonly id: string | null
  readonly format: string | null
  readonly content: string[]
  readonly summary: string[]
  encrypted?: string
  signature?: string
  /** Of the text written last: pieces of a stream that were kept apart have the same. */
  at?: string
}

/**
 * The thoughts of an earlier answer as items. Clients bring back the pieces of a stream as they came, or joined; what has the same id belongs
 * together, without one what follows each other up to an encrypted piece. Text alone (`plain`) is a thought nobody signed.
 */
export function thoughtsOf(details: readonly ReasoningDetail[] | null | undefined, plain: string | null | undefined): readonly ReasoningItem[] {
  const thoughts: Thought[] = []
  for (const detail of details ?? []) if (TYPES.has(detail.type)) add(thoughts, detail)
  if (thoughts.length > 0) return thoughts.map(itemOf)
  return plain ? [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: plain }] }] : []
}

function add(thoughts: Thought[], detail: ReasoningDetail): void {
  const { id = null, type } = detail
  // Clients that add up what a stream repeats bring back the word many times over.
  const format = detail.format == null ? null : publicReasoningFormat(detail.format)
  const last = thoughts.at(-1)
  const goesOn = last !== undefined && last.id === id && (id !== null || last.encrypted === undefined)
  const thought: Thought = goesOn ? last : { id, format, content: [], summary: [] }
  if (!goesOn) thoughts.push(thought)
  if (detail.signature) thought.signature = detail.signature
  if (type === 'reasoning.encrypted') thought.encrypted = (thought.encrypted ?? '') + (detail.data ?? '')
  else {
    const texts = type === 'reasoning.text' ? thought.content : thought.summary
    const piece = (type === 'reasoning.text' ? detail.text : detail.summary) ?? ''
    const at = `${type} ${detail.index ?? ''}`
    if (thought.at === at && texts.length > 0) texts[texts.length - 1] += piece
    else if (piece !== '') texts.push(piece)
    thought.at = at
  }
}

function itemOf({ id, format, content, summary, encrypted, signature }: Thought): ReasoningItem {
  return {
    type: 'reasoning',
    ...(id === null ? {} : { id }),
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(content.length === 0 ? {} : { content: content.map((text) => ({ type: 'reasoning_text', text })) }),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
    ...(signature === undefined ? {} : { signature }),
    ...(format === null ? {} : { format }),
  }
}
