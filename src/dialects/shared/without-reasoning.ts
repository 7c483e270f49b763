import type { ModelRequest } from '../../core/request.ts'

/**
 * The request without the reasoning of earlier turns, for sending it again if an upstream could not read that (the error's metadata say
 * `strip_reasoning: true`). The same object if there is none.
 */
export function withoutReasoning(request: ModelRequest): ModelRequest {
  const input = request.input.filter((item) => item.type !== 'reasoning')
  return input.length === request.input.length ? request : { ...request, input }
}
