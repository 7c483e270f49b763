import type { Annotation } from '../../core/item.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { asString, isObject } from '../shared/json.ts'
import { CodePoints } from './code-points.ts'

type Json = { readonly [field: string]: unknown }

const position = (value: unknown): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0)

/** Up to this many waiting citations are checked with every chunk of text. */
const FEW = 64

/** The citations of one answer. Each waits until the text that it refers to has been written. */
export class CitationCollector {
  /** The start of each content block in the message, in UTF-16 code units. */
  readonly #starts = new Map<number, number>()
  #firstStart = 0
  /** Content blocks of earlier messages. */
  readonly #ended = new Set<number>()
  #points = new CodePoints()
  #fresh: Json[] = []
  #waiting: Json[] = []
  /** The length of the text from which on the waiting citations are checked again. */
  #next = 0

  blockStart(index: number, at: number): void {
    if (this.#starts.size === 0 || this.#starts.keys().next().value === index) this.#firstStart = at
    this.#starts.set(index, at)
  }

  /** Another message begins with this content block. It has its own text, and citations of earlier blocks have no place in it. */
  restart(index: number): void {
    this.#points = new CodePoints()
    const at = this.#starts.get(index) ?? 0
    for (const before of this.#starts.keys()) if (before !== index) this.#ended.add(before)
    this.#starts.clear()
    this.#starts.set(index, at)
    this.#firstStart = at
  }

  /** Citations in plans and thoughts have no text to refer to. */
  add(value: unknown): void {
    if (isObject(value) && (value['type'] === undefined || value['type'] === 'TEXT_CONTENT')) this.#fresh.push(value)
  }

  /** Writes the citations that can be placed in `text`, the text of the message so far; at the `end`, all of them. */
  flush(text: string, writer: AnswerWriter, end = false): void {
    if (this.#waiting.length > 0 && (end || text.length >= this.#next)) {
      const waiting = this.#waiting
      this.#waiting = []
      this.#next = Infinity
      this.#place(waiting, text, writer, end)
      // Many waiting citations are checked again only when the text has grown by their number, so that the total cost stays proportional to the
      // length of the text.
      if (this.#waiting.length > FEW) this.#next = Math.max(this.#next, text.length + this.#waiting.length)
    }
    if (this.#fresh.length === 0) return
    const fresh = this.#fresh
    this.#fresh = []
    this.#place(fresh, text, writer, end)
  }

  #place(citations: readonly Json[], text: string, writer: AnswerWriter, end: boolean): void {
    for (const citation of citations) {
      if (this.#ended.has(citation['content_index'] as number)) continue
      const base = this.#baseOf(citation)
      const reach = base + position(citation['end'])
      if (!end && reach > text.length) {
        if (this.#waiting.length === 0) this.#next = Infinity
        this.#next = Math.min(this.#next, reach)
        this.#waiting.push(citation)
      } else for (const annotation of this.#annotations(citation, text, base)) writer.annotation(annotation)
    }
  }

  /** Offsets count from the start of their content block or, if its index is missing, from the first block of text. */
  #baseOf(citation: Json): number {
    const index = citation['content_index']
    return (typeof index === 'number' ? this.#starts.get(index) : undefined) ?? this.#firstStart
  }

  #annotations(citation: Json, text: string, base: number): Annotation[] {
    const [start, end] = this.#where(citation, text, base)
    const sources = Array.isArray(citation['sources']) ? citation['sources'].filter(isObject) : []
    return sources.flatMap((source): Annotation[] => {
      const data = isObject(source['document']) ? source['document'] : isObject(source['tool_output']) ? source['tool_output'] : {}
      const id = asString(source['id']) ?? asString(data['id'])
      const url = asString(data['url']) ?? (id !== undefined && /^https?:/i.test(id) ? id : undefined)
      const title = asString(data['title'])
      if (url !== undefined) return [{ type: 'url_citation', url, title: title ?? url, start_index: start, end_index: end }]
      if (id === undefined) return []
      return [{ type: 'file_citation', file_id: id, filename: title ?? id, index: end }]
    })
  }

  /** Offsets are in UTF-16 code units if the quoted words match there, otherwise in code points. */
  #where(citation: Json, text: string, base: number): [start: number, end: number] {
    const start = position(citation['start'])
    const end = Math.max(start, position(citation['end']))
    const quoted = asString(citation['text'])
    if (quoted === undefined || text.slice(base + start, base + end) === quoted) return [clamp(base + start, text), clamp(base + end, text)]
    return [this.#points.offset(text, base, start), this.#points.offset(text, base, end)]
  }
}

const clamp = (at: number, text: string): number => Math.min(at, text.length)
