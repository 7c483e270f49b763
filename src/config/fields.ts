import { isIP } from 'node:net'
import { z } from 'zod'
import { LONGEST_TIMER_MS } from '../lib/sleep.ts'
import { parseDuration, parseSize } from '../lib/units.ts'

/**
 * Building blocks of the schema. Every message completes the sentence "expected ...", because problems are printed that way.
 * `x-type` is what the reference page calls a type that JSON Schema cannot name.
 */

/** A mapping without unknown keys; the message of an unknown key lists the known ones. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `one of: ${known}` : 'a mapping'),
  })
}

/** `5s`, `500ms`, `15m`; a plain number counts seconds. Output: milliseconds. */
export function duration() {
  const expected = 'a duration such as 500ms, 5s, 15m or 2h (a plain number counts seconds)'
  return z
    .union([z.string(), z.number()], { error: expected })
    .transform((value, context) => parsed(parseDuration(value), value, expected, context))
    .meta({ description: 'A duration: 500ms, 5s, 15m, 2h; a plain number counts seconds.', 'x-type': 'duration', examples: ['500ms', '15m'] })
}

/** A duration that is used for a timer. Output: milliseconds, from `least`. */
export function wait(least: 0 | 1 = 1) {
  const expected = least === 0 ? 'a duration of at most 24d' : 'a duration of more than 0 and at most 24d, such as 5s'
  return duration().refine((ms) => ms >= least && ms <= LONGEST_TIMER_MS, { error: expected })
}

/** `32MiB`, `64kB`; a plain number counts bytes. Output: bytes, at least one. */
export function size() {
  const expected = 'a size such as 512kB or 32MiB (a plain number counts bytes)'
  return z
    .union([z.string(), z.number()], { error: expected })
    .transform((value, context) => parsed(parseSize(value), value, expected, context))
    .refine((bytes) => bytes >= 1, { error: 'a size of a byte or more, such as 32MiB' })
    .meta({ description: 'A size: 64kB (1000), 32MiB (1024 x 1024); a plain number counts bytes.', 'x-type': 'size', examples: ['64kB', '32MiB'] })
}

function parsed(result: number | undefined, input: unknown, expected: string, context: z.RefinementCtx): number {
  if (result !== undefined) return result
  context.addIssue({ code: 'custom', message: expected, input })
  return z.NEVER
}

/** A whole number; digits in a string count too, since `${PORT}` yields one. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const expected = max === Number.MAX_SAFE_INTEGER ? `a whole number of ${min} or more` : `a whole number from ${min} to ${max}`
  return z
    .union([z.number(), z.string()], { error: expected })
    .transform((value, context) => {
      const number = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value
      const fits = typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max
      return parsed(fits ? number : undefined, value, expected, context)
    })
    .meta({ 'x-type': 'whole number' })
}

/** Money, USD: zero or more. */
export function price() {
  const expected = 'a price in USD, zero or more'
  return z.number({ error: expected }).min(0, expected).meta({ 'x-type': 'USD' })
}

/** Money somebody may spend, USD; a number in a string counts too, since `${CREDITS}` yields one. */
export function credit(max = Infinity) {
  const expected = max === Infinity ? 'an amount in USD, zero or more' : `an amount in USD, from 0 to ${max}`
  return z
    .union([z.number(), z.string()], { error: expected })
    .transform((value, context) => {
      const amount = typeof value === 'string' && /^(\d+\.?\d*|\.\d+)$/.test(value.trim()) ? Number(value) : value
      const fits = typeof amount === 'number' && Number.isFinite(amount) && amount >= 0 && amount <= max
      return parsed(fits ? amount : undefined, value, expected, context)
    })
    .meta({ 'x-type': 'USD' })
}

/** true or false; also as text, since `${FLAG}` yields one. */
export function flag() {
  return z
    .union([z.boolean(), z.enum(['true', 'false'])], { error: 'true or false' })
    .transform((value) => value === true || value === 'true')
    .meta({ 'x-type': 'true or false' })
}

export function text(expected = 'text') {
  return z.string({ error: expected }).min(1, expected)
}

/** A name that is used elsewhere. Line ends around it, which values read from files have, are removed. */
function trimmed(expected: string) {
  return text(expected).transform((given) => given.trim())
}

