import { isUtf8 } from 'node:buffer'

/**
 * Where an answer redirects to; null if that is no address. Many sites write the characters of other languages into the header as they are, in UTF-8, which
 * HTTP parsers read byte by byte. Clients that follow redirects take them for UTF-8 all the same.
 */
export function redirectTarget(location: string, from: string): URL | null {
  const bytes = Buffer.from(location, 'latin1')
  return URL.parse(isUtf8(bytes) ? bytes.toString() : location, from)
}
