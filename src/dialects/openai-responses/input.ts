import type { Target } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import { isKnownItem } from '../../core/item.ts'
import type { InputItem, JsonObject, KnownItem, OtherItem } from '../../core/item.ts'
import { wrapCustomInput } from '../shared/custom-input.ts'
import { createIdMap } from '../shared/id-map.ts'
import type { MapId } from '../shared/id-map.ts'
import { asString, isObject, saysNothing, wholeArguments } from '../shared/json.ts'
import { OpenCalls } from '../shared/open-calls.ts'
import type { ToolNames } from '../shared/tool-names.ts'
import { encodeMessage, encodeToolOutput } from './message-parts.ts'
import type { PartContext } from './message-parts.ts'
import type { ResponsesOptions } from './options.ts'
import { encodeReasoningItem, openOwnContent } from './reasoning.ts'
import { acceptsBuiltin } from './tools.ts'

/** An input item on its way to the upstream. An item that is left out has no `item` but keeps its place: reasoning before it must go too. */
interface Entry {
  readonly role: 'call' | 'output' | 'reasoning' | 'other'
  /** Whether a model says such items: only these can follow reasoning. */
  readonly bySpeaker: boolean
  item: JsonObject | undefined
  readonly overflow?: readonly JsonObject[]
}

interface InputContext extends PartContext {
  readonly target: Target<ResponsesOptions>
  readonly names: ToolNames
  /** Call items of built-in tools the endpoint does not know become functions: these are their call ids. */
  readonly converted: Set<string>
}

const ANY_ID = /^[\s\S]+$/
const NO_RESULT = 'No result is available for this call.'

/**
 * The input items as the endpoint takes them. Ids the gateway minted are gone, calls and outputs are in pairs, reasoning stands only
 * before what it led to. Throws `invalid_prompt` for references to stored items.
 */
export function encodeInput(
  input: readonly InputItem[],
  target: Target<ResponsesOptions>,
  names: ToolNames,
  dropped: Set<string>,
): readonly JsonObject[] {
  const { options, media } = target
  const context: InputContext = { options, target, names, dropped, converted: new Set(), ...(media === undefined ? {} : { media }) }
  const entries = input.map((item, position) => encodeItem(item, position, context))
  const paired = pairCalls(entries, createIdMap({ pattern: ANY_ID, max: options.max_call_id_length }), dropped)
  dropLooseReasoning(paired, dropped)
  const ordered = options.tool_outputs === 'adjacent' ? joinOutputs(paired) : paired
  return withOverflow(ordered)
}

function encodeItem(item: InputItem, position: number, context: InputContext): Entry {
  return isKnownItem(item) ? encodeKnown(item, position, context) : encodeOther(item, context)
}

function encodeKnown(item: KnownItem, position: number, context: InputContext): Entry {
  const { target, options, names, dropped } = context
  switch (item.type) {
    case 'message':
      return { role: 'other', bySpeaker: item.role === 'assistant', item: encodeMessage(item, context) }
    case 'reasoning': {
      const encoded = encodeReasoningItem(item, target, position)
      const saidSomething = item.encrypted_content != null || item.signature != null || (item.content ?? []).length > 0
      if (encoded === undefined && saidSomething) dropped.add('reasoning of another endpoint')
      return { role: 'reasoning', bySpeaker: true, item: encoded }
    }
    case 'function_call': {
      const call = { type: 'function_call', call_id: item.call_id, arguments: saysNothing(item.arguments) ? '{}' : wholeArguments(item.arguments) }
      return { role: 'call', bySpeaker: true, item: { ...call, ...nameOf(item.name, item.namespace, names, options) } }
    }
    case 'custom_tool_call': {
      const name = nameOf(item.name, item.namespace, names, options)
      const call = options.custom_tools
        ? { type: 'custom_tool_call', call_id: item.call_id, ...name, input: item.input }
        : { type: 'function_call', call_id: item.call_id, ...name, arguments: wrapCustomInput(item.input) }
      return { role: 'call', bySpeaker: true, item: call }
    }
    default: {
      const isCustom = item.type === 'custom_tool_call_output' && options.custom_tools
      const { output, overflow } = encodeToolOutput(item.output, context)
      const encoded = { type: isCustom ? 'custom_tool_call_output' : 'function_call_output', call_id: item.call_id, output }
      return { role: 'output', bySpeaker: false, item: encoded, overflow }
    }
  }
}

