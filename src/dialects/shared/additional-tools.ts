import type { InputItem, Tool } from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'

interface AdditionalTools {
  readonly type: 'additional_tools'
  readonly tools: readonly Tool[]
}

const isAdditional = (item: InputItem): item is InputItem & AdditionalTools => item.type === 'additional_tools' && Array.isArray(item['tools'])

/**
 * The request with the tools that stand in its input among the others: only the format that knows such items can offer them from there on.
 * The same request when there are none.
 */
export function withAdditionalTools(request: ModelRequest): ModelRequest {
  const added = request.input.filter(isAdditional)
  if (added.length === 0) return request
  return {
    ...request,
    input: request.input.filter((item) => !isAdditional(item)),
    tools: [...(request.tools ?? []), ...added.flatMap(({ tools }) => tools)],
  }
}
