import type { CacheMarked } from '../../core/item.ts'

/** The end of what shall be cached, in the words of Anthropic's format, which others took over. `lasting`: whether this server knows lifetimes. */
export function cacheMark({ prompt_cache_breakpoint: mark }: CacheMarked, lasting: boolean): { readonly cache_control?: object } {
  if (mark == null) return {}
  return { cache_control: { type: 'ephemeral', ...(lasting && mark.ttl !== undefined ? { ttl: mark.ttl } : {}) } }
}
