/** HTTP headers as Node gives them: lower-case names. */
export type UpstreamHeaders = { readonly [name: string]: string | string[] | undefined }

const MAX_HINT_MS = 24 * 3_600_000
/** A larger number is a point in time and not a duration: seconds since 2001 or milliseconds since 1970. */
const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e11

const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Longer numbers do not occur, and the search begins at every digit. */
const MAX_DURATION_CHARS = 100
const DURATION = /(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])/gi
const WAIT_PHRASE =
  /(?:try again|retry(?:ing)?|available again|resets?|wait)(?: (?:in|after|for|at least))*\s+((?:about )?\d[\d.]*\s*(?:ms|[smhd]\b|milli|sec|min|hour|day|m\d|h\d)[\w. ]{0,40})/i

/** Fields of error bodies that say how long to wait, or until when. */
const HINT_NAMES: ReadonlySet<string> = new Set([
  'retrydelay',
  'retry_after',
  'retry-after',
  'retryafter',
  'retry_after_seconds',
  'resets_in_seconds',
  'resets_at',
  'reset_at',
  'quotaresetdelay',
  'x-ratelimit-reset',
])

const bounded = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), MAX_HINT_MS) : undefined)

function unitOf(word: string): number {
  const lower = word.toLowerCase()
  return lower === 'ms' || lower.startsWith('milli') ? 1 : (UNIT_MS[lower[0]!] ?? 1000)
}

/** `11.054s`, `28ms`, `6m0s`, `1h 2m`, `35 seconds` in milliseconds. */
export function parseDuration(text: string): number | undefined {
  let total = 0
  let found = false
  let end = -1
  for (const match of text.slice(0, MAX_DURATION_CHARS).matchAll(DURATION)) {
    // Only one run of amounts: "6m0s" counts as a whole, while "in 5s, limit 3 per 10m" ends after the first.
    if (found && match.index > end + 1) break
    found = true
    end = match.index + match[0].length
    total += Number(match[1]) * unitOf(match[2]!)
  }
  return found ? bounded(total) : undefined
}

/** A point in time or a duration as servers write it: seconds, epoch seconds, epoch milliseconds, `6m0s`, an HTTP or RFC 3339 date. */
function parseInstantOrDuration(value: string, now: number): number | undefined {
  const text = value.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const number = Number(text)
    if (number >= EPOCH_MS) return bounded(Math.max(0, number - now))
    if (number >= EPOCH_SECONDS) return bounded(Math.max(0, number * 1000 - now))
    return bounded(number * 1000)
  }
  if (/^[\d.]+\s*(?:ms|[smhd])/i.test(text)) return parseDuration(text)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : bounded(Math.max(0, date - now))
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/**
 * Rate-limit headers describe several limits (requests, tokens, input tokens). The exhausted ones are those to wait for, the longest of them; if none
 * is exhausted, the shortest of all is the best guess.
 */
function resetHeaders(headers: UpstreamHeaders, now: number): number | undefined {
  let exhausted: number | undefined
  let shortest: number | undefined
  for (const [name, raw] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!lower.includes('ratelimit') || !lower.includes('reset')) continue
    const value = first(raw)
    const wait = value === undefined ? undefined : parseInstantOrDuration(value, now)
    if (wait === undefined) continue
    const remaining = first(headers[name.replace(/reset/i, 'remaining')])
    if (remaining !== undefined && Number(remaining) <= 0) exhausted = Math.max(exhausted ?? 0, wait)
    shortest = Math.min(shortest ?? wait, wait)
  }
  return exhausted ?? shortest
}

/** Hints inside a JSON body: RetryInfo of google.rpc, `retry_after`, headers repeated by a router. Searches a few levels deep. */
function payloadHint(value: unknown, now: number, depth = 0): number | undefined {
  if (typeof value !== 'object' || value === null || depth > 5) return undefined
  for (const [key, child] of Object.entries(value)) {
    const name = key.toLowerCase()
    if (typeof child === 'string' || typeof child === 'number') {
      if (HINT_NAMES.has(name)) {
        const hint = parseInstantOrDuration(String(child), now)
        if (hint !== undefined) return hint
      }
      if (name === 'retry_after_ms' || name === 'retry-after-ms') return bounded(Number(child))
    } else {
      const hint = payloadHint(child, now, depth + 1)
      if (hint !== undefined) return hint
    }
  }
  return undefined
}

/** "Please try again in 11.054s", "retry after 30 seconds", "Please retry in 48.9s". */
function retryHintFromText(message: string): number | undefined {
  const phrase = WAIT_PHRASE.exec(message)
  return phrase === null ? undefined : parseDuration(phrase[1]!)
}

/**
 * Milliseconds until the upstream may be asked again; undefined without a hint. Explicit headers win over the body, the body over its prose, and
 * general rate-limit headers come last, because answers that were not limited have them too.
 */
export function retryHint(headers: UpstreamHeaders, payload: unknown, message: string, now: number): number | undefined {
  const ms = first(headers['retry-after-ms'])
  if (ms !== undefined && ms.trim() !== '' && bounded(Number(ms)) !== undefined) return bounded(Number(ms))
  const after = first(headers['retry-after'])
  if (after !== undefined) {
    const hint = parseInstantOrDuration(after, now)
    if (hint !== undefined) return hint
  }
  return payloadHint(payload, now) ?? retryHintFromText(message) ?? resetHeaders(headers, now)
}
