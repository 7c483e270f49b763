import type { DeliveryOutcome, OutgoingResponse } from './destination.ts'

/** Thrown by a look-up (`prepare`) that was answered "not now": it says nothing of what was looked for, and when to ask again is in the answer. */
export class NotNow extends Error {
  readonly response: OutgoingResponse
  readonly outcome: Extract<DeliveryOutcome, { readonly kind: 'retry' }>

  constructor(what: string, response: OutgoingResponse, outcome: NotNow['outcome']) {
    super(`${what}: ${outcome.message}`)
    this.response = response
    this.outcome = outcome
  }
}

/** The start of an answer's body as one printable line, for people; anything that looks like a credential is blanked. */
export function excerpt(body: Buffer, maxChars = 300): string {
  const text = body
    .subarray(0, maxChars * 4)
    .toString('utf8')
    // Control characters of a foreign server have no business in our logs.
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return redact(text, maxChars)
}

const CREDENTIAL =
  /\b((?:api|license|access|secret|private)?[-_ ]?(?:key|token|secret|password|authorization|signature)["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|api-token)\s+)?[^\s"',;&}]{6,}|\b(bearer|basic|api-token)\s+[\w.~+/=-]{8,}|\b(sk|pk|glc|glsa|lsv2|phc|phx|xox[a-z]|gh[a-z])[-_][\w-]{8,}/gi

/** Blanks what looks like a credential in a text of foreign origin, and then cuts it; whole characters remain. */
export function redact(text: string, maxChars = Infinity): string {
  const blanked = text.replace(
    CREDENTIAL,
    (_all, name?: string, scheme?: string, prefix?: string) => `${scheme ? `${scheme} ` : (name ?? (prefix ? `${prefix}-` : ''))}[redacted]`,
  )
  return blanked.slice(0, maxChars).toWellFormed()
}

const describe = (response: OutgoingResponse): string => {
  const body = excerpt(response.body)
  return body === '' ? `HTTP ${response.status}` : `HTTP ${response.status}: ${body}`
}

/**
 * Wrong credentials, an unpaid account, a method or address that does not exist (as behind a proxy whose server is away): every request fails until
 * somebody changes something.
 */
const CONFIGURATION_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410])

/**
 * What a status means when the platform has no rules of its own. `Retry-After` is read by the engine: it applies to every `retry`.
 * Redirects are not followed (the body would go to an unchecked place), so they are a matter of configuration.
 */
export function classifyHttp(response: OutgoingResponse): DeliveryOutcome {
  const { status } = response
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (status >= 300 && status < 400)
    return { kind: 'unauthorized', message: `HTTP ${status}: redirects are not followed; configure the final address` }
  if (CONFIGURATION_STATUSES.has(status)) return { kind: 'unauthorized', message: describe(response) }
  if (status === 413) return { kind: 'split', message: describe(response) }
  if (status === 429) return { kind: 'retry', message: describe(response), overload: true }
  if (status === 408 || status === 425 || status >= 500) return { kind: 'retry', message: describe(response) }
  return { kind: 'reject', message: describe(response) }
}
