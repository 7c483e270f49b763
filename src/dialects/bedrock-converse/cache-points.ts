import type { CacheMarked, JsonObject } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { shortOrLong } from '../shared/cache-mark.ts'
import type { ContentPart } from '../shared/content-parts.ts'
import { isObject } from '../shared/json.ts'
import type { ModelTraits } from './model-traits.ts'

/** The most cache points in a request. */
const MAX_CACHE_POINTS = 4

export interface CachePlan {
  /** The block that marks the end of a cached prefix; undefined for models without caching. */
  readonly point: JsonObject | undefined
  /** Whether each point may have a TTL. */
  readonly lives: boolean
  /** Whether the caller wants a point at the end of the conversation. */
  readonly atEnd: boolean
}

/** Plans the cache points of a request; `point` has the TTL of breakpoints that state none. */
export function planCache(request: ModelRequest, traits: ModelTraits): CachePlan {
  const { cache_ttl: lives } = traits
  if (!traits.cache_points) return { point: undefined, lives, atEnd: false }
  const ttl = request.cache_control?.ttl ?? request.prompt_cache_options?.ttl
  return { point: cachePoint(lives && (ttl === '5m' || ttl === '1h') ? ttl : undefined), lives, atEnd: request.cache_control != null }
}

/** The block after content that has a breakpoint. */
export function cachePointOf(part: CacheMarked | ContentPart, { point, lives }: CachePlan): JsonObject[] {
  const mark = 'prompt_cache_breakpoint' in part ? part.prompt_cache_breakpoint : undefined
  if (mark == null || point === undefined) return []
  const ttl = lives ? shortOrLong(mark.ttl) : undefined
  return [ttl === undefined ? point : cachePoint(ttl)]
}

/**
 * Places the point that the caller wants at the end, and limits the number of points; `dropped` reports a surplus. Points before a long-lived one get
 * the same TTL, because longer ones must come first.
 */
export function placeCachePoints(
  tools: JsonObject[],
  system: JsonObject[],
  messages: readonly { readonly content: JsonObject[] }[],
  cache: CachePlan,
  dropped: string[],
): void {
  if (cache.atEnd && cache.point !== undefined) messages.at(-1)!.content.push(cache.point)
  const blocks = [tools, system, ...messages.map(({ content }) => content)]
  lengthenCachePoints(blocks)
  if (limitCachePoints(blocks) > 0) dropped.push('prompt_cache_breakpoint: more than the endpoint takes')
}

const cachePoint = (ttl?: '5m' | '1h'): JsonObject => ({ cachePoint: { type: 'default', ...(ttl === undefined ? {} : { ttl }) } })

const livesLong = ({ cachePoint: point }: JsonObject): boolean => isObject(point) && point['ttl'] === '1h'

function lengthenCachePoints(blocks: readonly JsonObject[][]): void {
  let long = false
  for (const list of blocks.toReversed()) {
    for (let at = list.length - 1; at >= 0; at--) {
      if (long && 'cachePoint' in list[at]!) list[at] = cachePoint('1h')
      long ||= livesLong(list[at]!)
    }
  }
}

/** Keeps the last points, which cover the longest prefixes, and removes earlier ones. Returns how many were removed. */
function limitCachePoints(blocks: readonly JsonObject[][]): number {
  let kept = 0
  let tooMany = 0
  for (const list of blocks.toReversed()) {
    const rest: JsonObject[] = []
    for (let at = list.length - 1; at >= 0; at--) {
      const block = list[at]!
      if ('cachePoint' in block) {
        const doubled = at > 0 && 'cachePoint' in list[at - 1]!
        if (doubled || at === 0) continue
        if (kept === MAX_CACHE_POINTS) {
          tooMany++
          continue
        }
        kept++
      }
      rest.push(block)
    }
    if (rest.length === list.length) continue
    list.length = 0
    for (const block of rest.toReversed()) list.push(block)
  }
  return tooMany
}
