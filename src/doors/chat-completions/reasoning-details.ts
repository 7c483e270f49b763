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

/** What a piece says whose format has no name. */
const NOBODYS = 'unknown'

interface Thought {
  id: string | null
  format: string | null
  readonly content: string[]
  readonly summary: string[]
  encrypted?: string
  signature?: string
  /** Of the text written last: pieces of a stream that were kept apart have the same. */
  at?: string
}

/**
 * The thoughts of an earlier answer as items. Clients bring back the pieces of a stream as they came, or joined; what has the same id belongs
 * together, without one what follows each other up to what ends a thought (`goesOn`). Text alone (`plain`) is a thought nobody signed.
 */
export function thoughtsOf(details: readonly ReasoningDetail[] | null | undefined, plain: string | null | undefined): readonly ReasoningItem[] {
  const thoughts: Thought[] = []
  const known = new Map<string, Thought>()
  for (const detail of details ?? []) if (TYPES.has(detail.type)) add(thoughts, known, detail)
  if (thoughts.length > 0) return thoughts.map(itemOf)
  return plain ? [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: plain }] }] : []
}

function add(thoughts: Thought[], known: Map<string, Thought>, detail: ReasoningDetail): void {
  const { type } = detail
  const id = detail.id || null
  const last = thoughts.at(-1)
  let thought = id === null ? undefined : known.get(id)
  if (thought === undefined && last !== undefined && last.id === null && goesOn(last, detail)) thought = last
  if (thought === undefined) thoughts.push((thought = { id, format: null, content: [], summary: [] }))
  if (id !== null) known.set((thought.id = id), thought)
  // Vendors may say it only where a thought ends. Clients that add up what a stream repeats bring back the word many times over: it is nobody's.
  const format = publicReasoningFormat(detail.format ?? NOBODYS)
  if (format !== NOBODYS) thought.format = format
  if (detail.signature) thought.signature = detail.signature
  if (type === 'reasoning.encrypted') thought.encrypted = (thought.encrypted ?? '') + (detail.data ?? '')
  else {
    const texts = type === 'reasoning.text' ? thought.content : thought.summary
    const piece = (type === 'reasoning.text' ? detail.text : detail.summary) ?? ''
    if (piece === '') return
    const at = placeOf(detail)
    if (thought.at === at) texts[texts.length - 1] += piece
    else texts.push(piece)
    thought.at = at
  }
}

const placeOf = ({ type, index }: ReasoningDetail): string => `${type} ${index ?? ''}`

/**
 * Whether a piece belongs to a thought without an id that came before it. What is encrypted ends one, and may be all that has an id; so does
 * a signature, but for what else is of the text it signs.
 */
function goesOn(thought: Thought, detail: ReasoningDetail): boolean {
  if (thought.encrypted !== undefined) return false
  if (detail.type === 'reasoning.encrypted') return true
  if (detail.id) return false
  return thought.signature === undefined || (detail.index != null && thought.at === placeOf(detail))
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
