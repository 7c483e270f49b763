import type { ModelRequest } from '../core/request.ts'
import { cacheAsked } from './cache-marks.ts'
import { modelNames, type RoutingDefaults } from './plan.ts'

/**
 * The request, with its missing fields filled in from key, workspace and configuration. The default model may be any name that a caller could send, even
 * that of a router or one with a suffix. Returns the same object if nothing is added.
 */
export function withDefaults(request: ModelRequest, defaults: RoutingDefaults): ModelRequest {
  const model = request.model === undefined ? modelNames(request, defaults)[0] : undefined
  const ttl = defaults.promptCaching !== undefined && cacheAsked(request) === undefined && goesOn(request) ? defaults.promptCaching : undefined
  if (model === undefined && ttl === undefined) return request
  return { ...request, ...(model === undefined ? {} : { model }), ...(ttl === undefined ? {} : { cache_control: { type: 'ephemeral', ttl } }) }
}

/**
 * Whether the prompt is part of a conversation. Caching a prompt that is sent only once would cost more than it saves, because vendors charge for writing
 * to the cache.
 */
function goesOn({ tools, prompt_cache_key: key, input }: ModelRequest): boolean {
  return (tools ?? []).length > 0 || key != null || input.some((item) => item.type !== 'message' || item.role === 'assistant')
}
