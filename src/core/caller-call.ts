import { isClientSearchCall } from './client-search.ts'
import type { OutputItem } from './item.ts'

/** Built-in tools that work on the caller's side: on its screen, in its shell, on its files. */
export const BY_CALLER: ReadonlySet<string> = new Set(['apply_patch_call', 'computer_call', 'local_shell_call'])

/** Whether a call of a built-in tool in an answer is for the caller to run, as calls of functions are, because nobody has run it yet. */
export function isCallerCall(item: OutputItem, items: readonly OutputItem[]): boolean {
  if (BY_CALLER.has(item.type) || isClientSearchCall(item)) return true
  // A shell in a container of the provider has already left its output among the items.
  return item.type === 'shell_call' && !items.some((other) => other.type === 'shell_call_output' && callId(other) === callId(item))
}

const callId = (item: OutputItem): unknown => (item as { readonly [key: string]: unknown })['call_id']
