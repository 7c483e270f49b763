/** Longest list of domains, and longest of its entries: each address is held against each of them, and a request may bring many. */
export const MAX_DOMAINS = 1_024
export const MAX_DOMAIN_LENGTH = 2_048

/** Decodings of a path that are looked at: a server between may undo one more than we see. */
const MAX_DECODINGS = 3

/**
 * Whether a host is one of these domains or below one of them. Entries may carry a scheme, a path or what else `plainDomain` takes off; paths
 * bind too, and `*` alone is every host. A path
 * has as many readings as servers have ways to decode it: `some` is for lists that refuse, `every` for lists that admit.
 */
export function matchesDomain(url: URL, domains: readonly string[], readings: 'some' | 'every' = 'some'): boolean {
  const host = withoutDot(url.hostname.toLowerCase())
  let paths: readonly string[] | undefined
  return domains.some((entry) => {
    const [domain = '', ...path] = plainDomain(entry).toLowerCase().split('/')
    if (domain === '*') return true
    const name = hostOf(domain)
    if (name === '' || (host !== name && !host.endsWith(`.${name}`))) return false
    const prefixes = readingsOf(path.join('/'))
    if (prefixes[0] === '') return true
    paths ??= readingsOf(url.pathname)
    return paths[readings]((reading) => prefixes.some((prefix) => `${reading}/`.startsWith(`${prefix}/`)))
  })
}

/**
 * An entry without the scheme, the `*.` or `.` before its host, the query and the `/*` behind its path: they change nothing here, and search
 * vendors refuse a call for them.
 */
export const plainDomain = (entry: string): string =>
  entry
    .trim()
    .replace(/^(?:[a-z]+:)?\/\//i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^\*?\./, '')
    .replace(/\/\*?$/, '')

const withoutDot = (host: string): string => host.replace(/\.$/, '')

/** As URLs write it: names in other scripts have a spelling of their own. */
function hostOf(domain: string): string {
  const name = withoutDot(domain.replace(/:\d+$/, ''))
  return name === '' ? '' : withoutDot(URL.parse(`http://${name}`)?.hostname ?? name)
}

/** A path as it stands and as often decoded as it can be, each without empty parts and dots, the plainest last. */
function readingsOf(path: string): readonly string[] {
  const readings = [plain(path)]
  let current = path
  for (let n = 0; n < MAX_DECODINGS; n++) {
    const decoded = decode(current)
    if (decoded === current) break
    current = decoded
    readings.push(plain(current))
  }
  return readings
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Not UTF-8: the letters of ASCII are what lists are made of.
    return path.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}

function plain(path: string): string {
  const parts: string[] = []
  for (const part of path.toLowerCase().split(/[/\\]/)) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

/** Why an address is outside the caller's lists; undefined: it may be used. */
export function domainRefusal(text: string, allowed: readonly string[], blocked: readonly string[]): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'the address is not a URL'
  if (allowed.length > 0 && !matchesDomain(url, allowed, 'every')) return `${url.hostname} is not among the allowed domains`
  return matchesDomain(url, blocked) ? `${url.hostname} is a blocked domain` : undefined
}
