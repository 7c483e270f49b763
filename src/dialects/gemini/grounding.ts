import type { Annotation, OtherItem } from '../../core/item.ts'
import { asString, isObject } from '../shared/json.ts'

type Json = { readonly [field: string]: unknown }

const MAX_QUERIES = 100

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
const offset = (value: unknown): number | undefined => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined)

/** Converts offsets in UTF-8 bytes to UTF-16 offsets. One inside a character becomes the character's start, one after the end becomes the end. */
export function utf16Offsets(text: string, byteOffsets: readonly number[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  let bytes = 0
  let at = 0
  for (const wanted of [...new Set(byteOffsets)].sort((a, b) => a - b)) {
    while (at < text.length) {
      const code = text.codePointAt(at)!
      const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
      if (bytes + size > wanted) break
      bytes += size
      at += size === 4 ? 2 : 1
    }
    found.set(wanted, at)
  }
  return found
}

interface Cited {
  readonly start: number
  readonly end: number
}

/** Collects an answer's statements about its sources while it streams (the last one wins), and writes them when the text is complete. */
export class GroundingCollector {
  #chunks: readonly unknown[] = []
  #supports: readonly unknown[] = []
  #queries: readonly string[] = []
  #citations: readonly unknown[] = []

  /** Returns true if the candidate contained any. */
  push(candidate: Json): boolean {
    const grounding = candidate['groundingMetadata']
    const citation = candidate['citationMetadata']
    if (isObject(grounding)) {
      if (list(grounding['groundingChunks']).length > 0) this.#chunks = list(grounding['groundingChunks'])
      if (list(grounding['groundingSupports']).length > 0) this.#supports = list(grounding['groundingSupports'])
      const queries = list(grounding['webSearchQueries']).filter((query): query is string => typeof query === 'string' && query !== '')
      if (queries.length > 0) this.#queries = queries.slice(0, MAX_QUERIES)
    }
    if (isObject(citation)) {
      const sources = [...list(citation['citationSources']), ...list(citation['citations'])]
      if (sources.length > 0) this.#citations = sources
    }
    return isObject(grounding) || isObject(citation)
  }

  get searches(): number {
    return this.#queries.length
  }

  /** Citations with offsets into `text`, the whole text of the answer. */
  annotations(text: string): Annotation[] {
    const segments = [...this.#supports.map((support) => (isObject(support) ? support['segment'] : undefined)), ...this.#citations]
    const bytes = segments.flatMap((segment) => (isObject(segment) ? [offset(segment['startIndex']) ?? 0, offset(segment['endIndex']) ?? 0] : []))
    const offsets = bytes.length === 0 ? new Map<number, number>() : utf16Offsets(text, bytes)
    const places = new Places(text, offsets)
    const annotations: Annotation[] = []
    for (const support of this.#supports) {
      if (!isObject(support)) continue
      const at = places.of(support['segment'])
      for (const index of list(support['groundingChunkIndices'])) {
        const annotation = typeof index === 'number' ? sourceOf(this.#chunks[index], at) : undefined
        if (annotation !== undefined) annotations.push(annotation)
      }
    }
    // Sources without a sentence apply to the whole answer.
    if (this.#supports.length === 0) {
      for (const chunk of this.#chunks) {
        const annotation = sourceOf(chunk, { start: text.length, end: text.length })
        if (annotation !== undefined) annotations.push(annotation)
      }
    }
    for (const source of this.#citations) {
      if (!isObject(source) || !asString(source['uri'])) continue
      annotations.push(urlCitation(asString(source['uri'])!, asString(source['title']), places.of(source)))
    }
    return annotations
  }

  /** The search itself as an item of the answer; undefined if there was none. */
  searchCall(): OtherItem | undefined {
    if (this.#queries.length === 0) return undefined
    const urls = this.#chunks.flatMap((chunk) => webOf(chunk)?.url ?? [])
    return {
      type: 'web_search_call',
      status: 'completed',
      action: {
        type: 'search',
        query: this.#queries[0],
        queries: this.#queries,
        ...(urls.length === 0 ? {} : { sources: [...new Set(urls)].map((url) => ({ type: 'url', url })) }),
      },
    }
  }
}

/** The limit of characters that are searched for the text of misplaced segments: a fixed number plus some lengths of the text. */
const SEARCHED = 1_000_000
const SEARCHED_TEXTS = 8

/**
 * Finds the places of segments. Their text is the evidence, because offsets in answers of several parts may count from another start. The last
 * segment's deviation is tried first. All searches together are limited, and beyond the limit offsets are used as they are.
 */
class Places {
  readonly #text: string
  readonly #offsets: ReadonlyMap<number, number>
  #left: number
  #shift = 0

  constructor(text: string, offsets: ReadonlyMap<number, number>) {
    this.#text = text
    this.#offsets = offsets
    this.#left = SEARCHED + SEARCHED_TEXTS * text.length
  }

  of(segment: unknown): Cited {
    const text = this.#text
    if (!isObject(segment)) return { start: text.length, end: text.length }
    const start = this.#offsets.get(offset(segment['startIndex']) ?? 0) ?? 0
    const end = Math.max(start, this.#offsets.get(offset(segment['endIndex']) ?? 0) ?? text.length)
    const quoted = asString(segment['text'])
    if (!quoted || text.slice(start, end) === quoted) return { start, end }
    const found = this.#find(quoted, start)
    if (found < 0) return { start, end }
    this.#shift = found - start
    return { start: found, end: found + quoted.length }
  }

  #find(quoted: string, start: number): number {
    const text = this.#text
    const shifted = start + this.#shift
    if (shifted >= 0 && text.startsWith(quoted, shifted)) return shifted
    if (this.#left <= 0) return -1
    const after = text.indexOf(quoted, start)
    const found = after >= 0 ? after : text.indexOf(quoted)
    this.#left -= quoted.length + (after >= 0 ? after - start : text.length)
    return found
  }
}

function webOf(chunk: unknown): { readonly url: string; readonly title: string | undefined; readonly content: string | undefined } | undefined {
  if (!isObject(chunk)) return undefined
  const source = [chunk['web'], chunk['retrievedContext'], chunk['maps'], chunk['image']].find(isObject)
  // For a picture, the page that contains it.
  const url = asString(source?.['uri']) ?? asString(source?.['sourceUri'])
  return url ? { url, title: asString(source?.['title']), content: asString(source?.['text']) } : undefined
}

function sourceOf(chunk: unknown, at: Cited): Annotation | undefined {
  const web = webOf(chunk)
  if (web !== undefined) return { ...urlCitation(web.url, web.title, at), ...(web.content === undefined ? {} : { content: web.content }) }
  const stored = isObject(chunk) && isObject(chunk['retrievedContext']) ? chunk['retrievedContext'] : undefined
  const file = asString(stored?.['documentName']) ?? asString(stored?.['fileSearchStore'])
  return file === undefined ? undefined : { type: 'file_citation', file_id: file, filename: asString(stored?.['title']) ?? file, index: at.end }
}

function urlCitation(url: string, title: string | undefined, { start, end }: Cited): Annotation {
  return { type: 'url_citation', url, title: title || url, start_index: start, end_index: end }
}
