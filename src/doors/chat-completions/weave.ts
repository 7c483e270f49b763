import type { InputItem, InputPart, ReasoningItem } from '../../core/item.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'

/** Separates the texts of two messages that became one. */
const SEPARATOR = '\n\n'

const FIRST = [0, 0] as const

/**
 * One assistant message as items, with its reasoning where it was, because vendors check that. If the envelopes do not say where, reasoning comes before
 * the text, and the text before the calls.
 */
export function weave(thoughts: readonly ReasoningItem[], content: readonly InputItem[], calls: readonly InputItem[]): readonly InputItem[] {
  const placed = thoughts.map((thought) => ({ thought, at: openReasoning(thought.encrypted_content)?.at ?? FIRST }))
  if (placed.every(({ at }) => at === FIRST)) return [...thoughts, ...content, ...calls]
  const words = new Words(content)
  const items: InputItem[] = []
  let called = 0
  // Clients that collect the pieces of a stream may send the last one first.
  for (const { thought, at } of placed.toSorted((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1])) {
    const [text, before] = at
    items.push(...words.upTo(text), ...calls.slice(called, before), thought)
    called = Math.max(called, before)
  }
  return [...items, ...words.upTo(Infinity), ...calls.slice(called)]
}

/** The text of the message, handed out in pieces. It is divided only if it is a single text part; otherwise all of it is one piece. */
class Words {
  #left: readonly InputItem[]
  readonly #text: string | undefined
  #offset = 0

  constructor(items: readonly InputItem[]) {
    this.#left = items
    const content = items.length === 1 ? (items[0] as { readonly content?: readonly InputPart[] }).content : undefined
    const [part, ...more] = content ?? []
    this.#text = more.length === 0 && part !== undefined && 'text' in part ? part.text : undefined
  }

  /** The text before this offset that has not been handed out yet. */
  upTo(end: number): readonly InputItem[] {
    if (end <= this.#offset || this.#left.length === 0) return []
    const from = this.#offset
    this.#offset = end
    const left = this.#left
    if (this.#text === undefined || (from === 0 && end >= this.#text.length)) {
      this.#left = []
      return left
    }
    const piece = this.#text.slice(from, end)
    const text = from > 0 && piece.startsWith(SEPARATOR) ? piece.slice(SEPARATOR.length) : piece
    return text === '' ? [] : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]
  }
}
