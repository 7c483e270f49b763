import { asString, isObject } from '../shared/json.ts'
import { PLAN, type THINKING } from './messages.ts'

/** The kinds of text in a delta. */
export type Writes = 'text' | typeof PLAN | typeof THINKING

const hasOnly = (value: { readonly [field: string]: unknown }, ...keys: readonly string[]): boolean =>
  Object.keys(value).every((key) => keys.includes(key))

/** Reads the text of a delta; undefined if the frame contains anything else. */
export function readDelta(frame: unknown, kind: Writes): string | undefined {
  if (!isObject(frame) || !hasOnly(frame, 'type', 'index', 'delta') || !isObject(frame['delta']) || !hasOnly(frame['delta'], 'message'))
    return undefined
  const { message } = frame['delta']
  if (!isObject(message)) return undefined
  if (kind === PLAN) return frame['type'] === 'tool-plan-delta' && hasOnly(message, PLAN) ? asString(message[PLAN]) : undefined
  const { content } = message
  if (frame['type'] !== 'content-delta' || !hasOnly(message, 'content') || !isObject(content) || !hasOnly(content, kind)) return undefined
  return asString(content[kind])
}
