import type { ModelRequest } from '../../core/request.ts'
import type { AnthropicMessagesOptions } from './options.ts'

/** Blocks that may carry a breakpoint: what the model read or did, but never its thinking. */
const CACHEABLE: ReadonlySet<unknown> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result'])

type Marked = { [field: string]: unknown }

/** The parts of a request, in the order in which they are cached. */
interface Markable {
  readonly tools: readonly Marked[]
  readonly system: readonly Marked[]
  readonly messages: readonly { readonly content: readonly Marked[] }[]
}

/**
 * Makes the breakpoints of a request valid, in place. It adds the caller's automatic one to the last block that can carry it. If there are too many,
 * it keeps the last ones, which have the longest prefixes; breakpoints are not part of the cached content, so prefixes stay the same. Those before a
 * long-lived one get the same TTL, because longer ones must come first.
 */
export function placeBreakpoints(
  { tools, system, messages }: Markable,
  request: Pick<ModelRequest, 'cache_control'>,
  options: Pick<AnthropicMessagesOptions, 'cache_control' | 'cache_breakpoints'>,
  dropped: string[],
): void {
  const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)]
  if (options.cache_control === 'none') {
    for (const block of blocks) delete block['cache_control']
    return
  }
  const automatic = request.cache_control
  if (automatic != null) {
    const last = blocks.findLast((block) => CACHEABLE.has(block['type']))
    const ttl = options.cache_control === 'all' ? automatic.ttl : undefined
    if (last !== undefined) last['cache_control'] = { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) }
  }
  const marked = blocks.filter((block) => block['cache_control'] !== undefined)
  const tooMany = marked.length - options.cache_breakpoints
  for (const block of marked.slice(0, Math.max(0, tooMany))) delete block['cache_control']
  if (tooMany > 0) dropped.push('prompt_cache_breakpoint: more than the endpoint takes')
  const kept = marked.slice(Math.max(0, tooMany))
  const lastLong = kept.findLastIndex((block) => (block['cache_control'] as { ttl?: string }).ttl === '1h')
  for (const block of kept.slice(0, Math.max(0, lastLong))) block['cache_control'] = { type: 'ephemeral', ttl: '1h' }
}
