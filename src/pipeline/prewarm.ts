import type { Dialect, Target } from '../core/dialect.ts'
import { asksToPrewarm } from '../core/prewarm.ts'
import type { ModelRequest } from '../core/request.ts'

/**
 * The request as its endpoint can take it: one that cannot fill its cache without an answer is asked for the shortest one, which fills it as well.
 * Returns the same request if an answer is wanted.
 */
export function asShortAsPossible(request: ModelRequest, dialect: Dialect, target: Target): ModelRequest {
  if (!asksToPrewarm(request) || dialect.prewarms?.(target) === true) return request
  const { prewarm: _, ...others } = request.prompt_cache_options ?? {}
  const { prompt_cache_options: __, reasoning, ...rest } = request
  return {
    ...rest,
    ...(Object.keys(others).length === 0 ? {} : { prompt_cache_options: others }),
    ...(reasoning == null ? {} : { reasoning: { ...reasoning, within_output: true } }),
    max_output_tokens: 1,
  }
}
