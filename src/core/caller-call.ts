import { isClientSearchCall } from './client-search.ts'
import type { OutputItem } from './item.ts'

/** Whether an item of this type is a call of a function or of a free-form tool. */
export const isCall = (type: string): boolean => type === 'function_call' || type === 'custom_tool_call'

/** Built-in tools that work on the caller's side: on its screen, in its shell, on its files. */
export const BY_CALLER: ReadonlySet<string> = new Set(['apply_patch_call', 'computer_call', 'local_shell_call'])

/**
 * Tells which calls of built-in tools in an answer are for the caller to run, as calls of functions are, because nobody has run them yet. Looks through
 * the answer once, as there may be tens of thousands of items.
 */
export function callerCallsAmong(items: readonly OutputItem[]): (item: OutputItem) => boolean {
  let answered: ReadonlySet<unknown> | undefined
  return (item) => {
    if (BY_CALLER.has(item.type) || isClientSearchCall(item)) return true
    if (item.type !== 'shell_call') return false
    // A shell in a container of the provider has already left its output among the items.
    answered ??= new Set(items.filter(({ type }) => type === 'shell_call_output').map(callId))
    return !answered.has(callId(item))
  }
}

const callId = (item: OutputItem): unknown => (item as { readonly [key: string]: unknown })['call_id']
