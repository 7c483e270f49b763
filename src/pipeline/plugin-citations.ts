import type { ModelEvent } from '../core/event.ts'
import { AnswerFold } from './answer-fold.ts'
import type { SourceBook } from './tool-citations.ts'

/** Adds citations of known sources to parts of the answer as they end, unless they have citations already. */
export class CitationPass {
  readonly #sources: SourceBook
  readonly #fold = new AnswerFold()

  constructor(sources: SourceBook) {
    this.#sources = sources
  }

  take(events: readonly ModelEvent[]): readonly ModelEvent[] {
    if (this.#sources.isEmpty) return events
    const out: ModelEvent[] = []
    for (const event of events) {
      if (event.type === 'item-end') this.#cite(event.key, out)
      else if (event.type === 'text-delta') {
        const open = this.#fold.partOf(event.key)
        if (open !== undefined && event.part !== undefined && event.part !== open.number) this.#cite(event.key, out)
      }
      this.#fold.push(event)
      out.push(event)
    }
    return out
  }

  #cite(key: string, out: ModelEvent[]): void {
    const part = this.#fold.partOf(key)
    if (part === undefined || part.kind === 'refusal' || part.annotations.length > 0) return
    for (const annotation of this.#sources.cite(part.text)) {
      out.push({ type: 'annotation', key, annotation, ...(part.number === undefined ? {} : { part: part.number }) })
    }
  }
}
