import type { Secret } from '../lib/secret.ts'

const TAKEN_AS_FULL = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/

/**
 * The URL for the driver. It treats three TLS modes as the strictest, `verify-full`, prints a warning about that to standard error outside of the
 * log, and will give them a weaker meaning some day. So that meaning is requested by its name; `uselibpqcompat` requests libpq's.
 */
export function driverUrl(url: Secret): string {
  const text = url.reveal()
  return text.includes('uselibpqcompat=true') ? text : text.replace(TAKEN_AS_FULL, '$1verify-full')
}
