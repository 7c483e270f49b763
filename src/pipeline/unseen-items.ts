import type { Visibility } from '../core/call.ts'
import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { OutputItem } from '../core/item.ts'
import { AnswerBuffer } from './stream-failure.ts'

/**
 * Decides when an answer has something for the caller. Not all that a model writes is shown at once: calls that the gateway runs are shown when they run,
 * once the answer has ended, and not every format shows reasoning, calls and the tools of a provider while they are written. One per attempt.
 */
export class UnseenItems {
  readonly #visibilityOf: (item: OutputItem) => Visibility
  /** Items that are not shown while they are written, by key. */
  readonly #unseen = new Map<string, Visibility>()
  readonly #held = new AnswerBuffer()

  constructor(visibilityOf: (item: OutputItem) => Visibility) {
    this.#visibilityOf = visibilityOf
  }

  /** True when the caller will see something of these events, when the answer is complete, or when it is too long to hold back. */
  frees(events: readonly ModelEvent[]): boolean {
    return events.some((event) => this.#isSeen(event)) || this.#held.take(events)
  }

  #isSeen(event: ModelEvent): boolean {
    if (!('key' in event)) return false
    if (event.type === 'item-start') {
      const visibility = this.#visibilityOf(event.item)
      if (visibility !== 'written') this.#unseen.set(event.key, visibility)
    }
    const unseen = this.#unseen.get(event.key)
    return unseen === undefined ? isContentEvent(event) : unseen === 'whole' && event.type === 'item-end'
  }
}
