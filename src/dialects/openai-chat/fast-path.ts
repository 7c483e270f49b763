import type { ModelEvent } from '../../core/event.ts'
import type { Lesson, ReadDelta } from '../shared/delta-template.ts'
import { asString, isObject } from '../shared/json.ts'

export type LearnedField = 'content' | 'reasoning_content' | 'reasoning'

/** The text in one field of a chunk's only choice. */
export const readDelta: ReadDelta<LearnedField> = (frame, field) => {
  const choices = isObject(frame) && Array.isArray(frame['choices']) ? frame['choices'] : []
  const choice: unknown = choices[0]
  const delta = isObject(choice) ? choice['delta'] : undefined
  return choices.length === 1 && isObject(delta) ? asString(delta[field]) : undefined
}

/** The field from which the only event of a frame came, if nothing else in the delta could have had an effect. */
export function lessonOf(delta: { readonly [field: string]: unknown }, event: ModelEvent): Lesson<LearnedField> | undefined {
  if ((event.type !== 'text-delta' && event.type !== 'reasoning-delta') || event.plain !== true) return undefined
  const text = event.delta
  if (event.type === 'text-delta') return delta['content'] === text ? { kind: 'content', field: 'content', text } : undefined
  // Reasoning may have come from tags in the content, and content next to it may be held back without an event.
  if (delta['content']) return undefined
  const field = asString(delta['reasoning_content']) ? 'reasoning_content' : 'reasoning'
  return delta[field] === text ? { kind: field, field, text } : undefined
}
