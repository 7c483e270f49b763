import type { Dialect, Target } from '../core/dialect.ts'
import type { InputItem, Tool } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

interface AdditionalTools {
  readonly type: 'additional_tools'
  readonly tools: readonly Tool[]
}

const isAdditional = (item: InputItem): item is InputItem & AdditionalTools => item.type === 'additional_tools' && Array.isArray(item['tools'])

/**
 * The request as its endpoint reads it: tools that stand in the input are put among the others where the format does not offer such items from
 * there on. Asked once an attempt, for what encodes and what decodes; the same request, and nothing made, when there are none.
 */
export function readableInput(request: ModelRequest, dialect: Dialect, target: Target): ModelRequest {
  const { input } = request
  if (!input.some(isAdditional) || dialect.readsInputTools?.(target) === true) return request
  const added: Tool[] = []
  const rest = input.filter((item) => {
    if (!isAdditional(item)) return true
    for (const tool of item.tools) added.push(tool)
    return false
  })
  return { ...request, input: rest, tools: [...(request.tools ?? []), ...added] }
}
