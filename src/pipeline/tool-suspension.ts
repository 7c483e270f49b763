import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { FunctionCallItem, InputItem, JsonObject, OutputItem } from '../core/item.ts'
import { canonicalType } from '../core/own-names.ts'
import type { IdSource } from '../lib/id.ts'
import type { Offer, OfferedTool } from './offered-tool.ts'
import { toolOfItem, type ToolRegistry } from './tool-registry.ts'
import { replayHistory } from './tool-history.ts'
import { replaySources } from './tool-source.ts'
import type { PendingCall } from './tool-step.ts'

/**
 * Server tools whose own model calls functions of the caller. The answer shows such a call with the id of the tool's call (`subagent_id`) and what that
 * model has said (`subagent_items`), and ends. The caller sends all of it back with the results, and the tool goes on before the model's next turn.
 */

interface SuspensionScene {
  /** Key of the tool's item. */
  readonly key: string
  /** Id of the call that waits. */
  readonly callId: string
  readonly newId: IdSource
}

/**
 * The events of the calls in which `items` end, for the caller, without those that are answered. They get new ids, because several models may have chosen
 * the same.
 */
export function suspendedCalls(items: readonly InputItem[], { key, callId, newId }: SuspensionScene): readonly ModelEvent[] {
  const answered = new Set(items.flatMap((item) => (item.type === 'function_call_output' ? [fieldOf(item, 'call_id')] : [])))
  const isOpen = (item: InputItem): boolean => item.type === 'function_call' && !answered.has(fieldOf(item, 'call_id'))
  const withNewIds = items.map((item) => (isOpen(item) ? { ...(item as FunctionCallItem), call_id: `call_${newId(24)}` } : item))
  return withNewIds.filter(isOpen).flatMap((item, n): readonly ModelEvent[] => {
    const { call_id, name, arguments: text } = item as FunctionCallItem
    const start: OutputItem = { type: 'function_call', call_id, name, arguments: '', subagent_id: callId }
    const end = { arguments: text, ...(n === 0 ? { subagent_items: withNewIds } : {}) }
    return [
      { type: 'item-start', key: `${key}/${n}`, item: start },
      { type: 'item-end', key: `${key}/${n}`, item: end },
    ]
  })
}

/** The conversation as models read it: all items of server tools as calls and results, and the calls that must run before the first turn. */
export function replayConversation(
  input: readonly InputItem[],
  offer: Offer,
  registry: ToolRegistry,
): { readonly input: readonly InputItem[]; readonly due: readonly PendingCall[] } {
  const resumed = resumeCalls(input, offer, registry)
  const replayed = replaySources(replayHistory(resumed.input, offer, registry), offer, registry)
  return { input: replayed.input, due: [...resumed.due, ...replayed.due] }
}

/** A call of a tool's model that the caller has run. */
interface OwnedCall {
  readonly call: FunctionCallItem
  readonly output: InputItem | undefined
}

/** A call of a tool, from its first item to the one with its result. */
interface ToolCall {
  readonly owned: OwnedCall[]
  result?: InputItem
}

