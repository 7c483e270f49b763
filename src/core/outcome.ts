import type { DeliveryOutcome, OutgoingResponse } from './destination.ts'

/** Thrown by a lookup (`prepare`) whose response was "not now". This says nothing about the object of the lookup; the response says when to try again. */
export class NotNow extends Error {
  readonly response: OutgoingResponse
  readonly outcome: Extract<DeliveryOutcome, { readonly kind: 'retry' }>

  constructor(what: string, response: OutgoingResponse, outcome: NotNow['outcome']) {
    super(`${what}: ${outcome.message}`)
    this.response = response
    this.outcome = outcome
  }
}

/** The start of a response body as one printable line, for people. Anything that looks like a credential is redacted. */
export function excerpt(body: Buffer, maxChars = 300): string {
  const text = body
    .subarray(0, maxChars * 4)
    .toString('utf8')
    // Control characters of an external server must not reach our logs.
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return redact(text, maxChars)
}

const CREDENTIAL =
  /\b((?:api|license|access|secret|private)?[-_ ]?(?:key|token|secret|password|authorization|signature)["']?\s*[:=]\s*["']?)(?:(?:bearer|basic|api-token)\s+)?[^\s"',;&}]{6,}|\b(bearer|basic|api-token)\s+[\w.~+/=-]{8,}|\b(sk|pk|glc|glsa|lsv2|phc|phx|xox[a-z]|gh[a-z])[-_][\w-]{8,}/gi

/** Redacts what looks like a credential in external text, and then cuts it between whole characters. */
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
 * Wrong credentials, an unpaid account, a method or address that does not exist (for example behind a proxy whose server is down), or a receiver of
 * another format or without compression (415): every request fails until someone changes something.
 */
const CONFIGURATION_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410, 415])

/**
 * The meaning of a status if the platform has no rules of its own. The engine reads `Retry-After`, because it applies to every `retry`. Redirects are
 * not followed, because the body would go to an unchecked address; they count as wrong configuration.
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
