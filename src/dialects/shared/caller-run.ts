import type { FunctionCallItem, FunctionCallOutputItem, JsonObject, OtherItem, ToolOutput } from '../../core/item.ts'
import { asString, isObject } from './json.ts'

/** Built-in tools that run on the caller's side, by the type of their calls, and the function that stands for each at endpoints that do not know the tool. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['local_shell_call', 'local_shell'],
  ['shell_call', 'shell'],
  ['apply_patch_call', 'apply_patch'],
  ['computer_call', 'computer'],
])

const callIdOf = (item: OtherItem): string => asString(item['call_id']) || asString(item.id) || ''

/**
 * Reads the items of one request in order: calls of built-in tools that run on the caller's side, and their results, become calls of a function and
 * their outputs. Without them a model would ask for the same again. Undefined for all other items.
 */
export function createCallerRunReader(): (item: OtherItem) => FunctionCallItem | FunctionCallOutputItem | undefined {
  /** Outputs may name their call by the id of its item. */
  const callIds = new Map<string, string>()
  return (item) => {
    const callId = callIdOf(item)
    if (callId === '') return undefined
    const name = FUNCTIONS.get(item.type)
    if (name !== undefined) {
      if (asString(item.id)) callIds.set(item.id!, callId)
      const action = item['action'] ?? item['actions'] ?? item['operation'] ?? {}
      return { type: 'function_call', call_id: callId, name, arguments: JSON.stringify(action) }
    }
    if (!item.type.endsWith('_output') || !FUNCTIONS.has(item.type.slice(0, -'_output'.length))) return undefined
    return { type: 'function_call_output', call_id: callIds.get(callId) ?? callId, output: outputOf(item) }
  }
}

/** The result of a call in the tool's own words; a failed call says so, and so does one without words. */
function outputOf({ output, status }: OtherItem): ToolOutput {
  if (typeof output === 'string' && status !== 'failed') return output
  if (isObject(output)) return screenshot(output) ?? JSON.stringify(output)
  if (output != null && typeof output !== 'string') return JSON.stringify(output)
  return JSON.stringify({ status: isStatus(status) ? status : 'completed', ...(output == null ? {} : { output }) })
}

/** Filters do not read a status, so it must not be words of the caller's own. */
const isStatus = (status: unknown): boolean => status === 'failed' || status === 'incomplete' || status === 'in_progress'

function screenshot({ image_url: url }: JsonObject): ToolOutput | undefined {
  return typeof url === 'string' && url !== '' ? [{ type: 'input_image', image_url: url, detail: 'auto' }] : undefined
}
