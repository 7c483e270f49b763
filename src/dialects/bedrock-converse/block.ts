import type { FinishReason } from '../../core/event.ts'
import type { OpenCall } from '../shared/call-writer.ts'
import { asString, isObject } from '../shared/json.ts'

export type Json = { readonly [field: string]: unknown }

const FINISH: { readonly [native: string]: FinishReason | 'error' } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  refusal: 'refusal',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
}

/** An unknown stop reason counts as a normal stop. */
export function finishOf(native: string | undefined): FinishReason | 'error' {
  return native !== undefined && Object.hasOwn(FINISH, native) ? FINISH[native]! : 'stop'
}

/** One open block of the answer. */
export interface Block {
  readonly kind: 'text' | 'reasoning' | 'call' | 'answer' | 'system' | 'ignored'
  readonly call?: OpenCall
  /** The start of its text in the message. */
  textStart: number
  readonly citations: unknown[]
}

/** Reads the text of a `contentBlockDelta`; undefined if the frame contains anything else. */
export function readDelta(frame: unknown, kind: 'text' | 'reasoning'): string | undefined {
  if (!isObject(frame) || !isObject(frame['delta'])) return undefined
  for (const key in frame) if (key !== 'contentBlockIndex' && key !== 'delta' && key !== 'p') return undefined
  const delta = kind === 'text' ? frame['delta'] : frame['delta']['reasoningContent']
  if (!isObject(delta) || Object.keys(delta).length !== 1 || Object.keys(frame['delta']).length !== 1) return undefined
  return asString(delta['text'])
}

export const openBlock = (kind: Block['kind']): Block => ({ kind, textStart: 0, citations: [] })

export const indexOf = (frame: Json): number => (typeof frame['contentBlockIndex'] === 'number' ? frame['contentBlockIndex'] : 0)
