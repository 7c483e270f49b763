import type { Span } from '../../lib/linear-pattern.ts'
import type { ContentFilter } from './content-filters.ts'
import type { TextSlot } from './request-texts.ts'

/** A match of a filter in one slot. */
export interface Hit extends Span {
  readonly filter: ContentFilter
  readonly slot: number
  /** Name of the pattern, if the filter has several. */
  readonly what?: string
  /** The match began in an earlier slot. */
  readonly continued: boolean
}

/** A hit that is to be removed from a text. */
export interface Redaction extends Hit {
  /** The replacement must be a JSON string. */
  readonly quoted?: boolean
}

/** A match of a filter in the text of a group. */
export interface Match extends Span {
  readonly filter: ContentFilter
  readonly what: string | undefined
}

/** Slots that are read as one text, and where each begins in it. */
export interface TextGroup {
  readonly slots: readonly number[]
  readonly offsets: readonly number[]
}

/** Hits of one call that are only noted; more are not counted. */
const MAX_NOTED = 20_000
/** Hits of one call that are redacted or block it: about as many as a million tokens can hold. With more the call is refused. */
const MAX_CHANGES = 100_000

/** What was found in a call, each place once per filter. */
export class HitList {
  readonly hits: Hit[] = []
  /** There were more hits to redact than are kept, so the list does not cover the request. */
  overflowed = false
  readonly #seen = new Set<string>()
  readonly #ids = new Map<ContentFilter, number>()
  #noted = 0
  #changes = 0

  /** Splits a match in a group's text into hits in its slots. */
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
    // By filter and not by what it looks for: of two filters that find the same, one may block.
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

/** Index of the last offset not after a place, by bisection: a message may have as many parts as fit into a body. */
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

/** A text with its hits replaced. Overlapping hits become one, under the name of the one that begins first or reaches further. */
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
