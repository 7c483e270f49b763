import type { Annotation, InputPart, JsonObject, OtherItem } from '../../core/item.ts'
import { isFetch, isSearch } from '../shared/tool-items.ts'

/** Separates the texts of two messages that readers join. */
const SEPARATOR = '\n\n'

/**
 * Segments repeat the text that they cover. Each of many sources may cover all of it, and then an answer of megabytes would need gigabytes here: what
 * goes beyond this has only its position, from which readers cut the text themselves.
 */
const MAX_REPEATED_CHARS = 1_000_000

interface Cited {
  readonly start: number
  readonly end: number
  readonly chunk: number
}

/** A text of the answer with its citations. */
interface CitingText {
  readonly text: string
  /** Bytes of the answer before this text. */
  readonly before: number
  readonly cited: readonly Cited[]
}

/** The sources of an answer, which this format lists at its end. Positions are counted in UTF-8 bytes from the beginning of all its text. */
export class Grounding {
  readonly #queries: string[] = []
  readonly #pages: JsonObject[] = []
  readonly #chunks = new Map<string, { readonly index: number; readonly chunk: JsonObject }>()
  readonly #texts: CitingText[] = []
  #bytes = 0

  /** Returns what separates a message from the one before it. */
  separate(): string {
    this.#bytes += SEPARATOR.length
    return SEPARATOR
  }

  /** Called when a message is complete. */
  said(content: readonly InputPart[]): void {
    for (const part of content) {
      const text = part.type === 'output_text' ? part.text : part.type === 'refusal' ? part.refusal : ''
      const cited = part.type === 'output_text' ? (part.annotations ?? []).flatMap((annotation) => this.#cite(annotation) ?? []) : []
      if (cited.length > 0) this.#texts.push({ text, before: this.#bytes, cited })
      this.#bytes += Buffer.byteLength(text)
    }
  }

  /** Called when the gateway or the provider ran a tool of its own. */
  did(item: OtherItem): void {
    const { type, status, url, action } = item as OtherItem & { readonly action?: JsonObject | null }
    if (isSearch(type)) this.#queries.push(...queriesOf(action ?? {}))
    else if (isFetch(type) && typeof url === 'string') {
      const word = status === 'failed' ? 'ERROR' : 'SUCCESS'
      this.#pages.push({ retrievedUrl: url, urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${word}` })
    }
  }

  /** Members of a candidate. */
  get members(): JsonObject {
    const chunks = [...this.#chunks.values()].map(({ chunk }) => chunk)
    const room = { left: MAX_REPEATED_CHARS }
    const supports = this.#texts.flatMap((text) => supportsIn(text, room))
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

  #cite(annotation: Annotation): Cited | undefined {
    if (annotation.type === 'file_path') return undefined
    const isPage = annotation.type === 'url_citation'
    const key = isPage ? annotation.url : `file ${annotation.file_id}`
    const known = this.#chunks.get(key)
    const chunk = isPage
      ? { web: { uri: annotation.url, title: annotation.title } }
      : { retrievedContext: { title: annotation.filename, documentName: annotation.file_id } }
    const index = known?.index ?? this.#chunks.size
    if (known === undefined) this.#chunks.set(key, { index, chunk })
    const [start, end] = isPage ? [annotation.start_index, annotation.end_index] : [annotation.index, annotation.index]
    return { start, end, chunk: index }
  }
}

/** `room`: the characters that may still be repeated. */
function supportsIn({ text, before, cited }: CitingText, room: { left: number }): readonly JsonObject[] {
  const bytes = byteOffsets(
    text,
    cited.flatMap(({ start, end }) => [start, end]),
  )
  return cited.map(({ start, end, chunk }) => {
    const startIndex = before + bytes.get(start)!
    // Zero is left out, as in the vendor's protocol.
    const place = { ...(startIndex === 0 ? {} : { startIndex }), endIndex: before + bytes.get(end)! }
    const length = Math.max(0, end - start)
    if (length > room.left) return { segment: place, groundingChunkIndices: [chunk] }
    room.left -= length
    return { segment: { ...place, text: text.slice(start, end).toWellFormed() }, groundingChunkIndices: [chunk] }
  })
}

/** UTF-8 byte offsets for UTF-16 offsets; a single pass over the text, however many there are. */
function byteOffsets(text: string, offsets: readonly number[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  let at = 0
  let bytes = 0
  for (const offset of [...new Set(offsets)].toSorted((a, b) => a - b)) {
    bytes += Buffer.byteLength(text.slice(at, offset))
    at = offset
    found.set(offset, bytes)
  }
  return found
}

function queriesOf({ query, queries }: JsonObject): readonly string[] {
  const all = Array.isArray(queries) && queries.length > 0 ? (queries as readonly unknown[]) : [query]
  return all.filter((each): each is string => typeof each === 'string' && each !== '')
}
