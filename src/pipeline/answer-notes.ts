import type { ModelEvent } from '../core/event.ts'

/** Characters of an answer that is kept; longer ones are not kept at all. */
const MAX_CHARS = 4 * 1024 * 1024
/** Longest piece of text that is joined: it is told in pieces, as it came. */
const PIECE_CHARS = 512
/** Roughly what an event takes besides its text. */
const EVENT_CHARS = 64

type Delta = Extract<ModelEvent, { readonly delta: string }>

/** Notes the events of one answer as they pass, joining small pieces of text. */
export class AnswerNotes {
  readonly #events: ModelEvent[] = []
  #chars = 0
  #isComplete = false

  take(events: readonly ModelEvent[]): void {
    for (const event of events) {
      if (this.#chars > MAX_CHARS) return
      this.#add(event)
      if (event.type === 'response-end') this.#isComplete = true
    }
  }

  /** The complete answer; undefined if it is too long or not over yet. */
  get whole(): readonly ModelEvent[] | undefined {
    return this.#isComplete && this.#chars <= MAX_CHARS ? this.#events : undefined
  }

  #add(event: ModelEvent): void {
    if (isDelta(event) && joinsLast(this.#events, event)) {
      this.#chars += event.delta.length
      return
    }
    this.#chars += EVENT_CHARS + sizeOf(event)
    if (this.#chars > MAX_CHARS) this.#events.length = 0
    else this.#events.push(event)
  }
}

/** Adds a piece of text to the last event of a list, if it continues that one and both are short. An event takes many times the memory of its text. */
export function joinsLast(events: ModelEvent[], event: ModelEvent): boolean {
  const last = events.at(-1)
  if (last === undefined || !isDelta(last) || !isDelta(event) || !continues(last, event)) return false
  events[events.length - 1] = joined(last, event)
  return true
}

const isDelta = (event: ModelEvent): event is Delta => 'delta' in event

/** A delta with log probabilities is kept apart, because they belong to that very piece. */
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

/** Events without text may hold pictures and vectors. */
function sizeOf(event: ModelEvent): number {
  if (isDelta(event) && !('logprobs' in event)) return event.delta.length
  if (event.type !== 'response-end' || event.vectors === undefined) return JSON.stringify(event).length
  let chars = 0
  // Writing millions of numbers takes a second, so this stops at the size that would be kept.
  for (const vector of event.vectors) {
    chars += typeof vector === 'string' ? vector.length : JSON.stringify(vector).length
    if (chars > MAX_CHARS) break
  }
  return chars
}
