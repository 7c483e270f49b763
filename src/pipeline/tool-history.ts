import type { InputItem, JsonObject, OtherItem } from '../core/item.ts'
import { isOpaqueField } from '../core/opaque-field.ts'
import { canonicalType } from '../core/own-names.ts'
import { isJsonObject } from '../lib/json.ts'
import type { Offer, OfferedTool } from './offered-tool.ts'
import { toolOfItem, type ToolRegistry } from './tool-registry.ts'
import { freeName, namesOf } from './tool-offer.ts'

/** Fields of an item that a model does not need, or that are far too long. */
const NOT_READ: ReadonlySet<string> = new Set(['type', 'id', 'status', 'call_id', 'arguments', 'imageB64', 'result', 'instance_name'])

/** Statuses of calls without a result. What else such an item holds is what was asked for, which must not pass for a result. */
const FAILED: ReadonlySet<string> = new Set(['failed', 'incomplete'])
/** Of calls that were running when their answer broke off, and of finished pictures, which some vendors leave at that. */
const RUNNING: ReadonlySet<string> = new Set(['in_progress', 'searching', 'generating'])

/**
 * Items that server tools left in earlier answers, as the calls and results they were, because models do not know the items and dialects would drop
 * them. Returns the same list if there are none.
 */
export function replayHistory(input: readonly InputItem[], offer: Offer, registry: ToolRegistry): readonly InputItem[] {
  const native = new Map([...offer.renamed].map(([theirs, shown]) => [canonicalType(shown), theirs]))
  const isOurs = (item: InputItem): boolean => {
    const type = canonicalType(item.type)
    return offer.byItem.has(type) || native.has(type) || isPatch(item) || toolOfItem(type, registry) !== undefined
  }
  if (!input.some(isOurs)) return input
  const absent = absentTools(offer, registry, input)
  const patch = [...offer.byFunction.values()].find(({ tool }) => tool.name === 'apply_patch')
  return input.flatMap((item, index) => {
    if (isPatch(item)) return patch === undefined ? [item] : replayPatch(item as JsonObject, patch)
    const type = canonicalType(item.type)
    const theirs = native.get(type)
    if (theirs !== undefined) return [{ ...(item as OtherItem), type: theirs }]
    const offered = entryOf(item as JsonObject, offer.byItem.get(type) ?? []) ?? absent(type)
    return offered === undefined ? [item] : replayItem(item as JsonObject, offered, index)
  })
}

/** Of several entries of one tool the one that left the item; any of them if it is not offered now. */
function entryOf({ instance_name: name }: JsonObject, entries: readonly OfferedTool[]): OfferedTool | undefined {
  return entries.find(({ tool, settings, instance }) => tool.instanceName?.(settings, instance) === name) ?? entries.at(-1)
}

type Named = Pick<OfferedTool, 'tool' | 'functionName'>

/**
 * Tools that are no longer offered, by the type of their items; what they found is still part of the conversation. A name is looked for once for each,
 * because a history may hold tens of thousands of items, and a request as many names.
 */
function absentTools({ tools, byFunction }: Offer, registry: ToolRegistry, input: readonly InputItem[]): (type: string) => Named | undefined {
  const known = new Map<string, Named | undefined>()
  let taken: ReadonlySet<string> | undefined
  const isFree = (name: string): boolean => {
    taken ??= new Set([...namesOf(tools, input), ...byFunction.keys(), ...tools.map(({ type }) => type)])
    return !taken.has(name)
  }
  return (type) => {
    if (!known.has(type)) {
      const tool = toolOfItem(type, registry)
      known.set(type, tool && { tool, functionName: freeName(tool.name, isFree) })
    }
    return known.get(type)
  }
}

/** Proposed patches go back to the caller as items of the provider's format, whatever the tool was called. */
const isPatch = ({ type }: InputItem): boolean => type === 'apply_patch_call' || type === 'apply_patch_call_output'

function replayPatch(item: JsonObject, { functionName }: OfferedTool): InputItem[] {
  const callId = String(item['call_id'])
  if (item['type'] === 'apply_patch_call') {
    return [{ type: 'function_call', call_id: callId, name: functionName, arguments: JSON.stringify(item['operation'] ?? {}) }]
  }
  const output = JSON.stringify({ status: item['status'] ?? 'completed', ...(typeof item['output'] === 'string' ? { output: item['output'] } : {}) })
  return [{ type: 'function_call_output', call_id: callId, output }]
}

function replayItem(item: JsonObject, { tool, functionName }: Named, index: number): InputItem[] {
  const own = tool.replay?.(item)
  const callId = text(item['call_id']) ?? text(item['id']) ?? `call_history_${index}`
  const args = own?.arguments ?? text(item['arguments']) ?? '{}'
  return [
    { type: 'function_call', call_id: callId, name: functionName, arguments: args },
    { type: 'function_call_output', call_id: callId, output: outputOf(item, own?.output) },
  ]
}

function outputOf(item: JsonObject, own: string | undefined): string {
  const status = text(item['status']) ?? ''
  const failed = FAILED.has(status) || (RUNNING.has(status) && text(item['result']) === undefined)
  // Tools report a failure in their error field; an item type without such a field cannot have one.
  if (own !== undefined) return failed && item['error'] == null ? JSON.stringify({ status: 'error' }) : own
  const fields = Object.entries(item).filter(([field, value]) => !NOT_READ.has(field) && value != null)
  return JSON.stringify({ ...(failed ? { status: 'error' } : {}), ...readable(Object.fromEntries(fields)) })
}

/** Without references and bytes, which filters do not read, so that nothing in their place reaches a model unread. */
const readable = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).flatMap(([field, value]) => (isOpaqueField(field, value, fields) ? [] : [[field, readableIn(value)]])))

/** A list may have millions of elements, for each of which a replacer of `JSON.stringify` would be called. */
function readableIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readableIn)
  return isJsonObject(value) ? readable(value) : value
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
