import type { OutgoingResponse } from '../../core/destination.ts'
import { parseJsonText } from '../../lib/json.ts'

export type AnswerFields = { readonly [name: string]: unknown }

/** The JSON of an answer, or undefined if it is none. */
export function readJson({ body }: OutgoingResponse): unknown {
  try {
    return parseJsonText(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The JSON object of an answer, or undefined for anything else. */
export const readObject = (response: OutgoingResponse): AnswerFields | undefined => asObject(readJson(response))

/** The value if it is a JSON object. */
export function asObject(value: unknown): AnswerFields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AnswerFields) : undefined
}

/** The JSON objects in a list; empty for anything else. */
export function asObjects(value: unknown): readonly (AnswerFields | undefined)[] {
  return Array.isArray(value) ? value.map(asObject) : []
}
