import type { InputItem, InputPart } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'

export interface Shortened {
  readonly request: ModelRequest
  /** The number of input items before and after. */
  readonly original: number
  readonly kept: number
  /** Items that were shortened in the middle but not left out. */
  readonly truncated: number
  /** Estimates for the whole request. */
  readonly tokensBefore: number
  readonly tokensAfter: number
}

type TokensOf = (request: ModelRequest) => number

const isResult = ({ type }: InputItem): boolean => type.endsWith('_output')
const callIdOf = (item: InputItem): unknown => (item as { readonly call_id?: unknown }).call_id

/** Items that only make sense together: calls with their results, reasoning with what it led to. */
interface Unit {
  readonly items: readonly InputItem[]
  readonly tokens: number
  /** Instructions, and the message that the model should answer. */
  readonly fixed: boolean
}

/** A shorter excerpt would say nothing. */
const LEAST_TOKENS = 32
const MARK = '\n[... left out ...]\n'

/**
 * The request with the middle of its input left out, so that its estimate is at most `room` tokens. Start and end stay, because models pay the least
 * attention to the middle. Instructions, the last user message and the latest items are kept; if these alone are too long, the longest texts among them
 * lose their middles. Undefined if nothing can be left out. `questionIndex`: the index of the caller's question, if plugins have added messages after it.
 */
export function middleOut(request: ModelRequest, room: number, tokensOf: TokensOf, questionIndex?: number): Shortened | undefined {
  const weigh = (items: readonly InputItem[]): number => tokensOf({ input: items })
  const tokensBefore = tokensOf(request)
  const overhead = tokensBefore - weigh(request.input)
  const units = unitsOf(request.input, weigh, questionIndex)
  const fixed = units.reduce((sum, unit) => sum + (unit.fixed ? unit.tokens : 0), 0)
  const chosen = fromBothEnds(units, room - overhead - fixed)
  const boundary = chosen.partial === undefined ? undefined : cutUnit(units[chosen.partial]!, chosen.left, weigh)
  let kept = units.flatMap((unit, n) => (chosen.kept.has(n) || unit.fixed ? unit.items : n === chosen.partial ? (boundary ?? []) : []))
  let truncated = boundary === undefined ? 0 : 1
  const excess = weigh(kept) - (room - overhead)
  if (excess > 0) {
    const cut = cutLongest(kept, room - overhead, weigh)
    kept = cut.items
    truncated += cut.truncated
  }
  if (truncated === 0 && kept.length === request.input.length) return undefined
  const shortened = { ...request, input: kept }
  return { request: shortened, original: request.input.length, kept: kept.length, truncated, tokensBefore, tokensAfter: tokensOf(shortened) }
}

function unitsOf(input: readonly InputItem[], weigh: (items: readonly InputItem[]) => number, questionIndex: number | undefined): readonly Unit[] {
  const question = input.findLastIndex((item) => item.type === 'message' && item['role'] === 'user')
  /** Where the last result of each call stands. A call without one behind it, whose result may come in a later request, holds nothing together. */
  const lastResults = new Map(input.flatMap((item, index) => (isResult(item) ? [[callIdOf(item), index] as const] : [])))
  const units: Unit[] = []
  let open: InputItem[] = []
  const waiting = new Set<string>()
  let start = 0
  const close = (): void => {
    if (open.length === 0) return
    const role = open[0]!.type === 'message' ? open[0]!['role'] : undefined
    const fixed = role === 'system' || role === 'developer' || start === question || start === questionIndex || start + open.length === input.length
    units.push({ items: open, tokens: weigh(open), fixed })
    open = []
  }
  for (const [index, item] of input.entries()) {
    if (open.length === 0) start = index
    open.push(item)
    const id = callIdOf(item)
    if (typeof id === 'string') {
      if (isResult(item)) waiting.delete(id)
      else if ((lastResults.get(id) ?? -1) > index) waiting.add(id)
    }
    if (item.type !== 'reasoning' && waiting.size === 0) close()
  }
  close()
  return units
}

interface Choice {
  readonly kept: ReadonlySet<number>
  /** The first unit that did not fit, and the room left for it. */
  readonly partial: number | undefined
  readonly left: number
}

/** Takes units that are not fixed from the start and the end in turn, until the next one does not fit. */
function fromBothEnds(units: readonly Unit[], room: number): Choice {
  const open = units.flatMap((unit, n) => (unit.fixed ? [] : [n]))
  const kept = new Set<number>()
  let left = room
  // The end goes first, because the latest messages matter most.
  let first = 0
  for (let fromEnd = true; first < open.length; fromEnd = !fromEnd) {
    const next = fromEnd ? open.at(-1)! : open[first]!
    const { tokens } = units[next]!
    if (tokens > left) return { kept, partial: next, left }
    left -= tokens
    kept.add(next)
    if (fromEnd) open.pop()
    else first++
  }
  return { kept, partial: undefined, left }
}

/** A single message, cut to the room; calls and their results are kept whole or left out. */
function cutUnit({ items }: Unit, room: number, weigh: (items: readonly InputItem[]) => number): readonly InputItem[] | undefined {
  const [item] = items
  if (items.length !== 1 || item?.type !== 'message' || room < LEAST_TOKENS) return undefined
  const cut = cutLongest(items, room, weigh)
  return weigh(cut.items) <= room ? cut.items : undefined
}

/** Removes the middle of the longest texts, one after the other, until all items together fit or no text is worth cutting. */
function cutLongest(
  items: readonly InputItem[],
  room: number,
  weigh: (items: readonly InputItem[]) => number,
): { readonly items: InputItem[]; readonly truncated: number } {
  const result = [...items]
  const weights = result.map((item) => weigh([item]))
  const heaviest = result.map((_, n) => n).sort((one, other) => weights[other]! - weights[one]!)
  let total = weigh(result)
  let truncated = 0
  for (const n of heaviest) {
    const before = weights[n]!
    if (total <= room || before <= LEAST_TOKENS) break
    const cut = cutItem(result[n]!, Math.max(LEAST_TOKENS, before - (total - room)) / before)
    if (cut === undefined) continue
    truncated++
    result[n] = cut
    total += weigh([cut]) - before
  }
  return { items: result, truncated }
}

/** The item with this share of each of its texts; undefined if it has none. */
function cutItem(item: InputItem, share: number): InputItem | undefined {
  const field = item.type === 'message' ? 'content' : isResult(item) ? 'output' : undefined
  if (field === undefined) return undefined
  const value = (item as { readonly [field: string]: unknown })[field]
  if (typeof value === 'string') return { ...item, [field]: withoutMiddle(value, share) }
  if (!Array.isArray(value)) return undefined
  const parts = (value as readonly InputPart[]).map((part) => ('text' in part ? { ...part, text: withoutMiddle(part.text, share) } : part))
  return { ...item, [field]: parts }
}

/** Both ends of a text, without splitting a surrogate pair. */
function withoutMiddle(text: string, share: number): string {
  const keep = Math.floor((text.length * share - MARK.length) / 2)
  if (keep <= 0) return share > 0 ? text.slice(0, Math.ceil(text.length * share)).toWellFormed() : ''
  let head = keep
  let tail = text.length - keep
  if (isLead(text.charCodeAt(head - 1))) head--
  if (isLead(text.charCodeAt(tail - 1))) tail++
  return text.slice(0, head) + MARK + text.slice(tail)
}

const isLead = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
