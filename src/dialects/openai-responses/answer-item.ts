import { isCall } from '../../core/caller-call.ts'
import type { JsonObject } from '../../core/item.ts'
import type { CustomInputStream } from '../shared/custom-input.ts'
import type { FinalPart } from './content-parts.ts'

export type ItemKind = 'message' | 'reasoning' | 'call' | 'other'

export function kindOfItem(type: string): ItemKind {
  if (type === 'message') return 'message'
  if (type === 'reasoning') return 'reasoning'
  return isCall(type) ? 'call' : 'other'
}

/** Streamed text of one content or summary part. */
export interface StreamedPart {
  readonly kind: FinalPart['kind']
  /** The upstream's `content_index` or `summary_index`. */
  readonly index: number
  /** Our own number, consecutive in the order of first content; -1 before that. Some upstreams start at 1 or leave gaps. */
  number: number
  text: string
  /** Annotations that the upstream announced one by one, whether forwarded or not: only what the finished part lists beyond them is new. */
  annotations: number
  hasLogprobs: boolean
}

/** Text and refusal are numbered in one sequence, summaries in another. */
type Row = 'content' | 'summary'

const rowOf = (kind: StreamedPart['kind']): Row => (kind === 'summary' ? 'summary' : 'content')

/** One output item while it arrives. */
export class AnswerItem {
  readonly key: string
  readonly type: string
  readonly kind: ItemKind
  /** The item as it was announced; an empty object if its first delta came unannounced. */
  announced: JsonObject
  /** False while a call's name or id is still unknown; its arguments wait. */
  started = false
  closed = false
  readonly parts: StreamedPart[] = []
  /** Arguments or custom input received so far. */
  text = ''
  /** For a call of a function that stands for a custom tool: converts its arguments back to the tool's input. */
  wrapped: CustomInputStream | undefined
  #lastPart: StreamedPart | undefined
  /** By kind and index, because an item may have tens of thousands of parts. */
  readonly #byIndex = new Map<string, StreamedPart>()
  readonly #rows: { readonly [row in Row]: { readonly parts: StreamedPart[]; sorted: boolean } } = {
    content: { parts: [], sorted: true },
    summary: { parts: [], sorted: true },
  }
  #numbers = [0, 0]

  constructor(key: string, type: string, announced: JsonObject) {
    this.key = key
    this.type = type
    this.kind = kindOfItem(type)
    this.announced = announced
  }

  part(kind: StreamedPart['kind'], index: number): StreamedPart {
    const last = this.#lastPart
    if (last !== undefined && last.index === index && last.kind === kind) return last
    const known = this.#byIndex.get(`${kind}${index}`)
    if (known !== undefined) return (this.#lastPart = known)
    const part: StreamedPart = { kind, index, number: -1, text: '', annotations: 0, hasLogprobs: false }
    this.parts.push(part)
    this.#byIndex.set(`${kind}${index}`, part)
    const row = this.#rows[rowOf(kind)]
    row.sorted &&= index >= (row.parts.at(-1)?.index ?? index)
    row.parts.push(part)
    return (this.#lastPart = part)
  }

  /** Our number of a part that is about to receive content. Text and refusal share one sequence of numbers; summaries have their own. */
  numberOf(part: StreamedPart): number {
    if (part.number === -1) part.number = this.#numbers[part.kind === 'summary' ? 1 : 0]!++
    return part.number
  }

  /**
   * The streamed part that a finished part completes. Finished parts are a dense list. If the upstream's indexes are outside of it (numbering from 1,
   * or across the whole answer), the order decides.
   */
  match(kind: StreamedPart['kind'], position: number, length: number): StreamedPart {
    const row = this.#rows[rowOf(kind)]
    if (!row.sorted) row.parts.sort((a, b) => a.index - b.index)
    row.sorted = true
    const last = row.parts.at(-1)?.index ?? -1
    if (last < length) return this.part(kind, position)
    const byOrder = row.parts[position]
    if (byOrder?.kind === kind) return byOrder
    return this.part(kind, last + 1 + position)
  }
}
