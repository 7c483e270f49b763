/** Whether a host is one of these domains or below one of them. Entries may carry a scheme, a path or a leading `*.`; paths bind too. */
export function matchesDomain(url: URL, domains: readonly string[]): boolean {
  const host = url.hostname.toLowerCase().replace(/\.$/, '')
  return domains.some((entry) => {
    const [domain = '', ...path] = entry
      .trim()
      .toLowerCase()
      .replace(/^[a-z]+:\/\//, '')
      .replace(/^\*\./, '')
      .split('/')
    const name = domain.replace(/:\d+$/, '').replace(/\.$/, '')
    if (name === '' || (host !== name && !host.endsWith(`.${name}`))) return false
    const prefix = path.filter((part) => part !== '').join('/')
    return prefix === '' || `${url.pathname.toLowerCase().replace(/^\//, '')}/`.startsWith(`${prefix}/`)
  })
}

/** Why an address is outside the caller's lists; undefined: it may be used. */
export function domainRefusal(text: string, allowed: readonly string[], blocked: readonly string[]): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'the address is not a URL'
  if (allowed.length > 0 && !matchesDomain(url, allowed)) return `${url.hostname} is not among the allowed domains`
  return matchesDomain(url, blocked) ? `${url.hostname} is a blocked domain` : undefined
}
