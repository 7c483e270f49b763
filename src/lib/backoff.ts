export interface BackoffOptions {
  readonly baseMs: number
  readonly maxMs: number
}

/** Full jitter: uniform in 0 .. min(max, base * 2^attempt), so that many waiting callers do not retry at the same moment. `attempt` counts from 0. */
export function fullJitter(attempt: number, options: BackoffOptions, random: () => number): number {
  return Math.floor(random() * ceiling(attempt, options))
}

/** The longest possible wait before try `attempt + 1`. */
export function ceiling(attempt: number, { baseMs, maxMs }: BackoffOptions): number {
  // The exponent is limited, so that the product stays a finite number.
  return Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(attempt, 0), 50))
}

/**
 * The wait that a `Retry-After` header asks for, in milliseconds. The header holds seconds (fractions are accepted) or an HTTP date. Undefined if it is
 * absent or unreadable; 0 for a date in the past. At most `maxMs`.
 */
export function parseRetryAfter(value: string | undefined, now: number, maxMs = 3_600_000): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Math.min(maxMs, Math.ceil(Number(text) * 1000))
  // Only real dates: Date.parse would read "-5" or "1e3" as years.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.min(maxMs, Math.max(0, at - now))
}
