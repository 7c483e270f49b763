import type { OutputItem } from '../core/item.ts'
import type { Clock } from '../lib/clock.ts'

export interface RecentItemsOptions {
  readonly clock: Clock
  /** How many items are kept at the most, over all workspaces. */
  readonly maxEntries: number
  /** Bound on the characters they are kept in. */
  readonly maxChars: number
  /** Milliseconds an item can be referred to at the least, unless the bounds are reached first; it is gone after twice as long. */
  readonly ttlMs: number
}

/**
 * The latest output items, so that clients which send an earlier item back as `item_reference` can be understood by a gateway that stores
 * nothing. Held in memory, per workspace; losing one costs a caller a 400 that says what to send instead.
 *
 * Two generations of JSON texts: the young one takes what comes and, when it has half of the bounds or its time is over, becomes the old
 * one, whose predecessor is dropped whole. Kept as objects in a list, recent items were a third of the garbage collector's work.
 */
export class RecentItems {
  readonly #options: RecentItemsOptions
  #young = new Map<string, string>()
  #old = new Map<string, string>()
  #youngChars = 0
  #oldChars = 0
  #since: number

  constructor(options: RecentItemsOptions) {
    this.#options = options
    this.#since = options.clock.monotonic()
  }

  /** Keeps the items of an answer by their ids. */
  remember(workspaceId: string, items: readonly OutputItem[]): void {
    for (const item of items) if (typeof item.id === 'string') this.#keep(keyOf(workspaceId, item.id), JSON.stringify(item))
  }

  /** The item with this id that an answer to the same workspace held. Finding it keeps it for longer. */
  find(workspaceId: string, id: string): OutputItem | undefined {
    this.#turn()
    const key = keyOf(workspaceId, id)
    let text = this.#young.get(key)
    if (text === undefined) {
      text = this.#old.get(key)
      if (text === undefined) return undefined
      this.#keep(key, text)
    }
    return JSON.parse(text) as OutputItem
  }

  stats(): { readonly entries: number; readonly chars: number } {
    return { entries: this.#young.size + this.#old.size, chars: this.#youngChars + this.#oldChars }
  }

  #keep(key: string, text: string): void {
    const size = key.length + text.length
    if (size > this.#options.maxChars / 2) return
    if (this.#youngChars + size > this.#options.maxChars / 2 || this.#young.size >= this.#options.maxEntries / 2) this.#advance()
    else this.#turn()
    const known = this.#young.get(key)
    this.#youngChars += known === undefined ? size : text.length - known.length
    this.#young.set(key, text)
  }

  #turn(): void {
    const age = this.#options.clock.monotonic() - this.#since
    if (age <= this.#options.ttlMs) return
    this.#advance()
    // Nothing was kept for a whole generation: both are out of date.
    if (age > 2 * this.#options.ttlMs) this.#advance()
  }

  #advance(): void {
    this.#old = this.#young
    this.#oldChars = this.#youngChars
    this.#young = new Map()
    this.#youngChars = 0
    this.#since = this.#options.clock.monotonic()
  }
}

function keyOf(workspaceId: string, id: string): string {
  return `${workspaceId}\n${id}`
}
