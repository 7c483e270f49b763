import type { ModelEvent } from '../core/event.ts'
import type { Annotation, InputItem, JsonObject, OutputItem } from '../core/item.ts'
import { Written } from './written.ts'

/** An item while its events arrive. */
interface Draft {
  readonly start: OutputItem
  /** Texts of the content parts, by part (messages: text and refusals; reasoning: raw text). */
  readonly parts: { text: string; readonly kind: 'text' | 'refusal'; readonly number: number | undefined; readonly annotations: Annotation[] }[]
  readonly summary: { text: string; readonly number: number | undefined }[]
  text: string
  patch: JsonObject | undefined
}

/**
 * The items of one upstream answer as the conversation needs them for the next turn: what the assembler does for the caller, without ids and wire
 * format. Items are in the order of their starts.
 */
export class AnswerFold {
  readonly #drafts = new Map<string, Draft>()
  /** What the model has produced; for estimates. */
  readonly written = new Written()

  push(event: ModelEvent): void {
    this.written.note(event)
    switch (event.type) {
      case 'item-start':
        this.#drafts.set(event.key, { start: event.item, parts: [], summary: [], text: '', patch: undefined })
        return
      case 'text-delta':
      case 'refusal-delta':
        return this.#text(this.#of(event.key), event.type === 'refusal-delta' ? 'refusal' : 'text', event.delta, event.part)
      case 'reasoning-delta':
        if (event.kind === 'text') return this.#text(this.#of(event.key), 'text', event.delta, event.part)
        return this.#summary(this.#of(event.key), event.delta, event.part)
      case 'arguments-delta':
        this.#of(event.key).text += event.delta
        return
      case 'annotation': {
        const last = this.#of(event.key).parts.at(-1)
        if (last?.kind === 'text' && (event.part === undefined || event.part === last.number)) last.annotations.push(event.annotation)
        return
      }
      case 'item-end':
        this.#of(event.key).patch = event.item
        return
      default:
    }
  }

  /** Characters of it. */
  get chars(): number {
    return this.written.chars
  }

  /** The part of a message that is being written. */
  partOf(key: string): Readonly<Draft['parts'][number]> | undefined {
    return this.#drafts.get(key)?.parts.at(-1)
  }

  items(): InputItem[] {
    return [...this.#drafts.values()].map(toItem)
  }

  text(kind: 'text' | 'refusal' = 'text'): string {
    let text = ''
    for (const { start, parts } of this.#drafts.values()) {
      if (start.type === 'message') for (const part of parts) if (part.kind === kind) text += part.text
    }
    return text
  }

  #of(key: string): Draft {
    const draft = this.#drafts.get(key)
    if (draft === undefined) throw new Error(`an event for the item ${key}, which was never started`)
    return draft
  }

  #text(draft: Draft, kind: 'text' | 'refusal', delta: string, number: number | undefined): void {
    const last = draft.parts.at(-1)
    if (last !== undefined && last.kind === kind && (number === undefined || number === last.number)) last.text += delta
    else draft.parts.push({ text: delta, kind, number, annotations: [] })
  }

  #summary(draft: Draft, delta: string, number: number | undefined): void {
    const last = draft.summary.at(-1)
    if (last !== undefined && (number === undefined || number === last.number)) last.text += delta
    else draft.summary.push({ text: delta, number })
  }
}

function toItem({ start, parts, summary, text, patch }: Draft): InputItem {
  switch (start.type) {
    case 'message':
      return {
        ...start,
        type: 'message',
        role: 'assistant',
        content: parts.map((part) =>
          part.kind === 'refusal' ? { type: 'refusal', refusal: part.text } : { type: 'output_text', text: part.text, annotations: part.annotations },
        ),
      }
    case 'reasoning':
      return {
        ...start,
        ...patch,
        type: 'reasoning',
        summary: summary.map((part) => ({ type: 'summary_text', text: part.text })),
        ...(parts.length === 0 ? {} : { content: parts.map((part) => ({ type: 'reasoning_text', text: part.text })) }),
      }
    case 'function_call':
      return { ...start, ...patch, type: 'function_call', arguments: wholeText(text, patch?.['arguments']) || '{}' }
    case 'custom_tool_call':
      return { ...start, ...patch, type: 'custom_tool_call', input: wholeText(text, patch?.['input']) }
    default:
      return { ...start, ...patch, type: start.type }
  }
}

/** The whole text may hold more than its deltas. */
export function wholeText(deltas: string, complete: unknown): string {
  return typeof complete === 'string' && complete.length > deltas.length ? complete : deltas
}
