import type { CacheLifetime, CacheMarked } from '../../core/item.ts'

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

const LASTING: ReadonlySet<CacheLifetime> = new Set(['30m', '1h', '12h'])

/** A lifetime where there are only two. They are the least that a cache is kept, so what is between them becomes the longer one. */
export function shortOrLong(ttl: CacheLifetime | undefined): '5m' | '1h' | undefined {
  if (ttl === undefined || ttl === '5m') return ttl
  return LASTING.has(ttl) ? '1h' : undefined
}

/** The mark for the end of the cached part, as in Anthropic's format, which others adopted. `lasting`: whether this server knows lifetimes. */
export function cacheMark({ prompt_cache_breakpoint: mark }: CacheMarked, lasting: boolean): { readonly cache_control?: object } {
  if (mark == null) return {}
  const ttl = lasting ? shortOrLong(mark.ttl) : undefined
  return { cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } }
}
