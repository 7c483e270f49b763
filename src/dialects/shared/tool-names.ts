import { hashedName } from './id-map.ts'

/** What an endpoint accepts as the name of a tool. */
export interface NameRule {
  readonly pattern: RegExp
  readonly max: number
  /** Names of tools that are not the caller's: his get others. */
  readonly taken?: ReadonlySet<string>
}

export const COMMON_TOOL_NAMES: NameRule = { pattern: /^[a-zA-Z0-9_-]+$/, max: 64 }

/** A tool as the caller knows it. */
export interface ToolOrigin {
  readonly kind: 'function' | 'custom'
  readonly name: string
  readonly namespace?: string
}

/** A reversible map between the caller's tool names and the ones an endpoint accepts; one per request. */
export interface ToolNames {
  /** The endpoint's name of a tool; names of past calls to tools no longer offered get one too. */
  upstream(name: string, namespace?: string | null, kind?: ToolOrigin['kind']): string
  /** The caller's tool behind an endpoint's name; a name the model made up stands for itself. */
  origin(upstreamName: string): ToolOrigin
  /** Whether this is no name of a tool that was offered, but the beginning of one. */
  begins(written: string): boolean
}

/**
 * The name in what servers let through of a model's own notation: `functions.` before it, which is where open models think their tools are, or
 * `default_api.`, where Gemini does, and from `<|` on the tokens behind it, which no name holds.
 */
function meantName(written: string): string {
  const tokens = written.indexOf('<|')
  return (tokens < 0 ? written : written.slice(0, tokens)).trim().replace(/^(?:functions\.|default_api[.:])/, '')
}

export function createToolNames(rule: NameRule): ToolNames {
  // Most requests have no tools, and each costs what it allocates.
  let byOrigin: Map<string, string> | undefined
  let byUpstream: Map<string, ToolOrigin> | undefined

  const sanitize = (plain: string): string => {
    const common = plain.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^[^a-zA-Z_]+/, '_')
    // Some endpoints take no hyphens either.
    const clean = rule.pattern.test(common) ? common : common.replaceAll('-', '_')
    const hash = hashedName(plain, 8)
    return `${clean.slice(0, Math.max(0, rule.max - hash.length - 1))}_${hash}`
  }

  return {
    upstream(name, namespace, kind = 'function') {
      const id = `${namespace ?? ''}\u0000${name}`
      const before = byOrigin?.get(id)
      if (before !== undefined) return before
      const plain = namespace == null || namespace === '' ? name : `${namespace}__${name}`
      let upstream = plain.length <= rule.max && rule.pattern.test(plain) ? plain : sanitize(plain)
      byOrigin ??= new Map()
      byUpstream ??= new Map()
      const isTaken = (wanted: string): boolean => byUpstream!.has(wanted) || rule.taken?.has(wanted) === true
      for (let attempt = 1; isTaken(upstream) && attempt < 100; attempt++) upstream = sanitize(`${plain}~${attempt}`)
      byOrigin.set(id, upstream)
      byUpstream.set(upstream, { kind, name, ...(namespace == null || namespace === '' ? {} : { namespace }) })
      return upstream
    },
    origin(upstreamName) {
      return byUpstream?.get(upstreamName) ?? byUpstream?.get(meantName(upstreamName)) ?? { kind: 'function', name: upstreamName }
    },
    begins(written) {
      if (byUpstream === undefined || byUpstream.has(written)) return false
      return [...byUpstream.keys()].some((name) => name.startsWith(written))
    },
  }
}
