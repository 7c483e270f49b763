import type { FinishReason } from '../../core/event.ts'
import { asString, isObject } from '../shared/json.ts'

export type Json = { readonly [field: string]: unknown }

/** The text of a frame with a single part. */
export function readText(frame: unknown): string | undefined {
  const candidates = isObject(frame) && Array.isArray(frame['candidates']) ? (frame['candidates'] as readonly unknown[]) : []
  const candidate = candidates[0]
  const content = isObject(candidate) ? candidate['content'] : undefined
  const parts = isObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly unknown[]) : []
  const part = parts[0]
  return candidates.length === 1 && parts.length === 1 && isObject(part) ? asString(part['text']) : undefined
}

/** Only the first candidate is used. */
export function firstCandidate(candidates: unknown): Json | undefined {
  if (!Array.isArray(candidates)) return undefined
  const first: unknown = candidates.find((candidate) => isObject(candidate) && (candidate['index'] ?? 0) === 0)
  return isObject(first) ? first : isObject(candidates[0]) ? candidates[0] : undefined
}

/** Decoded calls decide, because the reason is STOP with and without them. */
export function reasonOf(finish: FinishReason, hasCalls: boolean): FinishReason {
  if (finish === 'length' || finish === 'content_filter' || finish === 'refusal') return finish
  return hasCalls ? 'tool_calls' : 'stop'
}
