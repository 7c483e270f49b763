import type { ModelEvent } from '../core/event.ts'

/** Characters of an answer that is noted down; of a longer one nothing is. */
const MAX_CHARS = 4 * 1024 * 1024
/** What a piece of text may grow to: told again it comes in pieces, as it did. */
const PIECE_CHARS = 512
/** What an event takes beside its text, roughly. */
const EVENT_CHARS = 64

type Delta = Extract<ModelEvent, { readonly delta: string }>

/** The events of one answer while it passes, its many small pieces joined to fewer. */
export class AnswerNotes {
  readonly #events: ModelEvent[] = []
  #chars = 0
  #whole = false

  take(events: readonly ModelEvent[]): void {
    for (const event of events) {
      if (this.#chars > MAX_CHARS) return
      this.#add(event)
      if (event.type === 'response-end') this.#whole = true
    }
  }

  /** All of an answer that has ended; undefined for one that is too long, or goes on. */
  get whole(): readonly ModelEvent[] | undefined {
    return this.#whole && this.#chars <= MAX_CHARS ? this.#events : undefined
  }

  #add(event: ModelEvent): void {
    const last = this.#events.at(-1)
    if (last !== undefined && isDelta(last) && isDelta(event) && continues(last, event)) {
      this.#chars += event.delta.length
      this.#events[this.#events.length - 1] = joined(last, event)
      return
    }
    this.#chars += EVENT_CHARS + sizeOf(event)
    if (this.#chars > MAX_CHARS) this.#events.length = 0
    else this.#events.push(event)
  }
}

const isDelta = (event: ModelEvent): event is Delta => 'delta' in event

/** Log probabilities stand beside the very piece they tell of. */
function continues(last: Delta, event: Delta): boolean {
  if (last.type !== event.type || last.key !== event.key || last.delta.length + event.delta.length > PIECE_CHARS) return false
  if (('part' in last ? last.part : undefined) !== ('part' in event ? event.part : undefined)) return false
  if (('kind' in last ? last.kind : undefined) !== ('kind' in event ? event.kind : undefined)) return false
  return !('logprobs' in last) && !('logprobs' in event)
}

function joined(last: Delta, event: Delta): ModelEvent {
  const delta = last.delta + event.delta
  if (!('plain' in last) || !last.plain) return { ...last, delta }
  return { ...last, delta, plain: 'plain' in event && event.plain === true }
}

/** What has no text of its own may hold pictures and vectors. */
function sizeOf(event: ModelEvent): number {
  if (isDelta(event) && !('logprobs' in event)) return event.delta.length
  if (event.type !== 'response-end' || event.vectors === undefined) return JSON.stringify(event).length
  let chars = 0
  // Millions of numbers are written as text only as far as they would be kept: it takes a second.
  for (const vector of event.vectors) {
    chars += typeof vector === 'string' ? vector.length : JSON.stringify(vector).length
    if (chars > MAX_CHARS) break
  }
  return chars
}
