import type { ReasoningItem } from '../../core/item.ts'
import { publicReasoningFormat } from '../../core/reasoning-envelope.ts'

/** One piece of reasoning as this format sends and accepts it. Pieces of one item share its `id`; `index` counts the pieces of an answer. */
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

/** The format of a piece whose format has no name. */
const UNKNOWN_FORMAT = 'unknown'

interface Thought {
  id: string | null
  format: string | null
  readonly content: string[]
  readonly summary: string[]
  encrypted?: string
  signature?: string
  /** Place of the text written last: pieces of a stream that were kept apart have the same place. */
  at?: string
}

/**
 * The reasoning of an earlier answer as items. Clients send back the pieces of a stream as they came, or joined. Pieces with the same id belong together;
 * pieces without one belong to the thought before them until something ends it (`goesOn`). Text alone (`plain`) is an unsigned thought. Clients that store
 * reasoning with each part of a message send it back once for every part; others send it as one text.
 */
export function thoughtsOf(
  details: readonly ReasoningDetail[] | string | null | undefined,
  plain: string | null | undefined,
): readonly ReasoningItem[] {
  if (typeof details === 'string') return thoughtsOf(null, plain || details)
  const thoughts: Thought[] = []
  const known = new Map<string, Thought>()
  for (const detail of withoutRepetitions(details ?? [], plain ?? '')) add(thoughts, known, detail)
  if (thoughts.length > 0) return thoughts.map(itemOf)
  return plain ? [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: plain }] }] : []
}

/** Upper bound on the characters compared to find repetitions: a larger request is taken as it is. */
const MOST_COMPARED = 100_000_000

/**
 * The pieces of known types without repetitions. `plain`, the text of all pieces, contains each as often as the model wrote it. If all pieces occur in it
 * one after the other, nothing is removed; a piece that does not occur in it stays, too.
 */
function withoutRepetitions(details: readonly ReasoningDetail[], plain: string): readonly ReasoningDetail[] {
  const pieces = details.filter(({ type }) => TYPES.has(type))
  if (plain === '' || standIn(plain, pieces) || pieces.length * plain.length > MOST_COMPARED) return pieces
  let offset = 0
  return pieces.flatMap((piece) => {
    const text = textOf(piece)
    if (plain.startsWith(text, offset)) offset += text.length
    // A copy may be the only one with a signature.
    else if (plain.includes(text)) return piece.id && piece.signature ? [{ ...piece, text: '' }] : []
    return [piece]
  })
}

function standIn(plain: string, pieces: readonly ReasoningDetail[]): boolean {
  let end = 0
  return pieces.every((piece) => {
    const text = textOf(piece)
    const start = plain.indexOf(text, end)
    end = start + text.length
    return start >= 0
  })
}

const textOf = ({ type, text, summary }: ReasoningDetail): string => (type === 'reasoning.text' ? text : summary) ?? ''

function add(thoughts: Thought[], known: Map<string, Thought>, detail: ReasoningDetail): void {
  const { type } = detail
  const id = detail.id || null
  const last = thoughts.at(-1)
  let thought = id === null ? undefined : known.get(id)
  if (thought === undefined && last !== undefined && last.id === null && goesOn(last, detail)) thought = last
  if (thought === undefined) thoughts.push((thought = { id, format: null, content: [], summary: [] }))
  if (id !== null) known.set((thought.id = id), thought)
  // Vendors may name the format only at the end of a thought. Clients that concatenate the fields of a stream send the name back repeated many times over;
  // such a name counts as unknown.
  const format = publicReasoningFormat(detail.format ?? UNKNOWN_FORMAT)
  if (format !== UNKNOWN_FORMAT) thought.format = format
  if (detail.signature) thought.signature = detail.signature
  if (type === 'reasoning.encrypted') {
    // The same data again came back with another part.
    if (detail.data !== thought.encrypted) thought.encrypted = (thought.encrypted ?? '') + (detail.data ?? '')
  } else {
    const texts = type === 'reasoning.text' ? thought.content : thought.summary
    const piece = textOf(detail)
    if (piece === '') return
    const at = placeOf(detail)
    if (thought.at === at) texts[texts.length - 1] += piece
    else texts.push(piece)
    thought.at = at
  }
}

const placeOf = ({ type, index }: ReasoningDetail): string => `${type} ${index ?? ''}`

/**
 * Whether a piece belongs to the preceding thought that has no id. Encrypted data ends a thought, and may be the only piece with an id. A signature ends
 * one, too, except for further pieces of the text it signs.
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
