import type { ConnectedProvider } from './connect.ts'

/** What is unlikely to be meant about the base URL of a provider: too much of it was copied, or too little. */
export function baseUrlNotes(entry: ConnectedProvider): readonly string[] {
  const connection = entry.connectionFor('', {}, () => undefined)
  const path = (connection?.options as { readonly path?: unknown } | undefined)?.path
  if (connection === undefined || typeof path !== 'string' || path === '/') return []
  const { baseUrl, dialect } = connection
  if (baseUrl.endsWith(path)) {
    return [`the base_url of ${entry.slug} ends with ${path}, which the dialect ${dialect.name} appends itself: leave it out`]
  }
  // A vendor whose own address has no path wants none; of others only the operator's address can lack one.
  const own = entry.provider?.baseUrl
  if (entry.provider !== undefined && (own === undefined || isBare(own))) return []
  if (!isBare(baseUrl) || /\/v\d|\{model\}/.test(path)) return []
  return [`the base_url of ${entry.slug} has no path, so requests go to ${path}: most servers want their version in it, such as /v1`]
}

const isBare = (url: string): boolean => new URL(url).pathname === '/'
