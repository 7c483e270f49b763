import type { Annotation, Logprob } from '../../core/item.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { asString, isObject } from '../shared/json.ts'

const index = (value: unknown, fallback: number): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : fallback)

/** A citation, nested under its type or flat; undefined for kinds outside the contract. `at` is its place if it has no offsets. */
function decodeAnnotation(value: unknown, at: number): Annotation | undefined {
  if (!isObject(value)) return undefined
  const type = asString(value['type'])
  const inner = type !== undefined && isObject(value[type]) ? value[type] : value
  if (type === 'url_citation') {
    const url = asString(inner['url'])
    if (url === undefined) return undefined
    const start = index(inner['start_index'], at)
    const content = asString(inner['content'])
    return {
      type: 'url_citation',
      url,
      title: asString(inner['title']) ?? url,
      start_index: start,
      end_index: Math.max(start, index(inner['end_index'], at)),
      ...(content === undefined ? {} : { content }),
    }
  }
  if (type === 'file_citation') {
    const fileId = asString(inner['file_id'])
    if (fileId === undefined) return undefined
    return { type: 'file_citation', file_id: fileId, filename: asString(inner['filename']) ?? fileId, index: index(inner['index'], at) }
  }
  return undefined
}

/**
 * The citations of one answer. Annotations inside deltas may arrive before the text that they cite, and then wait for it. Sources next to the text
 * (`citations`, `search_results`) are cited once, at its end. Both methods return whether they accepted anything.
 */
export class CitationCollector {
  /** Created with the first source, because most answers have none. */
  #titles: Map<string, string | undefined> | undefined
  #waiting: unknown[] = []
  /** At least one search if the server cites pages, because few servers of this format count theirs. */
  searches = 0

  /** Whether citations are waiting for their text. */
  get waits(): boolean {
    return this.#waiting.length > 0
  }

  annotations(list: unknown, writer: AnswerWriter): boolean {
    if (Array.isArray(list)) for (const entry of list as readonly unknown[]) this.#waiting.push(entry)
    if (this.#waiting.length === 0) return false
    const at = writer.citableLength
    if (at === undefined) return true
    for (const entry of this.#waiting) {
      const annotation = decodeAnnotation(entry, at)
      if (annotation === undefined) continue
      if (annotation.type === 'url_citation') this.searches = 1
      writer.annotation(annotation)
    }
    this.#waiting = []
    return true
  }

  /** Lists that are repeated in every frame change nothing. */
  sources(citations: unknown, results: unknown, writer: AnswerWriter): boolean {
    if (citations === undefined && results === undefined) return false
    for (const list of [citations, results]) if (Array.isArray(list)) for (const entry of list) this.#source(entry)
    if (this.#titles !== undefined) writer.mayBeCited = true
    return true
  }

  finish(writer: AnswerWriter): void {
    this.annotations(undefined, writer)
    const at = writer.citableLength ?? 0
    for (const [url, title] of this.#titles ?? [])
      writer.annotation({ type: 'url_citation', url, title: title ?? url, start_index: at, end_index: at })
  }

  #source(entry: unknown): void {
    const url = typeof entry === 'string' ? entry : isObject(entry) ? asString(entry['url']) : undefined
    if (url === undefined || url === '') return
    this.searches = 1
    const titles = (this.#titles ??= new Map())
    titles.set(url, (isObject(entry) ? asString(entry['title']) : undefined) ?? titles.get(url))
  }
}

/** The pages that tools of the server itself have found or opened, for servers that list their sources nowhere else. */
export function pagesOf(executed: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(executed)) return undefined
  return executed.filter(isObject).flatMap(({ search_results: found, browser_results: opened }): readonly unknown[] => {
    const results = isObject(found) ? found['results'] : found
    return [results, opened].flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []))
  })
}

function decodeTop(value: unknown): Logprob['top_logprobs'][number] | undefined {
  if (!isObject(value) || typeof value['token'] !== 'string' || typeof value['logprob'] !== 'number') return undefined
  const bytes = Array.isArray(value['bytes']) ? value['bytes'].filter((byte): byte is number => Number.isInteger(byte)) : []
  return { token: value['token'], logprob: value['logprob'], bytes }
}

/** `choice.logprobs.content[]`; undefined if there are none. */
export function decodeLogprobs(value: unknown): Logprob[] | undefined {
  if (!isObject(value) || !Array.isArray(value['content']) || value['content'].length === 0) return undefined
  const logprobs = value['content'].flatMap((entry: unknown): Logprob[] => {
    const top = decodeTop(entry)
    if (top === undefined) return []
    const alternatives =
      isObject(entry) && Array.isArray(entry['top_logprobs']) ? entry['top_logprobs'].map(decodeTop).filter((each) => each !== undefined) : []
    return [{ ...top, top_logprobs: alternatives }]
  })
  return logprobs.length > 0 ? logprobs : undefined
}
