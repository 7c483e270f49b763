import { createHash } from 'node:crypto'
import { scrubSecrets } from '../../src/dialects/shared/scrub.ts'
import { encodeAwsFrame } from '../../src/testing/aws-frames.ts'

const REMOVED = 'scrubbed'

/** Headers that a replay needs; all others (cookies, organisations, limits of the account) are dropped. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['content-type', 'retry-after', 'retry-after-ms', 'x-amzn-errortype'])

/** Fields that name a person, an account or something that belongs to one. */
const ACCOUNT_FIELD =
  /("(?:user|user_?id|user_?name|login|e-?mail|owner|owned_by|creator[a-z_]*|organi[sz]ation(?:_?id)?|org(?:_?id)?|project(?:_?id)?|account(?:_?id)?|tenant(?:_?id)?|subscription(?:_?id)?|safety_identifier|end_user(?:_?id)?)"\s*:\s*")(?:[^"\\]|\\.)*(?=")/gi

/** Fields that identify an exchange, an item or a call. */
const ID_FIELD = /"(?:id|[a-z_]*_id|[a-zA-Z]+Id|call_id|system_fingerprint)"\s*:\s*"((?:[^"\\]|\\.){6,})"/g

/** Content that vendors seal or sign: only they know what it contains. */
const BLOB_FIELD =
  /"(?:encrypted_content|signature|thoughtSignature|thought_signature|redactedContent|encrypted_stdout)"\s*:\s*"([A-Za-z0-9+/=_-]{16,})"/g
const SEALED_DATA = /"type"\s*:\s*"(?:redacted_thinking|reasoning\.encrypted)"[^{}]*?"data"\s*:\s*"([A-Za-z0-9+/=_-]{8,})"/g

/** Ids anywhere in text: in error messages, in URLs. */
const LOOSE_ID =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:req|org|proj|user|acct|cust|team|workspace|wrkspc)[-_][A-Za-z0-9]{8,}\b/g
const EMAIL = /[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g
const ARN_ACCOUNT = /(\barn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:)\d{12}/g
const PROJECT_PATH = /(\bprojects\/)[^/\s"'\\]+/g

/** Texts that no recording may contain: keys, and names of accounts in the configuration. */
export interface Canaries {
  readonly secrets: readonly string[]
  readonly names: readonly string[]
  /** The same id gets the same replacement in all steps of a scenario. */
  readonly scenario: string
}

export interface Scrubber {
  text(text: string): string
  body(body: Buffer, contentType: string): Buffer
  headers(headers: { readonly [name: string]: string | string[] | undefined }): { readonly [name: string]: string }
  /** Throws if a known secret is still present, in any of the usual encodings. */
  verify(what: string, bytes: Buffer | string): void
}

/**
 * Removes from a recorded exchange whatever leads to an account: keys, ids, account names, sealed content, and every header that a replay does not
 * need. Replaced ids and blobs keep their length, prefix and kinds of characters; all other bytes stay unchanged.
 */
export function createScrubber(canaries: Canaries): Scrubber {
  const known = [...canaries.secrets, ...canaries.names].filter((text) => text.length >= 4).toSorted((a, b) => b.length - a.length)
  const standIn = (value: string): string => disguise(value, canaries.scenario)

  const text = (source: string): string => {
    let result = source
    for (const secret of known) result = result.replaceAll(secret, REMOVED)
    result = scrubSecrets(result).replace(ACCOUNT_FIELD, `$1${REMOVED}`).replace(EMAIL, `${REMOVED}@example.test`)
    result = result.replace(ARN_ACCOUNT, '$1000000000000').replace(PROJECT_PATH, `$1${REMOVED}`)
    const opaque = [ID_FIELD, BLOB_FIELD, SEALED_DATA].flatMap((field) => [...result.matchAll(field)].map((match) => match[1]!))
    const ids = new Set([...opaque, ...[...result.matchAll(LOOSE_ID)].map(([id]) => id)])
    ids.delete(REMOVED)
    for (const id of [...ids].toSorted((a, b) => b.length - a.length)) result = result.replaceAll(id, standIn(id))
    return result
  }

  return {
    text,
    body: (body, contentType) => (contentType.includes('eventstream') ? scrubFrames(body, text) : Buffer.from(text(body.toString()))),
    headers: (headers) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) =>
          KEPT_HEADERS.has(name.toLowerCase()) && value !== undefined ? [[name.toLowerCase(), text(String(value))]] : [],
        ),
      ),
    verify(what, bytes) {
      const found = bytes.toString('utf8')
      for (const secret of canaries.secrets) {
        const spellings = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
        if (secret.length >= 4 && spellings.some((spelling) => found.includes(spelling)))
          throw new Error(`${what} still holds a secret: nothing was written`)
      }
    },
  }
}

/** Another value of the same length, prefix and kinds of characters; always the same for the same value and scenario. */
function disguise(value: string, scenario: string): string {
  const prefix = /^[a-z]{2,10}[-_]/i.exec(value)?.[0] ?? ''
  let pool = ''
  for (let n = 0; pool.length < value.length * 2; n++) pool += createHash('sha256').update(`${scenario} ${n} ${value}`).digest('hex')
  return value.replace(/[0-9a-z]/gi, (char, at: number) => {
    if (at < prefix.length) return char
    const random = Number.parseInt(pool.slice(at * 2, at * 2 + 2), 16)
    if (/[0-9]/.test(char)) return String(random % 10)
    return String.fromCharCode((/[a-z]/.test(char) ? 97 : 65) + (random % 26))
  })
}

const PRELUDE_BYTES = 12
const CRC_BYTES = 4

/** Frames with scrubbed payloads and recomputed checksums; an incomplete frame is dropped. */
function scrubFrames(bytes: Buffer, scrub: (text: string) => string): Buffer {
  const frames: Buffer[] = []
  for (let at = 0; at + PRELUDE_BYTES <= bytes.length;) {
    const total = bytes.readUInt32BE(at)
    if (total < PRELUDE_BYTES + CRC_BYTES || at + total > bytes.length) break
    const payload = at + PRELUDE_BYTES + bytes.readUInt32BE(at + 4)
    frames.push(encodeAwsFrame(bytes.subarray(at + PRELUDE_BYTES, payload), scrub(bytes.toString('utf8', payload, at + total - CRC_BYTES))))
    at += total
  }
  return Buffer.concat(frames)
}
