import type { CacheLifetime, CacheMarked } from '../../core/item.ts'

export interface MarkedByCaller {
  readonly cache_control?: { readonly type?: string; readonly ttl?: '5m' | '1h' | null } | null
  readonly prompt_cache_breakpoint?: { readonly ttl?: CacheLifetime | null } | null
}

/** A cache breakpoint, in either of its two spellings. */
export function markOf({ cache_control: cached, prompt_cache_breakpoint: breakpoint }: MarkedByCaller): CacheMarked {
  if (cached == null && breakpoint == null) return {}
  const ttl = cached?.ttl ?? breakpoint?.ttl
  return { prompt_cache_breakpoint: { mode: 'explicit', ...(ttl == null ? {} : { ttl }) } }
}