/** A key, or the name of its owner, that is sent in a header. */
export function credential(what = 'a key') {
  const expected = `${what}: visible ASCII characters in one line`
  return trimmed(expected).refine((given) => /^[\x20-\x7e]+$/.test(given), { error: expected })
}

export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `one of: ${values.join(', ')}` })
}

export function list<Item extends z.ZodType>(item: Item, expected = 'a list') {
  return z.array(item, { error: expected })
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]+$/
/** Headers that describe one request and are set by its sender. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** Headers that can be sent as they are written; with any others every request would fail. */
export function headers() {
  const value = trimmed('text').refine((given) => HEADER_VALUE.test(given), { error: 'ASCII characters in one line' })
  return z.record(z.string(), value, { error: 'a mapping of header names to text' }).superRefine((record, context) => {
    for (const name of Object.keys(record)) {
      if (!HEADER_NAME.test(name)) context.addIssue({ code: 'custom', message: 'the name of a header, such as x-team', path: [name], input: name })
      else if (OWN_HEADERS.has(name.toLowerCase()))
        context.addIssue({ code: 'custom', message: 'another header, because this one belongs to each request', path: [name], input: name })
    }
  })
}

/** The name of a header that is read; upper and lower case are the same. */
export const headerName = () => text('the name of a header, such as x-team').regex(HEADER_NAME, 'the name of a header, such as x-team').toLowerCase()

/** A host to listen on: no URL, and no port. */
export function host() {
  const expected = 'a host name or address without scheme, port and brackets, such as 127.0.0.1 or ::1'
  return trimmed(expected).refine((value) => isIP(value) !== 0 || HOST_NAME.test(value), { error: expected })
}

const HOST_NAME = /^[\w.-]+$/

/** Scheme, host and port of a page, as browsers write them: `https://chat.example.com`; or `*`. */
export function origin() {
  const expected = 'scheme and host of a page, such as https://chat.example.com or http://localhost:3000, or *'
  return trimmed(expected)
    .refine((value) => value === '*' || (ORIGIN.test(value) && URL.canParse(value)), { error: expected })
    .transform((value) => (value === '*' ? value : originOf(new URL(value))))
}

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#@*\s]+\/?$/i

/** The URL specification knows no origin for the schemes of apps (`tauri://localhost`, `app://obsidian.md`), but browsers send them. */
const originOf = ({ origin: standard, protocol, host: at }: URL): string => (standard === 'null' ? `${protocol}//${at}` : standard)

/** A URL that holds credentials, with one of these schemes. What follows the credentials must be a host, or nothing if a parameter names a socket. */
export function connectionUrl(scheme: RegExp, expected: string, isOther: (value: string) => boolean = () => false) {
  return trimmed(expected)
    .refine((value) => (scheme.test(value) && URL.canParse(value.replace('@/', '@socket/'))) || isOther(value), { error: expected, abort: true })
    .refine((value) => isDecodable(value), { error: `${expected}, where a % in a name or password is written %25` })
}

/** Drivers decode credentials, and a malformed escape would end the process. */
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(/\/\/([^/?#]*)@/.exec(value)?.[1] ?? '')
    return true
  } catch {
    return false
  }
}

/** An address of any scheme; its user says which ones it speaks. */
export function address(expected = 'a URL without credentials and query, such as https://host/path') {
  return trimmed(expected)
    .refine((value) => isBase(value, URL.parse(value)), { error: expected })
    .transform((url) => url.replace(/\/+$/, ''))
}

export function httpUrl(expected = 'an http or https URL without query, up to and including the version, such as https://api.example.com/v1') {
  return trimmed(expected)
    .refine(isBaseUrl, { error: expected })
    .transform((url) => url.replace(/\/+$/, ''))
}

function isBaseUrl(value: string): boolean {
  const url = URL.parse(value)
  return isBase(value, url) && (url.protocol === 'http:' || url.protocol === 'https:')
}

/** Something is appended to it. A blank in it, which URL parsers ignore, would break every request. */
function isBase(value: string, url: URL | null): url is URL {
  return !/\s/.test(value) && url !== null && url.host !== '' && url.search === '' && url.hash === '' && url.username === '' && url.password === ''
}
