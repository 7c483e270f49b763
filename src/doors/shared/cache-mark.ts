import type { CacheMarked } from '../../core/item.ts'

export interface MarkedByCaller {
  readonly cache_control?: { readonly type?: string; readonly ttl?: '5m' | '1h' | null } | null
  readonly prompt_cache_breakpoint?: object | null
}

/** A cache breakpoint, in either of its two spellings; only one of them has a lifetime. */
export function markOf({ cache_control: cached, prompt_cache_breakpoint: breakpoint }: MarkedByCaller): CacheMarked {
  if (cached == null && breakpoint == null) return {}
  return { prompt_cache_breakpoint: { mode: 'explicit', ...(cached?.ttl == null ? {} : { ttl: cached.ttl }) } }
}
