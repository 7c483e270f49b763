import type { ConnectedProvider } from './connect.ts'

/** Notes on a base URL that is probably not meant as it is, because too much or too little of it was copied. */
export function baseUrlNotes(entry: ConnectedProvider): readonly string[] {
  const connection = entry.connectionFor('', {}, () => undefined)
  const path = (connection?.options as { readonly path?: unknown } | undefined)?.path
  if (connection === undefined || typeof path !== 'string' || path === '/') return []
  const { baseUrl, dialect } = connection
  if (baseUrl.endsWith(path)) {
    return [`the base_url of ${entry.slug} ends with ${path}, which the dialect ${dialect.name} appends itself: leave it out`]
  }
  // A vendor whose own base URL has no path needs none. For other vendors, only the operator's URL can lack one.
  const own = entry.provider?.baseUrl
  if (entry.provider !== undefined && (own === undefined || isBare(own))) return []
  if (!isBare(baseUrl) || /\/v\d|\{model\}/.test(path)) return []
  return [`the base_url of ${entry.slug} has no path, so requests go to ${path}: most servers want their version in it, such as /v1`]
}

const isBare = (url: string): boolean => new URL(url).pathname === '/'
