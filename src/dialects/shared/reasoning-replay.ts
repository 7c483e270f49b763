import type { ReasoningItem } from '../../core/item.ts'
import { openReasoning } from '../../core/reasoning-envelope.ts'
import type { ModelRequest } from '../../core/request.ts'

/** A reasoning item of the history, decoded: the part of an assistant turn before what it led to. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  /** Raw reasoning text, byte-exact if a signature covers it; empty if the item has none. */
  readonly text: string
  readonly summary: string
  /** Format of `signature` and `data`; `unknown` for plain text. */
  readonly format: string
  readonly signature?: string
  /** The signature belongs to a call, wherever the client has put it. */
  readonly signs?: 'call'
  /** A vendor's opaque blob: encrypted or redacted content. */
  readonly data?: string
  /** Who made it, if it came in the gateway's envelope; absent for the contract's plain fields. */
  readonly scope?: string
}

/**
 * Decodes a reasoning item from the gateway's envelope if it has one, and otherwise from the contract's plain fields. An `encrypted_content` that is
 * no envelope comes from somebody else and nobody here knows who can read it, so it is left out. Undefined if nothing is left.
 */
export function readReasoning(item: ReasoningItem): ReasoningPart | undefined {
  const envelope = openReasoning(item.encrypted_content)
  const plain = (item.content ?? []).map(({ text }) => text).join('')
  const summary = (item.summary ?? []).map(({ text }) => text).join('\n\n')
  const text = envelope?.text ?? plain
  const signature = envelope === undefined ? item.signature : envelope.signature
  const data = envelope?.data
  if (text === '' && summary === '' && signature == null && data === undefined) return undefined
  return {
    type: 'reasoning',
    text,
    summary,
    format: envelope?.format ?? item.format ?? 'unknown',
    ...(signature == null ? {} : { signature }),
    ...(envelope?.signs === undefined ? {} : { signs: envelope.signs }),
    ...(data === undefined ? {} : { data }),
    ...(envelope === undefined ? {} : { scope: envelope.scope }),
  }
}

/** Whether the caller asks for encrypted reasoning; such clients may send back nothing else of it. */
export function wantsSealedReasoning({ include }: Pick<ModelRequest, 'include'>): boolean {
  return include?.includes('reasoning.encrypted_content') === true
}
