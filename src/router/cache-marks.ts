import type { CacheLifetime, CacheMarked } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

/** How long marked parts are to be cached, in the classes that vendors price: minutes, or an hour and longer. */
export type CacheLife = 'minutes' | 'hour'

/** Shortest first. A mark without a lifetime, or with an unknown one, has the shortest. */
const LIFETIMES: readonly CacheLifetime[] = ['5m', '30m', '1h', '12h']
const LONGEST = LIFETIMES.length - 1

function rankOf(marked: unknown): number {
  const mark = (marked as CacheMarked | null)?.prompt_cache_breakpoint
  return mark == null ? -1 : Math.max(0, mark.ttl === undefined ? 0 : LIFETIMES.indexOf(mark.ttl))
}

/** The longest cache lifetime marked on tools, calls and parts. Undefined: nothing is marked. */
export function longestMark({ tools, input }: Pick<ModelRequest, 'tools' | 'input'>): CacheLifetime | undefined {
  let longest = -1
  const look = (marked: unknown): boolean => {
    longest = Math.max(longest, rankOf(marked))
    return longest === LONGEST
  }
  if (tools?.some(look) === true) return LIFETIMES[longest]
  for (const item of input) {
    const { content, output } = item as { readonly content?: unknown; readonly output?: unknown }
    const parts = Array.isArray(content) ? content : output
    if (look(item) || (Array.isArray(parts) && parts.some(look))) break
  }
  return LIFETIMES[longest]
}

const lasts = (declared: unknown): boolean => typeof declared === 'string' && declared.trim() !== '5m'

/** What a request asks of a cache, by all its marks together. Undefined: nothing. */
export function cacheAsked(request: ModelRequest): CacheLife | undefined {
  const { cache_control: cacheControl, prompt_cache_options: options } = request
  if (lasts(cacheControl?.ttl) || lasts(options?.ttl)) return 'hour'
  const marked = longestMark(request)
  if (marked === undefined) return cacheControl == null && options == null ? undefined : 'minutes'
  return marked === '5m' ? 'minutes' : 'hour'
}
