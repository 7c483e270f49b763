import { createHash } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` letters and digits that depend only on `text`. */
export function hashedName(text: string, length: number): string {
  let out = ''
  for (let round = 0; out.length < length; round++) {
    const digest = createHash('sha256').update(`${round}:${text}`).digest()
    for (const byte of digest) if (out.length < length && (byte & 63) < 62) out += BASE62[byte & 63]
  }
  return out
}

/** What an endpoint accepts as the id of a tool call. Letters and digits must be allowed. */
export interface IdRule {
  readonly pattern: RegExp
  readonly max: number
  /** Ids must have exactly this many characters. */
  readonly length?: number
  /** Ids that are accepted regardless of the rest; they end in a number, and a repeated one is replaced. */
  readonly also?: RegExp
}

export type MapId = (publicId: string, occurrence: number) => string

/**
 * Rewrites public call ids to what the endpoint accepts: equal ids of a request give equal results, and different ids different ones. `occurrence`
 * distinguishes calls of one conversation with the same id (some upstreams repeat ids across turns).
 */
export function createIdMap(rule: IdRule): MapId {
  const taken = new Map<string, string>()
  const known = new Map<string, string>()
  const accepts = (id: string): boolean =>
    rule.also?.test(id) === true ||
    (id !== '' && id.length <= rule.max && (rule.length === undefined || id.length === rule.length) && rule.pattern.test(id))

  return (publicId, occurrence) => {
    const source = occurrence === 0 ? publicId : `${publicId}#${occurrence}`
    const before = known.get(source)
    if (before !== undefined) return before
    const numbered = rule.also?.test(publicId) === true
    const hashed = (text: string): string => hashedName(text, rule.length ?? Math.min(rule.max, 24))
    const another = (attempt: number): string =>
      numbered ? publicId.replace(/\d+$/, String(occurrence + attempt)) : hashed(attempt === 0 ? source : `${source}~${attempt}`)
    let id = occurrence === 0 && accepts(publicId) ? publicId : another(0)
    for (let attempt = 1; taken.has(id) && attempt < 100; attempt++) id = another(attempt)
    if (taken.has(id)) id = hashed(source)
    taken.set(id, source)
    known.set(source, id)
    return id
  }
}
