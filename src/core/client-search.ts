import type { InputItem, Tool } from './item.ts'

/**
 * Tool search the caller runs itself: the model asks (`tool_search_call`), the caller answers with the tools it found (`tool_search_output`).
 * A provider that searches by itself leaves items of the same types, with `execution: 'server'` and without a call id.
 */
export const CLIENT_SEARCH = 'tool_search'
export const CLIENT_SEARCH_CALL = 'tool_search_call'
const CLIENT_SEARCH_OUTPUT = 'tool_search_output'

/** A tool that offers the model a search the caller runs. */
export const isClientSearchTool = (tool: Tool): boolean =>
  tool.type === CLIENT_SEARCH && (tool as { readonly execution?: unknown }).execution === 'client'

/** A call the caller is to answer, as it answers calls of its functions. */
export const isClientSearchCall = (item: InputItem): boolean => item.type === CLIENT_SEARCH_CALL && isByClient(item)

/** What the caller found. */
export const isClientSearchOutput = (item: InputItem): boolean => item.type === CLIENT_SEARCH_OUTPUT && isByClient(item)

/** If the caller does not say on which side the search runs, the call id tells, because only a caller needs one. */
function isByClient(item: InputItem): boolean {
  const { execution, call_id: callId } = item as { readonly execution?: unknown; readonly call_id?: unknown }
  return execution === 'client' || (execution == null && typeof callId === 'string' && callId !== '')
}
