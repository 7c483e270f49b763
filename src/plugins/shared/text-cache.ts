import type { Clock } from '../../lib/clock.ts'

export interface TextCacheLimits {
  readonly maxChars: number
  readonly ttlMs: number
  /** Default: 4,096; results without text count, too. */
  readonly maxEntries?: number
}

interface Entry<T> {
  readonly value: T
  readonly chars: number
  readonly until: number
}

/** Results of expensive reading, for a limited time and within a bound, because a conversation sends the same file with every turn. */
export class TextCache<T> {
  readonly #limits: TextCacheLimits
  readonly #entries = new Map<string, Entry<T>>()
  #chars = 0

  constructor(limits: TextCacheLimits) {
    this.#limits = limits
  }

  get(key: string, clock: Clock): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= clock.now()) {
      this.#chars -= entry.chars
      return undefined
    }
    // Moves the entry to the end, which is evicted last.
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: T, chars: number, clock: Clock): void {
    if (chars > this.#limits.maxChars / 4) return
    this.#drop(key)
    this.#entries.set(key, { value, chars, until: clock.now() + this.#limits.ttlMs })
    this.#chars += chars
    const { maxChars, maxEntries = 4096 } = this.#limits
    for (const oldest of this.#entries.keys()) {
      if (this.#chars <= maxChars && this.#entries.size <= maxEntries) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#chars -= entry.chars
  }
}
