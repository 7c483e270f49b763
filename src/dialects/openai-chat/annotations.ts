import type { Annotation, Logprob } from '../../core/item.ts'
import { asString, isObject } from '../shared/json.ts'

const index = (value: unknown, fallback: number): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : fallback)

/** A citation, nested under its type or flat; undefined for kinds the contract does not know. `at` is where it stands when it has no offsets. */
export function decodeAnnotation(value: unknown, at: number): Annotation | undefined {
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

/** Sources an answer names beside its text (`citations`, `search_results`): collected while it streams, cited once at its end. */
export interface SourceList {
  /** Takes whatever a frame says; repeated lists change nothing. */
  add(citations: unknown, results: unknown): void
  /** One citation per source, at the end of a text of this length. */
  annotations(textLength: number): Annotation[]
}

export function createSourceList(): SourceList {
  const titles = new Map<string, string | undefined>()
  let lastCitations: unknown
  const note = (entry: unknown): void => {
    const url = typeof entry === 'string' ? entry : isObject(entry) ? asString(entry['url']) : undefined
    if (url === undefined || url === '') return
    titles.set(url, (isObject(entry) ? asString(entry['title']) : undefined) ?? titles.get(url))
  }
  return {
    add(citations, results) {
      if (Array.isArray(citations) && citations !== lastCitations) for (const entry of citations) note(entry)
      if (Array.isArray(results)) for (const entry of results) note(entry)
      lastCitations = citations
    },
    annotations(textLength) {
      return [...titles].map(([url, title]) => ({ type: 'url_citation', url, title: title ?? url, start_index: textLength, end_index: textLength }))
    },
  }
}

function decodeTop(value: unknown): Logprob['top_logprobs'][number] | undefined {
  if (!isObject(value) || typeof value['token'] !== 'string' || typeof value['logprob'] !== 'number') return undefined
  const bytes = Array.isArray(value['bytes']) ? value['bytes'].filter((byte): byte is number => typeof byte === 'number') : []
  return { token: value['token'], logprob: value['logprob'], bytes }
}

/** `choice.logprobs.content[]`; undefined when there are none. */
export function decodeLogprobs(value: unknown): Logprob[] | undefined {
  if (!isObject(value) || !Array.isArray(value['content']) || value['content'].length === 0) return undefined
  const logprobs = value['content'].flatMap((entry: unknown): Logprob[] => {
    const top = decodeTop(entry)
    if (top === undefined) return []
    const alternatives = isObject(entry) && Array.isArray(entry['top_logprobs']) ? entry['top_logprobs'].map(decodeTop).filter((each) => each !== undefined) : []
    return [{ ...top, top_logprobs: alternatives }]
  })
  return logprobs.length > 0 ? logprobs : undefined
}
