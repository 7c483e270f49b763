import { cutText } from '../../lib/cut-text.ts'

const REDACTED = '[redacted]'

/** What keys look like: the prefixes of vendors' tokens, JWTs, AWS access keys. With stars, because some vendors mask half of a key. */
const TOKEN =
  /\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|fw|csk|tgp|r8|or1|key|ghp|glpat)[-_][A-Za-z0-9*][A-Za-z0-9_*.-]{6,}|\bAIza[\w-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bya29\.[\w.-]{10,}|\beyJ[\w-]{8,}\.[\w.-]{8,}/g
/** What some servers write for the characters `+`, `/`, `=` and `~` of one: escaped, as numbers, or as in an address. */
const ESCAPED = String.raw`\\{1,8}(?:\/|u00(?:2b|2f|3d|7e))|%(?:2b|2f|3d|7e)`
const AUTH_SCHEME = new RegExp(String.raw`\b(Bearer|Basic)\s+(?:[a-z0-9._~+/=*-]|${ESCAPED}){6,}`, 'gi')
const QUERY = new RegExp(
  String.raw`([?&](?:key|api[-_]?key|access_token|auth|token|sig|signature|code|x-amz-(?:signature|credential|security-token))=)(?:[^&\s"'<>\\]|${ESCAPED})+`,
  'gi',
)
/** What stands before a host, name and all: providers quote the addresses of media that they could not fetch, some with their slashes escaped. */
const USER_INFO = /(:(?:\\*\/){2})[^\s/?#"'<>\\]{1,512}@/g
/** Quotes may be escaped, because bodies are often quoted inside the message of another. */
const FIELD =
  /("(?:[\w-]*api[-_]?key|authorization|[\w-]*secret|access_token|refresh_token|password|x-goog-api-key|cookie)\\*"\s*:\s*\\*")(?:[^"\\]|\\[^"\\])*/gi
/** "Incorrect API key provided: abc-123": what follows, unless it is clearly a word. */
const NAMED = /(\b(?:api|subscription|access|secret)[ _-]?key(?: provided)?:\s*)(?=[^\s"']*[\d*_-])[^\s"',;]+/gi

/** Removes credentials from an upstream's text: keys and users in URLs, authorisation values, vendor tokens, JSON fields that hold secrets. */
export function scrubSecrets(text: string): string {
  return text
    .replace(FIELD, `$1${REDACTED}`)
    .replace(QUERY, `$1${REDACTED}`)
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replace(AUTH_SCHEME, `$1 ${REDACTED}`)
    .replace(TOKEN, REDACTED)
    .replace(NAMED, `$1${REDACTED}`)
}

/** Scrubbed, and at most `max` characters long. Scrubs twice that much, so that a secret across the cut is seen whole. */
export function scrubbedExcerpt(text: string, max: number): string {
  const scrubbed = scrubSecrets(cutText(text, max * 2))
  return scrubbed.length > max ? `${cutText(scrubbed, max - 1)}…` : scrubbed
}
