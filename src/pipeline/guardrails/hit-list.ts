import type { Span } from '../../lib/linear-pattern.ts'
import type { ContentFilter } from './content-filters.ts'
import type { TextSlot } from './request-texts.ts'

/** Something a filter found in one slot. */
export interface Hit extends Span {
  readonly filter: ContentFilter
  readonly slot: number
  /** Name of the pattern, where a filter has several. */
  readonly what?: string
  /** A match that began in an earlier slot. */
  readonly continued: boolean
}

/** A hit on its way out of a text. */
export interface Redaction extends Hit {
  /** What stands in its place is a string of JSON. */
  readonly quoted?: boolean
}

/** Something a filter found in the text of a group. */
export interface Match extends Span {
  readonly filter: ContentFilter
  readonly what: string | undefined
}

/** Slots that are read as one text, and where each begins in it. */
export interface TextGroup {
  readonly slots: readonly number[]
  readonly offsets: readonly number[]
}

/** Of one call, those that are only noted; what is beyond is not counted. */
const MAX_NOTED = 20_000
/** Of one call, those that are taken out or block it: about as many as a million tokens can hold. With more of them it is refused. */
const MAX_CHANGES = 100_000

/** What was found in a call, each place once per filter. */
export class HitList {
  readonly hits: Hit[] = []
  /** There was more to change than is kept: what is here does not cover the request. */
  overflowed = false
  readonly #seen = new Set<string>()
  readonly #ids = new Map<ContentFilter, number>()
  #noted = 0
  #changes = 0

  /** A match in a group's text as hits in its slots. */
  add({ filter, what, start, end }: Match, { slots, offsets }: TextGroup, texts: readonly TextSlot[]): void {
    let continued = false
    for (let at = lastNotAfter(offsets, start); at < slots.length && offsets[at]! < end; at++) {
      const slot = slots[at]!
      const from = Math.max(start - offsets[at]!, 0)
      const to = Math.min(end - offsets[at]!, texts[slot]!.text.length)
      if (from >= to) continue
      this.#keep({ filter, slot, start: from, end: to, continued, ...(what === undefined ? {} : { what }) })
      continued = true
    }
  }

  #keep(hit: Hit): void {
    const isNote = hit.filter.action === 'flag'
    if (isNote && this.#noted >= MAX_NOTED) return
    // By filter, not by what it looks for: of two filters that find the same, one may block.
    const key = `${hit.slot} ${hit.start} ${hit.end} ${this.#idOf(hit.filter)}`
    if (this.#seen.has(key)) return
    if (!isNote && this.#changes >= MAX_CHANGES) {
      this.overflowed = true
      return
    }
    if (isNote) this.#noted++
    else this.#changes++
    this.#seen.add(key)
    this.hits.push(hit)
  }

  #idOf(filter: ContentFilter): number {
    let id = this.#ids.get(filter)
    if (id === undefined) {
      id = this.#ids.size
      this.#ids.set(filter, id)
    }
    return id
  }
}

/** Index of the last offset that is not after a place: a message may have as many parts as a body has room for. */
function lastNotAfter(offsets: readonly number[], place: number): number {
  let low = 0
  let high = offsets.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (offsets[middle]! <= place) low = middle
    else high = middle - 1
  }
  return low
}

/** A text with its hits replaced. Where hits overlap, the one that begins first, or reaches further, gives its name to all. */
export function redactText(text: string, hits: readonly Redaction[]): string {
  const ordered = hits.toSorted((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let last = 0
  for (const { start, end, filter, continued, quoted } of ordered) {
    if (start >= last) {
      result += text.slice(last, start)
      if (quoted === true) result += JSON.stringify(filter.placeholder)
      else if (!continued) result += filter.placeholder
      last = end
    } else last = Math.max(last, end)
  }
  return result + text.slice(last)
}
