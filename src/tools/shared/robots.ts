/** Whether the rules of a robots.txt (RFC 9309) let this agent fetch a path with its query. */
export function robotsAllow(text: string, agent: string, path: string): boolean {
  const rules = rulesFor(text, agent.toLowerCase())
  const requestedPath = spelled(path)
  let best: { readonly allow: boolean; readonly length: number } | undefined
  for (const { allow, pattern } of rules) {
    if (!matches(pattern, requestedPath)) continue
    if (best === undefined || pattern.length > best.length || (pattern.length === best.length && allow)) best = { allow, length: pattern.length }
  }
  return best?.allow ?? true
}

interface Rule {
  readonly allow: boolean
  readonly pattern: string
}

const MAX_LINES = 20_000

function rulesFor(text: string, agent: string): readonly Rule[] {
  const own: Rule[] = []
  const general: Rule[] = []
  let named = false
  let target: { own: boolean; general: boolean } = { own: false, general: false }
  let inAgents = false
  for (const line of text.split(/\r\n|\r|\n/, MAX_LINES)) {
    const [, field = '', value = ''] = /^\s*([a-z-]{1,20})\s*:\s*([^#]*)/i.exec(line) ?? []
    const key = field.toLowerCase()
    if (key === 'user-agent') {
      if (!inAgents) target = { own: false, general: false }
      inAgents = true
      const name = value.trim().toLowerCase()
      if (name === '*') target.general = true
      else if (name === agent) {
        target.own = true
        named = true
      }
    } else if (key === 'allow' || key === 'disallow') {
      inAgents = false
      const rule = { allow: key === 'allow', pattern: spelled(value.trim()) }
      if (rule.pattern === '') continue
      if (target.own) own.push(rule)
      if (target.general) general.push(rule)
    } else if (key !== '') inAgents = false
  }
  return named ? own : general
}

/** Normalizes a path for comparison: non-ASCII characters are escaped, and characters that need no escape are not. */
function spelled(path: string): string {
  return path
    .toWellFormed()
    .replace(/[^\x21-\x7e]+/g, encodeURIComponent)
    .replace(/%[0-9a-f]{2}/gi, (escape) => {
      const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
      return /[\w.~-]/.test(char) ? char : escape.toUpperCase()
    })
}

/** `*` matches anything, a final `$` the end; otherwise a prefix match. Linear: each star is tried only at its first match, which suffices for prefixes. */
function matches(pattern: string, path: string): boolean {
  const anchored = pattern.endsWith('$')
  const parts = (anchored ? pattern.slice(0, -1) : pattern).split('*')
  const [first = '', ...rest] = parts
  if (!path.startsWith(first)) return false
  let at = first.length
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1
    if (isLast && anchored) return path.length - part.length >= at && path.endsWith(part)
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return !anchored || at === path.length
}
