import type { CacheMarked } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

/** How long marked parts are to be cached, in the classes that vendors price: minutes, or an hour and longer. */
export type CacheLife = 'minutes' | 'hour'

const lifeOf = (marked: unknown): CacheLife | undefined => {
  const mark = (marked as CacheMarked | null)?.prompt_cache_breakpoint
  if (mark == null) return undefined
  return mark.ttl === undefined || mark.ttl === '5m' ? 'minutes' : 'hour'
}

/** The longest cache lifetime marked on tools, calls and parts, where the formats of some front doors have it. Undefined: nothing is marked. */
export function longestMark({ tools, input }: Pick<ModelRequest, 'tools' | 'input'>): CacheLife | undefined {
  let longest: CacheLife | undefined
  const look = (marked: unknown): boolean => {
    longest = lifeOf(marked) ?? longest
    return longest === 'hour'
  }
  if (tools?.some(look) === true) return longest
  for (const item of input) {
    const { content, output } = item as { readonly content?: unknown; readonly output?: unknown }
    const parts = Array.isArray(content) ? content : output
    if (look(item) || (Array.isArray(parts) && parts.some(look))) return longest
  }
  return longest
}

const lasts = (declared: unknown): boolean => typeof declared === 'string' && declared.trim() !== '5m'

/** What a request asks of a cache, by all its marks together. Undefined: nothing. */
export function cacheAsked(request: ModelRequest): CacheLife | undefined {
  const { cache_control: cacheControl, prompt_cache_options: options } = request
  if (lasts(cacheControl?.ttl) || lasts(options?.ttl)) return 'hour'
  return longestMark(request) ?? (cacheControl == null && options == null ? undefined : 'minutes')
}
