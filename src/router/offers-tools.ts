import { toolsWithin } from '../core/item.ts'
import type { ModelRequest } from '../core/request.ts'

/** Whether the model is offered tools, by the request's list or by items of its input. */
export function offersTools({ tools, input }: Pick<ModelRequest, 'tools' | 'input'>): boolean {
  if (tools !== undefined && tools.length > 0) return true
  return input.some((item) => toolsWithin(item).length > 0)
}
