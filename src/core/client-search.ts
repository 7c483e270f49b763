import type { InputItem, Tool } from './item.ts'

/**
 * Tool search that the caller runs: the model asks (`tool_search_call`), and the caller returns the tools it found (`tool_search_output`). A provider
 * that searches by itself produces items of the same types, with `execution: 'server'` and without a call id.
 */
export const CLIENT_SEARCH = 'tool_search'
export const CLIENT_SEARCH_CALL = 'tool_search_call'
const CLIENT_SEARCH_OUTPUT = 'tool_search_output'

/** Whether a tool offers the model a search that the caller runs. */
export const isClientSearchTool = (tool: Tool): boolean =>
  tool.type === CLIENT_SEARCH && (tool as { readonly execution?: unknown }).execution === 'client'

/** Whether the caller must answer this call, like a call of its own functions. */
export const isClientSearchCall = (item: InputItem): boolean => item.type === CLIENT_SEARCH_CALL && isByClient(item)

/** Whether an item contains what the caller found. */
export const isClientSearchOutput = (item: InputItem): boolean => item.type === CLIENT_SEARCH_OUTPUT && isByClient(item)

/** If the caller does not say which side runs the search, the call id decides, because only a caller needs one. */
function isByClient(item: InputItem): boolean {
  const { execution, call_id: callId } = item as { readonly execution?: unknown; readonly call_id?: unknown }
  return execution === 'client' || (execution == null && typeof callId === 'string' && callId !== '')
}
