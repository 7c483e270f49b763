import type { Annotation, JsonObject } from '../../core/item.ts'
import { keepNative } from '../../core/native-citation.ts'
import type { ModelRequest } from '../../core/request.ts'
import { visitParts } from '../shared/content-parts.ts'
import { asString, isObject } from '../shared/json.ts'

/**
 * A citation as an annotation of the text from `start` to `end` (UTF-16 code units of the part). Pages are cited by URL. Documents of the request
 * have none and are cited as files, named by their title. Undefined if the value is not a citation.
 */
export function decodeCitation(value: unknown, start: number, end: number): Annotation | undefined {
  if (!isObject(value)) return undefined
  const annotation = annotationOf(value, start, end)
  if (annotation !== undefined) keepNative(annotation, 'messages', value)
  return annotation
}

function annotationOf(value: JsonObject, start: number, end: number): Annotation | undefined {
  const url = asString(value['url']) ?? asString(value['source'])
  const title = asString(value['title'])
  if (url !== undefined && url !== '') {
    const content = asString(value['cited_text'])
    return { type: 'url_citation', url, title: title || url, start_index: start, end_index: end, ...(content === undefined ? {} : { content }) }
  }
  const number = value['document_index']
  if (typeof number !== 'number') return undefined
  const name = asString(value['document_title']) || `document_${number}`
  return { type: 'file_citation', file_id: asString(value['file_id']) ?? name, filename: name, index: end }
}

/** Whether the caller has asked for citations, which is decided per document. Looked up on first use. */
export function citedIn({ input }: Pick<ModelRequest, 'input'>): () => boolean {
  let wants: boolean | undefined
  return () => {
    if (wants === undefined) {
      wants = false
      visitParts(input, (part) => {
        wants ||= 'cited' in part && part.cited !== undefined
      })
    }
    return wants
  }
}
