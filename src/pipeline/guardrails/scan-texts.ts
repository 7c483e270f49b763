import type { Span } from '../../lib/linear-pattern.ts'
import { Turns, type World } from '../../lib/turns.ts'
import { plainView, tagText, unmaskOwnScript, unmaskText, type TextView } from '../../lib/text-view.ts'
import type { ContentFilter } from './content-filters.ts'
import { encodedRuns } from './encoded-runs.ts'
import { HitList, type Hit, type Match, type TextGroup } from './hit-list.ts'
import type { Found } from './detector.ts'
import { findHiddenInjection, findSpacedInjection } from './injection.ts'
import type { TextSlot } from './request-texts.ts'

/** Longer texts are read in pieces, so that other calls get their turn. */
const PIECE = 128 * 1024
/** How far two pieces overlap: longer matches across their border may be missed. */
const OVERLAP = 4 * 1024
/** Processor time for one call. The largest body takes about 5 s with only the built-in filters. */
const MAX_BUSY_MS = 10_000
/** How much text before and after a piece is seen with it. A multiple of the units that encodings write. */
const CONTEXT = 64

export interface Scan {
  readonly hits: readonly Hit[]
  /** Why the texts were not read to their end. The hits do not cover the request then. */
  readonly unfinished?: string
}

/**
 * Looks for everything the filters name: in every text as it stands and with its disguises removed, and across the parts of one message. Every step
 * is short, and other calls may run between any two.
 */
export async function scanTexts(slots: readonly TextSlot[], filters: readonly ContentFilter[], world: World): Promise<Scan> {
  const list = new HitList()
  const turns = new Turns(world, MAX_BUSY_MS)
  for (const step of steps(slots, filters)) {
    if (step !== undefined) list.add(step.match, step.group, slots)
    if (list.overflowed) return { hits: list.hits, unfinished: 'it holds more findings than can be taken out of one request' }
    if (!turns.due) continue
    await turns.rest()
    if (turns.exhausted) return { hits: list.hits, unfinished: 'reading it takes longer than one request may' }
  }
  return { hits: list.hits }
}

/** Every match in every text; undefined marks a step without a match. */
function* steps(
  slots: readonly TextSlot[],
  filters: readonly ContentFilter[],
): Generator<{ readonly match: Match; readonly group: TextGroup } | undefined> {
  const others = filters.filter(({ userOnly }) => !userOnly)
  for (const group of groupsOf(slots)) {
    const wanted = slots[group.slots[0]!]!.from === 'user' ? filters : others
    if (wanted.length === 0) continue
    for (const { text, offset } of textsOf(group, slots)) {
      for (const match of matchesIn(text, offset, wanted)) yield match && { match, group }
      yield undefined
    }
  }
}

/** Slots that are read as one text. */
function* groupsOf(slots: readonly TextSlot[]): Generator<TextGroup> {
  for (let first = 0; first < slots.length;) {
    const group: number[] = []
    const offsets: number[] = []
    let offset = 0
    for (let slot = first; slot === first || slots[slot]?.joins === true; slot++) {
      group.push(slot)
      offsets.push(offset)
      offset += slots[slot]!.text.length
    }
    yield { slots: group, offsets }
    first += group.length
  }
}

interface GroupText {
  readonly text: string
  /** Where it begins in the group's text. */
  readonly offset: number
}

/** Each part, and all of them together, because a word may end where two parts meet. */
function* textsOf({ slots: group, offsets }: TextGroup, slots: readonly TextSlot[]): Generator<GroupText> {
  for (const [at, slot] of group.entries()) yield { text: slots[slot]!.text, offset: offsets[at]! }
  if (group.length > 1) yield { text: group.map((slot) => slots[slot]!.text).join(''), offset: 0 }
}

function* matchesIn(text: string, offset: number, filters: readonly ContentFilter[]): Generator<Match | undefined> {
  for (let from = 0; from < text.length; from += PIECE - OVERLAP) {
    const piece = pieceOf(text, from)
    for (const match of matchesInPiece(piece, filters))
      yield match && { ...match, start: offset + piece.from + match.start, end: offset + piece.from + match.end }
    if (text.length <= PIECE) return
  }
}

/** A part of a text, with some of the text around it so that its ends do not look like the ends of the text. */
interface Piece {
  /** Where it begins in the text, with the context before it. */
  readonly from: number
  readonly text: string
  readonly before: number
  readonly after: number
}

function pieceOf(text: string, from: number): Piece {
  const to = Math.min(from + PIECE, text.length)
  const before = Math.min(from, CONTEXT)
  const after = Math.min(text.length - to, CONTEXT)
  return { from: from - before, text: before === 0 && to === text.length ? text : text.slice(from - before, to + after), before, after }
}

/**
 * Whether a match belongs to this piece. Matches that begin before it belong to the piece before; matches that begin in the overlap and run out of it
 * belong to the next.
 */
function isOwn({ start, end }: Span, { text, before, after }: Piece): boolean {
  const limit = text.length - after
  return start >= before && (after === 0 || end <= limit || start < limit - OVERLAP)
}

function* matchesInPiece(piece: Piece, filters: readonly ContentFilter[]): Generator<Match | undefined> {
  const { text, before, after } = piece
  const limit = text.length - after
  const disguised = [unmaskText(text), unmaskOwnScript(text), tagText(text)]
  const views: readonly TextView[] = [plainView(text), ...disguised].filter((view) => view !== undefined)
  yield undefined
  for (const filter of filters) {
    for (const view of views) {
      for (const found of foundIn(view, placeIn(view, before), filter)) {
        if (found === undefined) yield undefined
        else if (isOwn(found, piece)) yield { filter, what: found.what, start: found.start, end: Math.min(found.end, limit) }
      }
      yield undefined
    }
  }
  for (const run of encodedRuns(text.slice(before, limit))) {
    for (const filter of filters)
      yield* hiddenIn(run.decoded, filter, { start: before + run.start, end: before + run.end }, `${run.encoding}_encoded`)
    yield undefined
  }
}

/** What a filter finds in a view, in the coordinates of the original. */
function* foundIn(view: TextView, from: number, filter: ContentFilter): Generator<Found | undefined> {
  for (const found of filter.detector.find(view.text, from)) yield found && { ...found, ...view.original(found.start, found.end) }
  if (filter.kind === 'injection') yield* findSpacedInjection(view)
}

/** The place in a view that corresponds to a place in the original. */
function placeIn(view: TextView, place: number): number {
  let low = 0
  let high = place === 0 ? 0 : view.text.length
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (view.original(middle, middle + 1).start < place) low = middle + 1
    else high = middle
  }
  return low
}

/** The whole of an encoded text, if something is hidden in it. */
function* hiddenIn(decoded: string, filter: ContentFilter, { start, end }: Span, what: string): Generator<Match | undefined> {
  if (filter.kind === 'injection') {
    if (findHiddenInjection(decoded) !== undefined) yield { filter, what, start, end }
    return
  }
  for (const found of filter.detector.find(decoded)) {
    if (found !== undefined) {
      yield { filter, what, start, end }
      return
    }
    yield undefined
  }
}
