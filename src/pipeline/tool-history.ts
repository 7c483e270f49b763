import type { InputItem, JsonObject, OtherItem } from '../core/item.ts'
import type { Offer, OfferedTool } from './offered-tool.ts'

/** Fields of an item that say nothing to a model, or far too much. */
const NOT_READ: ReadonlySet<string> = new Set(['type', 'id', 'status', 'call_id', 'arguments', 'imageB64', 'result', 'instance_name'])

/**
 * Items that server tools left in earlier answers, as the calls and results they were: models know nothing of the items, and dialects
 * would drop them. Returns the same list when there are none.
 */
export function replayHistory(input: readonly InputItem[], offer: Offer): readonly InputItem[] {
  const native = new Map([...offer.renamed].map(([theirs, shown]) => [shown, theirs]))
  if (!input.some((item) => offer.byItem.has(item.type) || native.has(item.type) || isPatch(item))) return input
  const patch = [...offer.byFunction.values()].find(({ tool }) => tool.name === 'apply_patch')
  return input.flatMap((item, index) => {
    if (isPatch(item)) return patch === undefined ? [item] : replayPatch(item as JsonObject, patch)
    const theirs = native.get(item.type)
    if (theirs !== undefined) return [{ ...(item as OtherItem), type: theirs }]
    const offered = offer.byItem.get(item.type)
    return offered === undefined ? [item] : replayItem(item as JsonObject, offered, index)
  })
}

/** Proposals go back to the caller as items of the provider's format, whatever the tool was called. */
const isPatch = ({ type }: InputItem): boolean => type === 'apply_patch_call' || type === 'apply_patch_call_output'

function replayPatch(item: JsonObject, { functionName }: OfferedTool): InputItem[] {
  const callId = String(item['call_id'])
  if (item['type'] === 'apply_patch_call') {
    return [{ type: 'function_call', call_id: callId, name: functionName, arguments: JSON.stringify(item['operation'] ?? {}) }]
  }
  const output = JSON.stringify({ status: item['status'] ?? 'completed', ...(typeof item['output'] === 'string' ? { output: item['output'] } : {}) })
  return [{ type: 'function_call_output', call_id: callId, output }]
}

function replayItem(item: JsonObject, { tool, functionName }: OfferedTool, index: number): InputItem[] {
  const own = tool.replay?.(item)
  const callId = text(item['call_id']) ?? text(item['id']) ?? `call_history_${index}`
  const given = own?.arguments ?? text(item['arguments']) ?? '{}'
  const output =
    own?.output ?? JSON.stringify(Object.fromEntries(Object.entries(item).filter(([field, value]) => !NOT_READ.has(field) && value != null)))
  return [
    { type: 'function_call', call_id: callId, name: functionName, arguments: given },
    { type: 'function_call_output', call_id: callId, output },
  ]
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
