/**
 * Preserves reasoning across turns, whichever client returns it.
 *
 * Some clients return only `id`, `encrypted_content` and `summary` of a reasoning item. Everything that a vendor requires back (its signature, its
 * opaque blob, the exact text that a signature covers) is therefore part of `encrypted_content`, together with the format and the credential scope
 * that created it. Thus it never reaches a vendor or an organisation that cannot read it.
 *
 * Wire form: `sb1.<base64url of a JSON header>.<vendor blob>`; the blob is exactly the vendor's.
 */

import { parseJsonText } from '../lib/json.ts'

/** Format names of the public contract. An item with another format is refused when a caller returns it. */
export const REASONING_FORMATS = [
  'unknown',
  'openai-responses-v1',
  'azure-openai-responses-v1',
  'bedrock-openai-responses-v1',
  'bedrock-xai-responses-v1',
  'xai-responses-v1',
  'meta-responses-v1',
  'anthropic-claude-v1',
  'google-gemini-v1',
] as const
const PUBLIC_FORMATS: ReadonlySet<string> = new Set(REASONING_FORMATS)

/** The format name for the public item; the envelope keeps the vendor's own name. */
export function publicReasoningFormat(format: string): string {
  return PUBLIC_FORMATS.has(format) ? format : 'unknown'
}

const PREFIX = 'sb1.'
const MAX_HEADER_CHARS = 4_000_000

export type Place = readonly [text: number, calls: number, nth?: number]

export interface ReasoningPayload {
  /** Public format name of the contract: `anthropic-claude-v1`, `openai-responses-v1`, `google-gemini-v1`, ... */
  readonly format: string
  /** Who can read it: `Target.scope` of the endpoint that created it. */
  readonly scope: string
  /** The vendor's opaque blob: encrypted or redacted content. */
  readonly data?: string
  readonly signature?: string
  /** The signature belongs to a call. Clients that put all reasoning of a message first do not tell whether it came before or after the text. */
  readonly signs?: 'call'
  /**
   * What it followed in its message, if the envelope is stored elsewhere: the number of characters of text, and of calls; `nth` if several are in one
   * place.
   */
  readonly at?: Place
  /** The byte-exact text that a signature covers, if the vendor requires it back. */
  readonly text?: string
}

export function sealReasoning(payload: ReasoningPayload): string {
  const { data, ...header } = payload
  return `${PREFIX}${Buffer.from(JSON.stringify(header)).toString('base64url')}.${data ?? ''}`
}

/** Undefined for anything but an envelope of ours, such as another gateway's blob or a vendor's bare one. */
export function openReasoning(encrypted: string | null | undefined): ReasoningPayload | undefined {
  if (!encrypted?.startsWith(PREFIX)) return undefined
  const dot = encrypted.indexOf('.', PREFIX.length)
  if (dot < 0 || dot > MAX_HEADER_CHARS) return undefined
  try {
    const header: unknown = parseJsonText(Buffer.from(encrypted.slice(PREFIX.length, dot), 'base64url').toString())
    if (typeof header !== 'object' || header === null) return undefined
    const { format, scope, signature, signs, at, text } = header as Record<string, unknown>
    if (typeof format !== 'string' || typeof scope !== 'string') return undefined
    const data = encrypted.slice(dot + 1)
    return {
      format,
      scope,
      ...(data === '' ? {} : { data }),
      ...(typeof signature === 'string' ? { signature } : {}),
      ...(signs === 'call' ? { signs } : {}),
      ...(isPlace(at) ? { at } : {}),
      ...(typeof text === 'string' ? { text } : {}),
    }
  } catch {
    return undefined
  }
}

const isPlace = (at: unknown): at is Place =>
  Array.isArray(at) && (at.length === 2 || at.length === 3) && at.every((count) => Number.isSafeInteger(count) && count >= 0)

/** Adds the position of the reasoning in its message to the envelope. Anything but an envelope of ours is returned unchanged. */
export function placeReasoning(encrypted: string, at: Place): string {
  const payload = openReasoning(encrypted)
  return payload === undefined ? encrypted : sealReasoning({ ...payload, at })
}

/** Typical length of format, scope and a short signature. */
const USUAL_HEADER_CHARS = 200

/** Estimates how many characters of an envelope a model reads as text, without opening it; 0 for anything but an envelope of ours. */
export function readableChars(encrypted: unknown): number {
  if (typeof encrypted !== 'string' || !encrypted.startsWith(PREFIX)) return 0
  const dot = encrypted.indexOf('.', PREFIX.length)
  if (dot < 0) return 0
  const blocks = encrypted[dot + 1] === '[' ? encrypted.length - dot : 0
  return Math.max(0, dot - USUAL_HEADER_CHARS) * 0.75 + blocks
}

/** A vendor's blob is one long word; anything else in its place may be readable. */
const isBlob = (data: string): boolean => /^[\w+/=-]{64,}$/.test(data)

/**
 * The parts of an envelope that a model may read as text: the text that a signature covers, and blocks that are included as a whole. Anyone can write
 * an envelope, so its content was not necessarily produced by a model. Undefined for anything but an envelope of ours.
 */
export function readableIn(encrypted: unknown): readonly unknown[] | undefined {
  const payload = typeof encrypted === 'string' ? openReasoning(encrypted) : undefined
  if (payload === undefined) return undefined
  const { text, data } = payload
  return [...(text === undefined ? [] : [text]), ...(data === undefined || isBlob(data) ? [] : [parsed(data)])]
}

function parsed(data: string): unknown {
  try {
    return parseJsonText(data)
  } catch {
    return data
  }
}
