export interface BackoffOptions {
  readonly baseMs: number
  readonly maxMs: number
}

/** Full jitter: uniform in 0 .. min(max, base * 2^attempt), so that many waiters do not come back together. `attempt` counts from 0. */
export function fullJitter(attempt: number, options: BackoffOptions, random: () => number): number {
  return Math.floor(random() * ceiling(attempt, options))
}

/** The upper end of the wait before try `attempt + 1`. */
export function ceiling(attempt: number, { baseMs, maxMs }: BackoffOptions): number {
  // 2^53 overflows nothing: the exponent is cut before the product can lose its meaning.
  return Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(attempt, 0), 50))
}

/**
 * Milliseconds a `Retry-After` header asks to wait: seconds (fractions are accepted) or an HTTP date. Undefined when absent or unreadable;
 * a date in the past is 0. At most `maxMs`.
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
