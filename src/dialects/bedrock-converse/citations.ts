import type { Annotation } from '../../core/item.ts'
import { asString, isObject } from '../shared/json.ts'

/** A citation of the answer's text from `start` to `end`; undefined if it names no source. */
export function decodeCitation(value: unknown, start: number, end: number): Annotation | undefined {
  if (!isObject(value)) return undefined
  const location = isObject(value['location']) ? value['location'] : {}
  const title = asString(value['title'])
  const web = isObject(location['web']) ? location['web'] : undefined
  const url = asString(web?.['url']) ?? webSource(value['source'])
  if (url !== undefined) return { type: 'url_citation', url, title: title ?? asString(web?.['domain']) ?? url, start_index: start, end_index: end }
  const document = Object.values(location).find(isObject)
  const index = typeof document?.['documentIndex'] === 'number' ? document['documentIndex'] : undefined
  if (title === undefined && index === undefined) return undefined
  const name = title ?? `document ${index}`
  return { type: 'file_citation', file_id: name, filename: name, index: end }
}

const webSource = (source: unknown): string | undefined => (typeof source === 'string' && /^https?:/i.test(source) ? source : undefined)
