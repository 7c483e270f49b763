import { asString, isObject } from '../shared/json.ts'
import { PLAN, type THINKING } from './messages.ts'

/** What a delta is a piece of. */
export type Writes = 'text' | typeof PLAN | typeof THINKING

const hasOnly = (value: { readonly [field: string]: unknown }, ...keys: readonly string[]): boolean =>
  Object.keys(value).every((key) => keys.includes(key))

/** Reads the one text of a delta; undefined when the frame says anything else. */
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
