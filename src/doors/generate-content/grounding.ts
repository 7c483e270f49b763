import type { Annotation, InputPart, JsonObject, OtherItem } from '../../core/item.ts'

/** Between the texts of two messages that readers take for one. */
const SEPARATOR = '\n\n'

const SEARCHES = /^(?:web_search_call|(?:gateway|openrouter):web_search)$/
const FETCHES = /^(?:gateway|openrouter):web_fetch$/

interface Cited {
  readonly from: string
  readonly start: number
  readonly end: number
  readonly chunk: number
  /** Bytes of the answer before the text. */
  readonly before: number
}

/** What an answer says about its sources, as this format does at its end: places are counted in bytes of UTF-8 from the beginning of all its text. */
export class Grounding {
  readonly #queries: string[] = []
  readonly #pages: JsonObject[] = []
  readonly #chunks = new Map<string, { readonly index: number; readonly chunk: JsonObject }>()
  readonly #cited: Cited[] = []
  #bytes = 0

  /** What a message begins with behind another one. */
  separate(): string {
    this.#bytes += SEPARATOR.length
    return SEPARATOR
  }

  /** A message is whole. */
  said(content: readonly InputPart[]): void {
    for (const part of content) {
      const text = part.type === 'output_text' ? part.text : part.type === 'refusal' ? part.refusal : ''
      if (part.type === 'output_text') for (const annotation of part.annotations ?? []) this.#cite(annotation, text)
      this.#bytes += Buffer.byteLength(text)
    }
  }

  /** The gateway or the provider did something of its own. */
  did(item: OtherItem): void {
    const { type, status, url, action } = item as OtherItem & { readonly action?: JsonObject | null }
    if (SEARCHES.test(type)) this.#queries.push(...queriesOf(action ?? {}))
    else if (FETCHES.test(type) && typeof url === 'string') {
      const word = status === 'failed' ? 'ERROR' : 'SUCCESS'
      this.#pages.push({ retrievedUrl: url, urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${word}` })
    }
  }

  /** Members of a candidate. */
  get told(): JsonObject {
    const chunks = [...this.#chunks.values()].map(({ chunk }) => chunk)
    const supports = this.#cited.map((cited) => ({ segment: segmentOf(cited), groundingChunkIndices: [cited.chunk] }))
    const grounds = this.#queries.length > 0 || chunks.length > 0
    return {
      ...(grounds
        ? {
            groundingMetadata: {
              ...(this.#queries.length === 0 ? {} : { webSearchQueries: [...new Set(this.#queries)] }),
              groundingChunks: chunks,
              groundingSupports: supports,
            },
          }
        : {}),
      ...(this.#pages.length === 0 ? {} : { urlContextMetadata: { urlMetadata: this.#pages } }),
    }
  }

  #cite(annotation: Annotation, text: string): void {
    if (annotation.type === 'file_path') return
    const isPage = annotation.type === 'url_citation'
    const key = isPage ? annotation.url : `file ${annotation.file_id}`
    const known = this.#chunks.get(key)
    const chunk = isPage
      ? { web: { uri: annotation.url, title: annotation.title } }
      : { retrievedContext: { title: annotation.filename, documentName: annotation.file_id } }
    const index = known?.index ?? this.#chunks.size
    if (known === undefined) this.#chunks.set(key, { index, chunk })
    const [start, end] = isPage ? [annotation.start_index, annotation.end_index] : [annotation.index, annotation.index]
    this.#cited.push({ from: text, start, end, chunk: index, before: this.#bytes })
  }
}

function segmentOf({ from, start, end, before }: Cited): JsonObject {
  const startIndex = before + Buffer.byteLength(from.slice(0, start))
  const text = from.slice(start, end)
  // Zero is left out, as their protocol does.
  return { ...(startIndex === 0 ? {} : { startIndex }), endIndex: startIndex + Buffer.byteLength(text), text: text.toWellFormed() }
}

function queriesOf({ query, queries }: JsonObject): readonly string[] {
  const all = Array.isArray(queries) && queries.length > 0 ? (queries as readonly unknown[]) : [query]
  return all.filter((each): each is string => typeof each === 'string' && each !== '')
}
