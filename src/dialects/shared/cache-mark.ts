import type { CacheMarked } from '../../core/item.ts'

/** The cache mark of an object that may have one. */
export function markOf({ prompt_cache_breakpoint: mark }: CacheMarked): CacheMarked {
  return mark == null ? {} : { prompt_cache_breakpoint: mark }
}

/** The cache mark of parts that become one text. */
export function lastMark(content: string | readonly object[]): CacheMarked {
  if (typeof content === 'string') return {}
  const marked = (content as readonly CacheMarked[]).findLast(({ prompt_cache_breakpoint: mark }) => mark != null)
  return marked === undefined ? {} : markOf(marked)
}

/** The mark for the end of the cached part, as in Anthropic's format, which others adopted. `lasting`: whether this server knows lifetimes. */
export function cacheMark({ prompt_cache_breakpoint: mark }: CacheMarked, lasting: boolean): { readonly cache_control?: object } {
  if (mark == null) return {}
  return { cache_control: { type: 'ephemeral', ...(lasting && mark.ttl !== undefined ? { ttl: mark.ttl } : {}) } }
}
