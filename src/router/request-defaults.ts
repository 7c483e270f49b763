import type { ModelRequest } from '../core/request.ts'
import { cacheAsked } from './cache-marks.ts'
import { modelNames, type RoutingDefaults } from './plan.ts'

/**
 * The request with what key, workspace and configuration say where it says nothing. The default model may be any
 * name a caller could send, even of a router or with a suffix that asks for more. Returns the same object if nothing is added.
 */
export function withDefaults(request: ModelRequest, defaults: RoutingDefaults): ModelRequest {
  const model = request.model === undefined ? modelNames(request, defaults)[0] : undefined
  const ttl = defaults.promptCaching !== undefined && cacheAsked(request) === undefined && goesOn(request) ? defaults.promptCaching : undefined
  if (model === undefined && ttl === undefined) return request
  return { ...request, ...(model === undefined ? {} : { model }), ...(ttl === undefined ? {} : { cache_control: { type: 'ephemeral', ttl } }) }
}

/** A prompt that comes only once would cost more with a cache than without: vendors charge for writing. */
function goesOn({ tools, prompt_cache_key: key, input }: ModelRequest): boolean {
  return (tools ?? []).length > 0 || key != null || input.some((item) => item.type !== 'message' || item.role === 'assistant')
}
