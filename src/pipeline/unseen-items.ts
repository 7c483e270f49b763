import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { OutputItem } from '../core/item.ts'
import { AnswerBuffer } from './stream-failure.ts'

/**
 * Decides when an answer has something for the caller. Calls that the gateway runs itself are not part of it (the caller sees them when they run, once
 * the answer has ended), nor is reasoning where a format does not show it. One per attempt.
 */
export class UnseenItems {
  readonly #isUnseen: (item: OutputItem) => boolean
  readonly #keys = new Set<string>()
  readonly #held = new AnswerBuffer()

  constructor(isUnseen: (item: OutputItem) => boolean) {
    this.#isUnseen = isUnseen
  }

  /** True when the caller will see something of these events, when the answer is complete, or when it is too long to hold back. */
  frees(events: readonly ModelEvent[]): boolean {
    for (const event of events) {
      if (event.type === 'item-start' && this.#isUnseen(event.item)) this.#keys.add(event.key)
      else if ('key' in event && !this.#keys.has(event.key) && isContentEvent(event)) return true
    }
    return this.#held.take(events)
  }
}
