import type { Logprob } from '../../core/item.ts'
import type { ItemEvent } from './open-item.ts'

type DeltaEvent = Extract<ItemEvent, { readonly delta: string }>

const REPLACEMENT = '\ufffd'

const endsInHalf = (text: string): boolean => {
  const code = text.charCodeAt(text.length - 1)
  return code >= 0xd800 && code <= 0xdbff
}

const logprobsOf = (event: DeltaEvent): readonly Logprob[] | undefined => ('logprobs' in event ? event.logprobs : undefined)

/** Whether two deltas belong to the same text. */
const continues = (a: DeltaEvent, b: DeltaEvent): boolean =>
  a.type === b.type && ('part' in a ? a.part : undefined) === ('part' in b ? b.part : undefined) && kindOf(a) === kindOf(b)
const kindOf = (event: DeltaEvent): string | undefined => ('kind' in event ? event.kind : undefined)

/**
 * A JSON value without halves of surrogate pairs: titles and excerpts of third parties are often cut inside a character. Returns the value itself if it
 * has none.
 */
export function wholeValue<T>(value: T): T {
  if (typeof value === 'string') return (value.isWellFormed() ? value : value.toWellFormed()) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list = value.map((entry: unknown) => wholeValue(entry))
    return (list.every((entry, n) => entry === value[n]) ? value : list) as T
  }
  const entries = Object.entries(value).map(([key, member]) => [key, wholeValue(member)] as const)
  return entries.every(([key, member]) => member === value[key as keyof T]) ? value : (Object.fromEntries(entries) as T)
}

/**
 * Upstreams cut their text anywhere, even inside a surrogate pair, and readers that decode each delta separately refuse half a pair. A half waits here for
 * the other one; a half that never gets its other one becomes U+FFFD.
 */
export class WholeCharacters {
  /** By item. Created with the first half: hardly any answer has one. */
  #halves: Map<string, DeltaEvent> | undefined

  /** Whether a delta can be written as it is, which nearly all can. Text known to be plain contains no halves. */
  passes(event: DeltaEvent): boolean {
    if (this.#halves?.has(event.key) === true) return false
    return ('plain' in event && event.plain === true) || event.delta.isWellFormed()
  }

  /** What can be written now: nothing, the delta, or the leftover of another text of the same item before it. */
  take(event: DeltaEvent): readonly DeltaEvent[] {
    const half = this.#halves?.get(event.key)
    if (half === undefined) return this.#cut(event)
    this.#halves!.delete(event.key)
    if (!continues(half, event)) return [{ ...half, delta: REPLACEMENT }, ...this.#cut(event)]
    const logprobs = [...(logprobsOf(half) ?? []), ...(logprobsOf(event) ?? [])]
    return this.#cut({ ...event, delta: half.delta + event.delta, plain: false, ...(logprobs.length === 0 ? {} : { logprobs }) } as DeltaEvent)
  }

  /** The leftover of an item that ends. */
  end(key: string): DeltaEvent | undefined {
    const half = this.#halves?.get(key)
    if (half === undefined) return undefined
    this.#halves!.delete(key)
    return { ...half, delta: REPLACEMENT }
  }

  /** Items with half a character left over. */
  get open(): readonly string[] {
    return [...(this.#halves?.keys() ?? [])]
  }

  #cut(event: DeltaEvent): readonly DeltaEvent[] {
    const { delta } = event
    if (!endsInHalf(delta)) return delta.isWellFormed() ? [event] : [{ ...event, delta: delta.toWellFormed() }]
    const complete = delta.slice(0, -1).toWellFormed()
    const rest = { ...event, delta: delta.slice(-1) }
    if (complete !== '' && 'logprobs' in rest) delete (rest as { logprobs?: unknown }).logprobs
    this.#halves = (this.#halves ?? new Map<string, DeltaEvent>()).set(event.key, rest)
    return complete === '' ? [] : [{ ...event, delta: complete }]
  }
}
