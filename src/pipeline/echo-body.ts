import type { AttemptRecord, Call } from '../core/call.ts'
import type { Credential } from '../core/provider.ts'
import { REDACTED } from '../lib/blank-texts.ts'
import { cutText } from '../lib/cut-text.ts'
import { blankCredential } from './without-credential.ts'

/** Longer bodies are shortened, so that one event does not cost as much as a whole answer. */
const MAX_CHARS = 1024 * 1024
/** Each takes the serving thread about a microsecond. */
const MAX_MEMBERS = 50_000
/** Characters kept of each text in a shortened body. */
const TEXT_CHARS = 1_000
/** Shorter runs may be words. */
const MIN_BASE64 = 256
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const DATA_URL = /^data:[^,]{0,200};base64,/i
/** Fields that hold a credential in some format, mostly for a tool's own server. Counts of tokens match too, but are numbers and stay. */
const SECRET_KEY = /(?:^|[-_])(?:authorization|token|secret|password|credentials?|api[-_]?key)$/i
/** The address of a tool's own server, whose path or query may hold a key, even one from a preset. */
const SERVER_KEY = 'server_url'
const HEADERS_KEY = /^(?:extra_|custom_)?headers$/i

/**
 * The body of an upstream request as JSON text for its caller: media and other base64 are replaced by their size, credentials by a mark. In bodies
 * beyond 1 Mi characters every text is cut to its first 1,000. Of a body that is not an object, is still too large, or has more than 50,000 members
 * only the size is told.
 */
export function echoBody(body: string, credential: Credential | undefined): string {
  let shown = render(body, (text) => text)
  if (shown !== undefined && shown.length > MAX_CHARS) shown = render(body, shorten)
  if (shown === undefined || shown.length > MAX_CHARS) return `{"left_out":"a body of ${body.length} characters"}`
  return blankCredential(shown, credential)
}

/** The bodies of attempts that were not told yet, in order. Each is told once. */
export function takeEchoes(attempts: readonly AttemptRecord[]): readonly string[] {
  const bodies: string[] = []
  for (const attempt of attempts) {
    if (attempt.echo === undefined) continue
    bodies.push(attempt.echo)
    delete attempt.echo
  }
  return bodies
}

/** Undefined for a body that is not an object, or has more members than may be looked at. */
function render(body: string, show: (text: string) => string): string | undefined {
  if (!body.startsWith('{')) return undefined
  let members = 0
  const shown: unknown = JSON.parse(body, (key, value: unknown) => (members++ < MAX_MEMBERS ? shownMember(key, value, show) : undefined))
  return members > MAX_MEMBERS ? undefined : JSON.stringify(shown)
}

function shownMember(key: string, value: unknown, show: (text: string) => string): unknown {
  if (typeof value === 'string') {
    if (key === SERVER_KEY) return originOf(value)
    return SECRET_KEY.test(key) ? REDACTED : show(withoutMedia(value))
  }
  if (!HEADERS_KEY.test(key) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]))
}

function originOf(address: string): string {
  const origin = URL.parse(address)?.origin
  return origin === undefined || origin === 'null' ? REDACTED : origin
}

function withoutMedia(text: string): string {
  if (text.length < MIN_BASE64) return text
  const head = DATA_URL.exec(text)?.[0]
  if (head !== undefined) return `${head}[${text.length - head.length} characters]`
  return BASE64.test(text) ? `[${text.length} characters of base64]` : text
}

function shorten(text: string): string {
  const start = cutText(text, TEXT_CHARS)
  return start.length === text.length ? text : `${start} [${text.length - start.length} more characters]`
}

/** For answers without a stream: what the last upstream was sent before it refused. */
export function lastEcho(call: Call): { readonly debug: object } | undefined {
  const last = takeEchoes(call.trace.attempts).at(-1)
  return last === undefined ? undefined : { debug: { echo_upstream_body: JSON.parse(last) as unknown } }
}
