import type { Call } from '../core/call.ts'
import { GatewayError } from '../core/error.ts'
import type { OutputItem } from '../core/item.ts'
import type { Door } from '../doors/shared/door.ts'
import type { Fold } from '../doors/shared/fold.ts'
import type { Clock } from '../lib/clock.ts'

export interface RecentItemsOptions {
  readonly clock: Clock
  /** How many items are kept at most, over all workspaces. */
  readonly maxEntries: number
  /** Bound on their characters. */
  readonly maxChars: number
  /** How long an item can be referred to at least, milliseconds, unless a bound is reached first; it is gone an eighth later. */
  readonly ttlMs: number
}

/** Items from a short time, dropped together. */
interface Generation {
  readonly items: Map<string, string>
  readonly since: number
  chars: number
}

/** The share of the bounds that one generation may take, and so how much is forgotten at once. */
const GENERATIONS = 16
/** The share of the time that an item is kept. */
const SPANS = 8

/**
 * The latest output items, so that a gateway that stores nothing understands clients which send an earlier item back as `item_reference`. Held in
 * memory, per workspace; a lost item costs a caller a 400 that says what to send instead.
 *
 * They are kept as JSON text in generations: the youngest takes new items, and the oldest is dropped whole when room is needed or its time is over.
 * Kept as objects in a list, recent items were a third of the garbage collector's work; in only two generations, ten megabytes came and went at a
 * time.
 */
export class RecentItems {
  readonly #options: RecentItemsOptions
  /** Oldest first; the last one takes new items. */
  #generations: Generation[] = []
  #entries = 0
  #chars = 0

  constructor(options: RecentItemsOptions) {
    this.#options = options
  }

  /** Keeps the items of an answer, as JSON, by id. */
  remember(workspaceId: string, items: readonly { readonly id: unknown; readonly text: string }[]): void {
    for (const { id, text } of items) if (typeof id === 'string') this.#keep(keyOf(workspaceId, id), text)
  }

  /** The item with this id in an answer to the same workspace, as JSON. Finding it extends its time. */
  find(workspaceId: string, id: string): string | undefined {
    this.#expire()
    const key = keyOf(workspaceId, id)
    for (let at = this.#generations.length - 1; at >= 0; at--) {
      const generation = this.#generations[at]!
      const text = generation.items.get(key)
      if (text === undefined) continue
      this.#remove(generation, key, text)
      this.#keep(key, text)
      return text
    }
    return undefined
  }

  stats(): { readonly entries: number; readonly chars: number } {
    return { entries: this.#entries, chars: this.#chars }
  }

  #keep(key: string, text: string): void {
    const { maxChars, maxEntries } = this.#options
    const size = key.length + text.length
    if (size > maxChars / 2) return
    this.#expire()
    const young = this.#young()
    const known = young.items.get(key)
    if (known !== undefined) this.#remove(young, key, known)
    while (this.#generations.length > 1 && (this.#entries >= maxEntries || this.#chars + size > maxChars)) this.#dropOldest()
    young.items.set(key, text)
    young.chars += size
    this.#chars += size
    this.#entries++
  }

  /** The generation that takes new items; a new one once it has used its share of the bounds or its time. */
  #young(): Generation {
    const { clock, maxChars, maxEntries, ttlMs } = this.#options
    const young = this.#generations.at(-1)
    const now = clock.monotonic()
    if (
      young !== undefined &&
      young.chars < maxChars / GENERATIONS &&
      young.items.size < maxEntries / GENERATIONS &&
      now - young.since <= ttlMs / SPANS
    )
      return young
    const next: Generation = { items: new Map(), since: now, chars: 0 }
    this.#generations.push(next)
    return next
  }

  #expire(): void {
    const { clock, ttlMs } = this.#options
    const maxAgeMs = ttlMs + ttlMs / SPANS
    while (this.#generations.length > 0 && clock.monotonic() - this.#generations[0]!.since > maxAgeMs) this.#dropOldest()
  }

  #dropOldest(): void {
    const oldest = this.#generations.shift()
    this.#entries -= oldest?.items.size ?? 0
    this.#chars -= oldest?.chars ?? 0
  }

  #remove(generation: Generation, key: string, text: string): void {
    generation.items.delete(key)
    generation.chars -= key.length + text.length
    this.#chars -= key.length + text.length
    this.#entries--
  }
}

function keyOf(workspaceId: string, id: string): string {
  return `${workspaceId}\n${id}`
}

interface Answered {
  readonly door: Pick<Door, 'refersToItems'>
  readonly call?: Pick<Call, 'owner' | 'request'>
  readonly assembler?: Pick<Fold, 'itemTexts'>
  /** Its items have been kept. */
  isRemembered?: true
}

/** Called before the caller can have read the last byte. Also keeps what an aborted caller has seen. Runs once, however often it is called. */
export function remember(items: Pick<RecentItems, 'remember'>, answered: Answered): void {
  const { door, call, assembler, isRemembered } = answered
  if (!door.refersToItems || isRemembered === true || call === undefined || assembler === undefined || call.request['store'] === false) return
  answered.isRemembered = true
  items.remember(call.owner.workspaceId, assembler.itemTexts())
}

/**
 * Looks up items of a workspace by id, for one request. Together with the body they may be as long as a body may be: a reference takes a few bytes,
 * its item may take megabytes, and a body has room for hundreds of thousands of references.
 */
export function referencesOf(
  items: Pick<RecentItems, 'find'>,
  workspaceId: string,
  bodyBytes: number,
  limitBytes: number,
): (id: string) => OutputItem | undefined {
  let left = limitBytes - bodyBytes
  return (id) => {
    const text = items.find(workspaceId, id)
    if (text === undefined) return undefined
    left -= text.length
    if (left < 0)
      throw new GatewayError('payload_too_large', `With the items it refers to the body is larger than the limit of ${limitBytes} bytes`, {
        path: 'input',
      })
    return JSON.parse(text) as OutputItem
  }
}