function nameOf(
  name: string,
  namespace: string | null | undefined,
  names: ToolNames,
  options: ResponsesOptions,
): { readonly name: string; readonly namespace?: string } {
  if (namespace == null || namespace === '') return { name: names.upstream(name) }
  return options.namespace_tools ? { name, namespace } : { name: names.upstream(name, namespace) }
}

/** Built-in tools the caller's side runs: a call and its output carry the conversation, so they survive as function calls. */
const CALLER_RUN: { readonly [type: string]: string } = {
  local_shell_call: 'local_shell',
  shell_call: 'shell',
  apply_patch_call: 'apply_patch',
  computer_call: 'computer',
}

function encodeOther(item: OtherItem, context: InputContext): Entry {
  const { target, options, dropped } = context
  const bySpeaker = !/_(?:output|approval_response)$/.test(item.type)
  const left: Entry = { role: 'other', bySpeaker, item: undefined }
  if (item.type === 'item_reference') {
    throw new GatewayError('invalid_prompt', 'item_reference cannot be resolved: nothing is stored, send the item itself', { path: 'input' })
  }
  if (!acceptsBuiltin(item.type, options.builtin_tools)) {
    const converted = convertCallerRun(item, context)
    dropped.add(converted === undefined ? `input: ${item.type}` : `input: ${item.type} became a function call`)
    return converted ?? left
  }
  if (ranElsewhere(item)) {
    dropped.add(`input: ${item.type} of another endpoint`)
    return left
  }
  const encrypted = item['encrypted_content']
  if (typeof encrypted !== 'string' || encrypted === '') return { role: 'other', bySpeaker, item: withoutOwnId(item) }
  const data = openOwnContent(encrypted, target)
  if (data === undefined) {
    dropped.add(`input: ${item.type} of another endpoint`)
    return left
  }
  return { role: 'other', bySpeaker, item: { ...withoutOwnId(item), encrypted_content: data } }
}

/** Code that ran in no container of this format: others put the name of what ran it where the id of a container stands. */
function ranElsewhere({ type, container_id: container }: OtherItem): boolean {
  return type === 'code_interpreter_call' && typeof container === 'string' && container !== '' && !container.startsWith('cntr_')
}

/** Items whose id the upstream neither needs nor can know. Others keep theirs: approvals and results refer to them. */
const ID_FREE: ReadonlySet<string> = new Set([
  'local_shell_call',
  'local_shell_call_output',
  'web_search_call',
  'tool_search_call',
  'tool_search_output',
  'compaction',
  'context_compaction',
])

function withoutOwnId(item: OtherItem): JsonObject {
  if (!ID_FREE.has(item.type)) return item
  const { id: _, ...rest } = item
  return rest
}

function convertCallerRun(item: OtherItem, { converted }: InputContext): Entry | undefined {
  const callId = asString(item['call_id'])
  if (!callId) return undefined
  const name = CALLER_RUN[item.type]
  if (name !== undefined) {
    converted.add(callId)
    const payload = item['action'] ?? item['operation'] ?? {}
    return { role: 'call', bySpeaker: true, item: { type: 'function_call', call_id: callId, name, arguments: JSON.stringify(payload) } }
  }
  if (!item.type.endsWith('_output') || !converted.has(callId)) return undefined
  const output = item['output']
  return {
    role: 'output',
    bySpeaker: false,
    item: { type: 'function_call_output', call_id: callId, output: typeof output === 'string' ? output : JSON.stringify(output ?? {}) },
  }
}

/**
 * Every call gets exactly one output and every output a call, as all servers demand: a call nobody answers behind it gets the output that
 * came too early, else a sentence; an output without call becomes text of the user. Ids are rewritten where they are too long or come twice.
 */
