import type { ModelRequest } from '../../core/request.ts'

/**
 * The request without the reasoning of earlier turns: what is sent again when an upstream cannot read it
 * (an error whose metadata say `strip_reasoning: true`). The same object when there is none.
 */
export function withoutReasoning(request: ModelRequest): ModelRequest {
  const input = request.input.filter((item) => item.type !== 'reasoning')
  return input.length === request.input.length ? request : { ...request, input }
}
