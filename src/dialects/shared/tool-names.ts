import { hashedName } from './id-map.ts'
import { compareText } from '../../lib/compare-text.ts'

/** What an endpoint accepts as the name of a tool. */
export interface NameRule {
  readonly pattern: RegExp
  readonly max: number
  /** Names that the gateway needs for itself; the caller's tools of these names are renamed. */
  readonly taken?: ReadonlySet<string>
}

export const COMMON_TOOL_NAMES: NameRule = { pattern: /^[a-zA-Z0-9_-]+$/, max: 64 }

/** A tool as the caller knows it. */
export interface ToolOrigin {
  readonly kind: 'function' | 'custom'
  readonly name: string
  readonly namespace?: string
}

/** A tool of a set that the endpoint knows by itself: the caller knows it by the same names. */
export const memberOf = (toolset: string, name: string): ToolOrigin => ({ kind: 'function', name, namespace: toolset })

/** A reversible map between the caller's tool names and those an endpoint accepts; one per request. */
export interface ToolNames {
  /** The endpoint's name for a tool; past calls to tools that are no longer offered get one, too. */
  upstream(name: string, namespace?: string | null, kind?: ToolOrigin['kind']): string
  /** The caller's tool for an endpoint's name; a name that the model made up stays as it is. */
  origin(upstreamName: string): ToolOrigin
  /** Whether this is not a name of an offered tool, but the beginning of one. */
  begins(written: string): boolean
}

/**
 * The name without remains of a model's own notation that servers let through: `functions.` before it, a namespace of open models, or `default_api.`,
 * which is Gemini's, and everything from `<|` on, which no name contains.
 */
function withoutNotation(written: string): string {
  const tokens = written.indexOf('<|')
  return (tokens < 0 ? written : written.slice(0, tokens)).trim().replace(/^(?:functions\.|default_api[.:])/, '')
}

/** The index of the first name that is not before this text; the number of names if there is none. */
function placeOf(text: string, names: readonly string[]): number {
  let from = 0
  let to = names.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (names[middle]! < text) from = middle + 1
    else to = middle
  }
  return from
}

export function createToolNames(rule: NameRule): ToolNames {
  // Most requests have no tools, and allocations have a cost.
  let byOrigin: Map<string, string> | undefined
  let byUpstream: Map<string, ToolOrigin> | undefined
  /** Names in order, for finding those with a beginning; servers may ask with every piece of a call. */
  let inOrder: readonly string[] | undefined

  const sanitize = (plain: string): string => {
    const common = plain.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^[^a-zA-Z_]+/, '_')
    // Some endpoints accept no hyphens either.
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
      inOrder = undefined
      byOrigin.set(id, upstream)
      byUpstream.set(upstream, { kind, name, ...(namespace == null || namespace === '' ? {} : { namespace }) })
      return upstream
    },
    origin(upstreamName) {
      return byUpstream?.get(upstreamName) ?? byUpstream?.get(withoutNotation(upstreamName)) ?? { kind: 'function', name: upstreamName }
    },
    begins(written) {
      if (byUpstream === undefined || byUpstream.has(written)) return false
      inOrder ??= [...byUpstream.keys()].toSorted(compareText)
      return inOrder[placeOf(written, inOrder)]?.startsWith(written) === true
    },
  }
}