const fieldOf = (item: InputItem, field: string): string | undefined => {
  const value = (item as JsonObject)[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}
const waits = (item: InputItem): boolean => fieldOf(item, 'status') === 'in_progress'
const ownerOf = (item: InputItem): string | undefined => (item.type === 'function_call' ? fieldOf(item, 'subagent_id') : undefined)

function resumeCalls(
  input: readonly InputItem[],
  offer: Offer,
  registry: ToolRegistry,
): { readonly input: readonly InputItem[]; readonly due: readonly PendingCall[] } {
  const suspends = ({ type }: InputItem): boolean => toolOfItem(type, registry)?.suspends === true
  if (!input.some((item) => ownerOf(item) !== undefined || (suspends(item) && waits(item)))) return { input, due: [] }
  const { begun, theirs } = readCalls(input, suspends)
  const due: PendingCall[] = []
  const replayed = input.flatMap((item): readonly InputItem[] => {
    if (theirs.has(item)) return []
    if (!suspends(item)) return [item]
    const callId = fieldOf(item, 'call_id')
    if (callId === undefined) return [waits(item) ? lost(item) : item]
    const toolCall = begun.get(item)
    if (toolCall === undefined) return []
    // The result takes the place of the call, which is in the turn that made it.
    if (toolCall.result !== undefined) return [toolCall.result]
    const offered = entryOf(item, offer)
    if (offered === undefined) return [lost(item)]
    const pending = resumedCall(item, callId, offered, toolCall.owned)
    due.push(pending)
    return [
      { type: 'function_call', call_id: callId, name: pending.name, arguments: pending.arguments },
      { type: 'function_call_output', call_id: callId, output: '' },
    ]
  })
  return { input: replayed, due }
}

/**
 * The calls of tools, by their first items, and what belongs to the tools' models. Some providers use the id of a finished call again, so it is the
 * order that tells which call an item belongs to. Throws `invalid_prompt` for a call of a tool's model without an item of the tool before it.
 */
function readCalls(
  input: readonly InputItem[],
  suspends: (item: InputItem) => boolean,
): { readonly begun: ReadonlyMap<InputItem, ToolCall>; readonly theirs: ReadonlySet<InputItem> } {
  const outputs = new Map(input.filter(({ type }) => type === 'function_call_output').map((output) => [fieldOf(output, 'call_id'), output]))
  const begun = new Map<InputItem, ToolCall>()
  const latest = new Map<string | undefined, ToolCall>()
  const theirs = new Set<InputItem>()
  for (const [index, item] of input.entries()) {
    const owner = ownerOf(item)
    if (owner !== undefined) {
      const call = item as FunctionCallItem
      const output = outputs.get(call.call_id)
      ownedBy(latest.get(owner), index).push({ call, output })
      theirs.add(item)
      if (output !== undefined) theirs.add(output)
    } else if (suspends(item)) {
      const callId = fieldOf(item, 'call_id')
      let toolCall = latest.get(callId)
      if (toolCall === undefined || toolCall.result !== undefined) {
        toolCall = { owned: [] }
        latest.set(callId, toolCall)
        begun.set(item, toolCall)
      }
      if (!waits(item)) toolCall.result = item
    }
  }
  return { begun, theirs }
}

function ownedBy(toolCall: ToolCall | undefined, index: number): OwnedCall[] {
  if (toolCall !== undefined) return toolCall.owned
  const path = `input[${index}].subagent_id`
  throw new GatewayError('invalid_prompt', `${path} names no item of a subagent before it: send the item with this call_id along`, { path })
}

/** Names of entries tell them apart; unlike the history of a finished call, an unfinished one needs its own entry. */
function entryOf(item: InputItem, { byItem }: Offer): OfferedTool | undefined {
  const name = fieldOf(item, 'instance_name')
  return (byItem.get(canonicalType(item.type)) ?? []).find(({ tool, settings, instance }) => tool.instanceName?.(settings, instance) === name)
}

function resumedCall(item: InputItem, callId: string, offered: OfferedTool, calls: readonly OwnedCall[]): PendingCall {
  const { arguments: text = '{}' } = offered.tool.replay?.(item as JsonObject) ?? {}
  const problem = whyLost(calls)
  const resumed = problem === undefined ? { items: saidSoFar(calls) } : { items: [], problem }
  return { offered, name: offered.functionName, callId, arguments: text, cut: false, resumed }
}

function whyLost(calls: readonly OwnedCall[]): string | undefined {
  if (calls.length === 0 || calls[0]!.call.subagent_items == null) return 'What it had done was not sent back.'
  const open = calls.find(({ output }) => output === undefined)
  return open === undefined ? undefined : `The result of its call ${open.call.call_id} was not sent.`
}

/** Each round is what the model said and the results of its calls. */
function saidSoFar(calls: readonly OwnedCall[]): readonly InputItem[] {
  const rounds: (readonly InputItem[])[] = []
  let outputs: InputItem[] = []
  for (const { call, output } of calls) {
    if (call.subagent_items != null) {
      rounds.push(outputs, call.subagent_items)
      outputs = []
    }
    outputs.push(output!)
  }
  return [...rounds, outputs].flat()
}

/** A call that cannot be continued, for the model. */
const lost = (item: InputItem): InputItem => ({
  ...(item as JsonObject),
  type: item.type,
  status: 'failed',
  error: 'The subagent could not be continued.',
})
