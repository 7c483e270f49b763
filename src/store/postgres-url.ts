import type { Secret } from '../lib/secret.ts'

const TAKEN_AS_FULL = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/

/**
 * The URL as the driver reads it. It takes three modes of TLS as the strictest, `verify-full`, warns of that on standard error, in lines that are
 * none of the log, and means to give them a weaker sense one day. Here that sense is asked for by its name; whoever wants libpq's says so (`uselibpqcompat`).
 */
export function driverUrl(url: Secret): string {
  const text = url.reveal()
  return text.includes('uselibpqcompat=true') ? text : text.replace(TAKEN_AS_FULL, '$1verify-full')
}