function pairCalls(entries: readonly Entry[], mapId: MapId, dropped: Set<string>): Entry[] {
  const openCalls = new OpenCalls<{ readonly entry: Entry; readonly id: string; readonly callId: string }>()
  /** Outputs no call before them waits for: one behind them may. */
  const strays = new Map<string, Entry[]>()
  const occurrences = new Map<string, number>()
  for (const entry of entries) {
    if (!entry.bySpeaker) openCalls.endTurn()
    const callId = asString(entry.item?.['call_id'])
    if (callId === undefined || entry.item === undefined) continue
    if (entry.role === 'call') {
      const occurrence = occurrences.get(callId) ?? 0
      occurrences.set(callId, occurrence + 1)
      const id = mapId(callId, occurrence)
      if (id !== callId) entry.item = { ...entry.item, call_id: id }
      openCalls.add(callId, { entry, id, callId })
    } else if (entry.role === 'output') {
      const call = openCalls.take(callId)
      if (call === undefined) addTo(strays, callId, entry)
      else if (call.id !== callId) entry.item = { ...entry.item, call_id: call.id }
    } else if (callId.length > 0) {
      const id = mapId(callId, 0)
      if (id !== callId) entry.item = { ...entry.item, call_id: id }
    }
  }
  const answers = new Map<Entry, Entry>()
  for (const { entry: call, id, callId } of openCalls.left) {
    const early = strays.get(callId)?.shift()
    if (early !== undefined) early.item = { ...early.item, call_id: id }
    answers.set(call, early ?? missingOutput(call))
  }
  for (const entry of [...strays.values()].flat()) {
    dropped.add('input: output without its call became text')
    entry.item = orphanMessage(entry.item!)
  }
  return behindTheirCalls(entries, answers)
}

function addTo(strays: Map<string, Entry[]>, callId: string, entry: Entry): void {
  const known = strays.get(callId)
  if (known === undefined) strays.set(callId, [entry])
  else known.push(entry)
}

/** `answers`: by call, an output that stands elsewhere or nowhere yet. */
function behindTheirCalls(entries: readonly Entry[], answers: ReadonlyMap<Entry, Entry>): Entry[] {
  if (answers.size === 0) return [...entries]
  const moved = new Set(answers.values())
  return entries.flatMap((entry) => {
    if (moved.has(entry)) return []
    const answer = answers.get(entry)
    return answer === undefined ? [entry] : [entry, answer]
  })
}

function missingOutput({ item }: Entry): Entry {
  const type = item?.['type'] === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output'
  return { role: 'output', bySpeaker: false, item: { type, call_id: item?.['call_id'], output: NO_RESULT } }
}

function orphanMessage(item: JsonObject): JsonObject {
  const output = item['output']
  const parts = typeof output === 'string' ? [{ type: 'input_text', text: output }] : (output as readonly JsonObject[])
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'Result of a tool call that is not part of this conversation:' }, ...parts],
  }
}

/**
 * Reasoning must be followed by the item it produced, or the upstream refuses the request: when that item is left out, or there is none,
 * the reasoning is left out as well.
 */
function dropLooseReasoning(entries: readonly Entry[], dropped: Set<string>): void {
  let follows = false
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (entry.role !== 'reasoning') {
      follows = entry.bySpeaker && entry.item !== undefined
      continue
    }
    if (follows || entry.item === undefined) continue
    entry.item = undefined
    dropped.add('reasoning without the item it led to')
  }
}

/** Moves outputs directly behind the run of calls they answer. */
function joinOutputs(entries: readonly Entry[]): Entry[] {
  const outputs = new Map<unknown, Entry>()
  for (const entry of entries) if (entry.role === 'output' && isOutput(entry.item)) outputs.set(entry.item['call_id'], entry)
  const moved = new Set(outputs.values())
  const ordered: Entry[] = []
  let run: Entry[] = []
  const endRun = (): void => {
    for (const call of run) {
      const output = outputs.get(call.item?.['call_id'])
      if (output !== undefined) ordered.push(output)
    }
    run = []
  }
  for (const entry of entries) {
    if (entry.item === undefined) continue
    if (entry.role === 'call') run.push(entry)
    else endRun()
    if (!moved.has(entry)) ordered.push(entry)
  }
  endRun()
  return ordered
}

function isOutput(item: JsonObject | undefined): item is JsonObject {
  return isObject(item) && (item['type'] === 'function_call_output' || item['type'] === 'custom_tool_call_output')
}

/** Writes the items out; media a tool result could not hold follow behind the run of results as a message of the user. */
function withOverflow(entries: readonly Entry[]): readonly JsonObject[] {
  const items: JsonObject[] = []
  let waiting: JsonObject[] = []
  for (const entry of entries) {
    if (entry.item === undefined) continue
    if (entry.role !== 'output' && waiting.length > 0) {
      items.push({ type: 'message', role: 'user', content: waiting })
      waiting = []
    }
    items.push(entry.item)
    if (entry.overflow !== undefined) waiting.push(...entry.overflow)
  }
  if (waiting.length > 0) items.push({ type: 'message', role: 'user', content: waiting })
  return items
}
