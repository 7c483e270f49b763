import type { Annotation } from '../../core/item.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { asString, isObject } from '../shared/json.ts'

type Json = { readonly [field: string]: unknown }

const position = (value: unknown): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0)

/** The citations of one answer. Each waits until the text it speaks of has been written. */
export class CitationCollector {
  /** Where each content block begins in the message, in UTF-16 code units. */
  readonly #starts = new Map<number, number>()
  readonly #sources: string[] = []
  #waiting: Json[] = []

  blockStart(index: number, at: number): void {
    this.#starts.set(index, at)
  }

  /** Citations of plans and thoughts have no text to stand at. */
  add(value: unknown): void {
    if (isObject(value) && (value['type'] === undefined || value['type'] === 'TEXT_CONTENT')) this.#waiting.push(value)
  }

  /** Writes what can be placed in `text`, the text of the message so far; all of it at the `end`. */
  flush(text: string, writer: AnswerWriter, end = false): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const citation of waiting) {
      const base = this.#baseOf(citation)
      if (!end && base + position(citation['end']) > text.length) this.#waiting.push(citation)
      else for (const annotation of this.#annotations(citation, text, base)) writer.annotation(annotation)
    }
  }

  /** Offsets count from the start of their content block; without its number, from the first block of text. */
  #baseOf(citation: Json): number {
    const index = citation['content_index']
    return (typeof index === 'number' ? this.#starts.get(index) : undefined) ?? [...this.#starts.values()][0] ?? 0
  }

  #annotations(citation: Json, text: string, base: number): Annotation[] {
    const [start, end] = place(citation, text, base)
    const sources = Array.isArray(citation['sources']) ? citation['sources'].filter(isObject) : []
    return sources.flatMap((source): Annotation[] => {
      const data = isObject(source['document']) ? source['document'] : isObject(source['tool_output']) ? source['tool_output'] : {}
      const id = asString(source['id']) ?? asString(data['id'])
      const url = asString(data['url']) ?? (id !== undefined && /^https?:/i.test(id) ? id : undefined)
      const title = asString(data['title'])
      if (url !== undefined) return [{ type: 'url_citation', url, title: title ?? url, start_index: start, end_index: end }]
      if (id === undefined) return []
      if (!this.#sources.includes(id)) this.#sources.push(id)
      return [{ type: 'file_citation', file_id: id, filename: title ?? id, index: this.#sources.indexOf(id) }]
    })
  }
}

/** Offsets are characters: UTF-16 code units where the quoted words say so, else code points. */
function place(citation: Json, text: string, base: number): [start: number, end: number] {
  const start = position(citation['start'])
  const end = Math.max(start, position(citation['end']))
  const own = base === 0 ? text : text.slice(base)
  const quoted = asString(citation['text'])
  if (quoted === undefined || own.slice(start, end) === quoted) return [clamp(base + start, text), clamp(base + end, text)]
  const points = Array.from(own)
  const from = points.slice(0, start).join('').length
  const to = from + points.slice(start, end).join('').length
  return [clamp(base + from, text), clamp(base + to, text)]
}

const clamp = (at: number, text: string): number => Math.min(at, text.length)
