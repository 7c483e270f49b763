import type { Span } from '../../lib/linear-pattern.ts'

/** A part of a text that is another text in base64 or hexadecimal. */
export interface EncodedRun extends Span {
  readonly encoding: 'base64' | 'hex'
  readonly decoded: string
}

const BASE64 = /[A-Za-z0-9+/_-]{12,}={0,2}/g
/** In lines as tools and mails wrap them. A match on the border of two pieces is found in neither. */
const WRAPPED = /(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{60,76}\r?\n){1,10000}[A-Za-z0-9+/]{1,76}={0,2}/g
const HEX = /(?<![0-9a-f])(?:[0-9a-f]{2}[ :,]?){7,}[0-9a-f]{2}/gi
/** Encodings inside encodings. */
const MAX_DEPTH = 2

/**
 * Runs that decode to something a person could have written, at any depth up to `MAX_DEPTH`. Lazy, but all of them: an attacker would put many
 * harmless runs first.
 */
export function* encodedRuns(text: string): Generator<EncodedRun> {
  for (const [pattern, encoding] of [[HEX, 'hex'] as const, [BASE64, 'base64'] as const, [WRAPPED, 'base64'] as const]) {
    for (const { 0: run, index } of text.matchAll(pattern)) {
      const decoded = unwrap(pattern === WRAPPED ? run.replaceAll(/\s/g, '') : run, encoding, MAX_DEPTH)
      if (decoded !== undefined) yield { start: index, end: index + run.length, encoding, decoded }
    }
  }
}

function unwrap(run: string, encoding: EncodedRun['encoding'], depth: number): string | undefined {
  const text = readable(Buffer.from(encoding === 'hex' ? run.replaceAll(/[ :,]/g, '') : run, encoding))
  if (text === undefined || depth === 1) return text
  const inner = text.trim()
  for (const [pattern, kind] of [[/^(?:[0-9a-f]{2}[ :,]?){8,}$/i, 'hex'] as const, [/^[A-Za-z0-9+/_-]{12,}={0,2}$/, 'base64'] as const])
    if (pattern.test(inner)) return unwrap(inner, kind, depth - 1) ?? text
  return text
}

const decoder = new TextDecoder('utf-8', { fatal: true })
// oxlint-disable-next-line no-control-regex -- control characters are what texts do not have
const UNREADABLE = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/

/** The bytes as text; undefined if they are none, as nearly every word decodes to some bytes. */
function readable(bytes: Buffer): string | undefined {
  if (bytes.length < 6) return undefined
  try {
    const text = decoder.decode(bytes)
    return UNREADABLE.test(text) ? undefined : text
  } catch {
    return undefined
  }
}
