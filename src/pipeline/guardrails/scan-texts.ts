import type { Span } from '../../lib/linear-pattern.ts'
import { plainView, unmaskText, type TextView } from '../../lib/text-view.ts'
import type { ContentFilter } from './content-filters.ts'
import { encodedRuns } from './encoded-runs.ts'
import { findHiddenInjection, findSpacedInjection } from './injection.ts'
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

/** Texts longer than this are looked at in pieces, so that others get their turn in between. */
const PIECE = 128 * 1024
/** How much of two pieces is the same: longer matches across their border may be missed. */
const OVERLAP = 4 * 1024
/** Characters times filters before others get their turn. */
const TURN = 1_000_000
/** Of one call; a request with more of them is blocked or redacted all the same. */
const MAX_HITS = 20_000

/**
 * Looks for everything the filters name, in every text as it stands and as it reads without its disguises, and across the parts of one
 * message. `rest` lets others have their turn.
 */
export async function scanTexts(slots: readonly TextSlot[], filters: readonly ContentFilter[], rest: () => Promise<void>): Promise<readonly Hit[]> {
  const hits: Hit[] = []
  const seen = new Set<string>()
  let work = 0
  for (const group of groupsOf(slots)) {
    const wanted = slots[group[0]!]!.from === 'user' ? filters : filters.filter(({ userOnly }) => !userOnly)
    if (wanted.length === 0) continue
    for (const { text, offset } of textsOf(group, slots)) {
      for (let from = 0; from < text.length; from += PIECE - OVERLAP) {
        const piece = text.length <= PIECE ? text : text.slice(from, from + PIECE)
        for (const { filter, start, end, what } of find(piece, wanted)) {
          place({ filter, what, start: offset + from + start, end: offset + from + end }, group, slots, (hit) => {
            const key = `${hit.slot} ${hit.start} ${hit.end} ${hit.filter.entity}`
            if (seen.has(key) || hits.length >= MAX_HITS) return
            seen.add(key)
            hits.push(hit)
          })
        }
        work += piece.length * wanted.length
        if (work > TURN) {
          work = 0
          await rest()
        }
        if (text.length <= PIECE) break
      }
    }
  }
  return hits
}

/** Slots that are read as one text. */
function groupsOf(slots: readonly TextSlot[]): readonly (readonly number[])[] {
  const groups: number[][] = []
  slots.forEach(({ joins }, index) => {
    const last = groups.at(-1)
    if (joins && last !== undefined) last.push(index)
    else groups.push([index])
  })
  return groups
}

interface GroupText {
  readonly text: string
  /** Where it begins in the group's text. */
  readonly offset: number
}

/** Each part, and all of them together: a word's border may be where the parts meet. */
function textsOf(group: readonly number[], slots: readonly TextSlot[]): readonly GroupText[] {
  const parts: GroupText[] = []
  let offset = 0
  for (const slot of group) {
    const { text } = slots[slot]!
    parts.push({ text, offset })
    offset += text.length
  }
  return parts.length === 1 ? parts : [...parts, { text: parts.map(({ text }) => text).join(''), offset: 0 }]
}

interface Match extends Span {
  readonly filter: ContentFilter
  readonly what: string | undefined
}

function find(text: string, filters: readonly ContentFilter[]): readonly Match[] {
  const matches: Match[] = []
  const unmasked = unmaskText(text)
  const views: readonly TextView[] = unmasked === undefined ? [plainView(text)] : [plainView(text), unmasked]
  const runs = encodedRuns(text)
  for (const filter of filters) {
    const injection = filter.kind === 'injection'
    for (const view of views) {
      for (const { start, end, what } of filter.detector.find(view.text)) matches.push({ filter, what, ...view.original(start, end) })
      if (injection) for (const { start, end, what } of findSpacedInjection(view)) matches.push({ filter, what, start, end })
    }
    for (const { start, end, encoding, decoded } of runs) {
      const hidden = injection ? findHiddenInjection(decoded) !== undefined : filter.detector.find(decoded).length > 0
      if (hidden) matches.push({ filter, what: `${encoding}_encoded`, start, end })
    }
  }
  return matches
}

/** A match in a group's text as hits in its slots. */
function place({ filter, what, start, end }: Match, group: readonly number[], slots: readonly TextSlot[], add: (hit: Hit) => void): void {
  let offset = 0
  let continued = false
  for (const slot of group) {
    const { length } = slots[slot]!.text
    const from = Math.max(start - offset, 0)
    const to = Math.min(end - offset, length)
    if (from < to) {
      add({ filter, slot, start: from, end: to, continued, ...(what === undefined ? {} : { what }) })
      continued = true
    }
    offset += length
  }
}

/** A text with its hits replaced. Where hits overlap, the one that begins first, or reaches further, gives its name to all. */
export function redactText(text: string, hits: readonly Hit[]): string {
  const ordered = hits.toSorted((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let last = 0
  for (const { start, end, filter, continued } of ordered) {
    if (start >= last) {
      result += text.slice(last, start)
      if (!continued) result += filter.placeholder
      last = end
    } else last = Math.max(last, end)
  }
  return result + text.slice(last)
}
