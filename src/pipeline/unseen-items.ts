import type { Call } from '../core/call.ts'
import { isContentEvent, type ModelEvent } from '../core/event.ts'
import type { OutputItem } from '../core/item.ts'
import { AnswerBuffer } from './stream-failure.ts'

/**
 * Decides when an answer has something for the caller. Calls that the gateway runs itself are not part of it (the caller sees them when they run, once
 * the answer has ended), nor is reasoning where a format does not show it, and calls where a format shows only whole ones. One per attempt.
 */
export class UnseenItems {
  readonly #isUnseen: (item: OutputItem) => boolean
  readonly #showsCallsWhole: boolean
  readonly #keys = new Set<string>()
  /** Calls that are shown at their end. */
  readonly #calls = new Set<string>()
  readonly #held = new AnswerBuffer()

  constructor({ isUnseen = () => false, showsCallsWhole = false }: Pick<Call, 'isUnseen' | 'showsCallsWhole'>) {
    this.#isUnseen = isUnseen
    this.#showsCallsWhole = showsCallsWhole
  }

  /** True when the caller will see something of these events, when the answer is complete, or when it is too long to hold back. */
  frees(events: readonly ModelEvent[]): boolean {
    for (const event of events) {
      if (event.type === 'item-start') this.#start(event.key, event.item)
      if (!('key' in event) || this.#keys.has(event.key)) continue
      if (this.#calls.has(event.key) ? event.type === 'item-end' : isContentEvent(event)) return true
    }
    return this.#held.take(events)
  }

  #start(key: string, item: OutputItem): void {
    if (this.#isUnseen(item)) this.#keys.add(key)
    else if (this.#showsCallsWhole && (item.type === 'function_call' || item.type === 'custom_tool_call')) this.#calls.add(key)
  }
}
