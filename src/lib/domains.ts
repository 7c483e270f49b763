/** The limits of a list of domains and of each entry: each address is compared with each entry, and a request may contain many addresses. */
export const MAX_DOMAINS = 1_024
export const MAX_DOMAIN_LENGTH = 2_048

/** How often a path is decoded for comparison: an intermediary may decode it more often than we do. */
const MAX_DECODINGS = 3

/**
 * Whether a host is one of these domains or a subdomain of one. Entries may contain a scheme, a path and whatever else `plainDomain` removes. A path in an
 * entry must match as well, and `*` alone matches every host. Servers decode a path in different ways, so it has several readings: use `some` for lists
 * that block, and `every` for lists that allow.
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
 * An entry without the scheme, the `*.` or `.` before its host, the query and the `/*` after its path. These make no difference here, but search vendors
 * refuse a call for them.
 */
export const plainDomain = (entry: string): string =>
  entry
    .trim()
    .replace(/^(?:[a-z]+:)?\/\//i, '')
    .replace(/[?#].*$/s, '')
    .replace(/^\*?\./, '')
    .replace(/\/\*?$/, '')

const withoutDot = (host: string): string => host.replace(/\.$/, '')

/** The host as URLs contain it: names in other scripts are converted to their ASCII form. */
function hostOf(domain: string): string {
  const name = withoutDot(domain.replace(/:\d+$/, ''))
  return name === '' ? '' : withoutDot(URL.parse(`http://${name}`)?.hostname ?? name)
}

/** A path as given and after each decoding, without empty segments and dot segments; the most decoded is the last. */
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
    // Not UTF-8. The entries of lists are mostly ASCII, so only ASCII characters are decoded.
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

/** Why an address is outside the caller's lists; undefined if it is allowed. */
export function domainRefusal(text: string, allowed: readonly string[], blocked: readonly string[]): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'the address is not a URL'
  if (allowed.length > 0 && !matchesDomain(url, allowed, 'every')) return `${url.hostname} is not among the allowed domains`
  return matchesDomain(url, blocked) ? `${url.hostname} is a blocked domain` : undefined
}
