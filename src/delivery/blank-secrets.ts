import type { Destination, OutgoingResponse } from '../core/destination.ts'
import { splitSecrets } from '../core/destination-config.ts'
import type { JsonObject } from '../core/item.ts'
import { blankTexts, changesQuoted } from '../lib/blank-texts.ts'
import { findText, isQuicklyFound } from '../lib/find-text.ts'

/** Shorter secrets would blank ordinary words and protect nothing. */
const MIN_CHARS = 6
/** The header by which an answer is read. It is shown to nobody, and looks like the secret where a header asks for that format. */
const FORMAT = 'content-type'
/** Signs of a form in which a secret may look otherwise. */
const QUOTING = ['\\', '%', '&']

/**
 * Platforms quote what they were sent, credentials included, and their answers are shown to owners and logged. The returned function removes a
 * destination's own secrets from an answer before anybody reads it; `redact` (core/outcome.ts) removes what merely looks like one.
 */
export function createBlanking(
  { secrets: paths }: Pick<Destination, 'secrets'>,
  settings: unknown,
): (response: OutgoingResponse) => OutgoingResponse {
  const texts = secretTexts(paths, settings)
  if (texts.length === 0) return (response) => response
  const blank = (text: string): string => blankTexts(text, texts)
  const blankBody = (text: string, { headers }: OutgoingResponse): string => (hasLengths(headers) ? blankTexts(text, texts, asLong) : blank(text))
  const isIn = (body: Buffer): boolean => hasOne(body, texts) || (texts.some(changesQuoted) && QUOTING.some((sign) => body.includes(sign)))
  return (response) => ({
    ...response,
    headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, name === FORMAT ? value : blank(value)])),
    // Byte by byte, so that everything but the secrets is unchanged, whatever the body is.
    body: isIn(response.body) ? Buffer.from(blankBody(response.body.toString('latin1'), response), 'latin1') : response.body,
  })
}

/** A protobuf message has the length of each text before it. With another text there nothing behind it could be read: not even what was refused. */
const hasLengths = ({ [FORMAT]: type }: OutgoingResponse['headers']): boolean => type?.startsWith('application/x-protobuf') ?? false
const asLong = (found: string): string => '*'.repeat(found.length)

/** Short secrets are searched for in the bytes. The search for long ones, which stays linear whatever the texts are, needs a string. */
function hasOne(body: Buffer, texts: readonly string[]): boolean {
  const [short, long] = [texts.filter(isQuicklyFound), texts.filter((text) => !isQuicklyFound(text))]
  if (short.some((secret) => body.includes(secret, 0, 'latin1'))) return true
  const bodyText = long.length === 0 ? '' : body.toString('latin1')
  return long.some((secret) => findText(bodyText, secret) !== -1)
}

/** Each secret as its bytes and as it is written in JSON, one character per byte. */
function secretTexts(paths: readonly string[], settings: unknown): readonly string[] {
  const { secret } = splitSecrets(settings as JsonObject, paths)
  const values = Object.values(secret).flatMap((value): readonly unknown[] =>
    typeof value === 'object' && value !== null ? Object.values(value) : [value],
  )
  const texts = values.filter((value): value is string => typeof value === 'string' && value.length >= MIN_CHARS)
  const forms = texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
  return [...new Set(forms.map((text) => Buffer.from(text).toString('latin1')))]
}
