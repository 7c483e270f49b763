/**
 * What keeps reasoning alive across turns, whichever client carries it.
 *
 * Some clients return only `id`, `encrypted_content` and `summary` of a reasoning item. Everything a vendor wants back (its signature,
 * its opaque blob, the exact text a signature covers) therefore travels inside `encrypted_content`, together with the format and the
 * credential scope that minted it, so that it never reaches a vendor or an organisation that cannot read it.
 *
 * Wire form: `sb1.<base64url of a JSON header>.<vendor blob>`; the blob stays as the vendor wrote it.
 */

import { parseJsonText } from '../lib/json.ts'

/** Format names of the public contract. A caller who sends back an item with another format is refused. */
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

/** The format as the public item may name it; the envelope keeps the vendor's own word. */
export function publicReasoningFormat(format: string): string {
  return PUBLIC_FORMATS.has(format) ? format : 'unknown'
}

const PREFIX = 'sb1.'
const MAX_HEADER_CHARS = 4_000_000

export type Place = readonly [text: number, calls: number, nth?: number]

export interface ReasoningPayload {
  /** Public format name of the contract: `anthropic-claude-v1`, `openai-responses-v1`, `google-gemini-v1`, ... */
  readonly format: string
  /** Who can read it: `Target.scope` of the endpoint that minted it. */
  readonly scope: string
  /** The vendor's opaque blob: encrypted or redacted content. */
  readonly data?: string
  readonly signature?: string
  /** The signature stands on a call. Clients that put all thoughts of a message first do not say whether it stood before the words or behind. */
  readonly signs?: 'call'
  /** What it followed in its message, if the envelope is stored elsewhere: characters of text, and calls; `nth` if there are several in one place. */
  readonly at?: Place
  /** The text a signature covers, byte-exact, where the vendor wants it back. */
  readonly text?: string
}

export function sealReasoning(payload: ReasoningPayload): string {
  const { data, ...header } = payload
  return `${PREFIX}${Buffer.from(JSON.stringify(header)).toString('base64url')}.${data ?? ''}`
}

/** Undefined for anything that is not an envelope of ours: another gateway's blob, or a vendor's bare one. */
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

/** The envelope with the place of its thought in a message. Anything that is not one of ours stays as it is. */
export function placeReasoning(encrypted: string, at: Place): string {
  const payload = openReasoning(encrypted)
  return payload === undefined ? encrypted : sealReasoning({ ...payload, at })
}

/** Format, scope and a short signature. */
const USUAL_HEADER_CHARS = 200

/** About how many characters of an envelope are told to a model as text, without opening it; 0 for anything that is not one of ours. */
export function readableChars(encrypted: unknown): number {
  if (typeof encrypted !== 'string' || !encrypted.startsWith(PREFIX)) return 0
  const dot = encrypted.indexOf('.', PREFIX.length)
  if (dot < 0) return 0
  const blocks = encrypted[dot + 1] === '[' ? encrypted.length - dot : 0
  return Math.max(0, dot - USUAL_HEADER_CHARS) * 0.75 + blocks
}

/** A vendor's blob is one long word; anything else in its place could be read. */
const isBlob = (data: string): boolean => /^[\w+/=-]{64,}$/.test(data)

/**
 * The parts of an envelope that a model may read as text: the words that a signature covers, and blocks included whole. Anybody can write an
 * envelope, so its content was not necessarily produced by a model. Undefined for anything that is not one of our envelopes.
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
