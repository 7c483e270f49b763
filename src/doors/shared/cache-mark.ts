import type { CacheMarked } from '../../core/item.ts'

export interface MarkedByCaller {
  readonly cache_control?: { readonly type?: string; readonly ttl?: '5m' | '1h' | null } | null
  readonly prompt_cache_breakpoint?: object | null
}

/** The end of what shall be cached, in either of its two spellings; only one of them says for how long. */
export function markOf({ cache_control: cached, prompt_cache_breakpoint: given }: MarkedByCaller): CacheMarked {
  if (cached == null && given == null) return {}
  return { prompt_cache_breakpoint: { mode: 'explicit', ...(cached?.ttl == null ? {} : { ttl: cached.ttl }) } }
}
