import type { JsonObject } from '../../core/item.ts'
import type { MapId } from '../shared/id-map.ts'
import { asString, isObject } from '../shared/json.ts'
import { OpenCalls } from '../shared/open-calls.ts'

/** An input item to be sent. An item that is left out has no `item` but keeps its place, because reasoning before it must be left out too. */
export interface Entry {
  readonly role: 'call' | 'output' | 'reasoning' | 'other'
  /** Whether a model writes such items: only these can follow reasoning. */
  readonly bySpeaker: boolean
  item: JsonObject | undefined
  readonly overflow?: readonly JsonObject[]
}

const NO_RESULT = 'No result is available for this call.'

/** A call that waits for its output: its id as sent, and as the caller wrote it. */
interface OpenCall {
  readonly entry: Entry
  readonly id: string
  readonly callId: string
}

interface OrderOptions {
  readonly mapId: MapId
  /** Whether the endpoint requires outputs directly after their calls. */
  readonly adjacentOutputs: boolean
  readonly dropped: Set<string>
}

/** The encoded items in an order that every server accepts: calls and outputs in pairs, and reasoning only before its result. */
export function orderEntries(entries: readonly Entry[], { mapId, adjacentOutputs, dropped }: OrderOptions): readonly JsonObject[] {
  const paired = pairCalls(entries, mapId, dropped)
  dropLooseReasoning(paired, dropped)
  return withOverflow(adjacentOutputs ? joinOutputs(paired) : paired)
}

/**
 * Gives every call exactly one output and every output a call, as all servers require. A call that no later output answers gets the output that came
 * too early, or else a sentence, unless its result may come later. An output without a call becomes text of the user. Ids are rewritten if they are too long or not unique.
 */
function pairCalls(entries: readonly Entry[], mapId: MapId, dropped: Set<string>): Entry[] {
  const openCalls = new OpenCalls<OpenCall>()
  /** Calls of the endpoint's own tools that the caller runs, which some clients answer like functions. */
  const ownCalls = new Set<string>()
  /** Outputs that no earlier call waits for; a later one may. */
  const earlyOutputs = new OpenCalls<Entry>()
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
      if (call !== undefined) entry.item = answering(entry.item, call.entry, call.id)
      else if (ownCalls.delete(callId)) entry.item = { ...entry.item, call_id: mapId(callId, 0) }
      else earlyOutputs.add(callId, entry)
    } else if (callId.length > 0) {
      if (entry.bySpeaker) ownCalls.add(callId)
      else ownCalls.delete(callId)
      const id = mapId(callId, 0)
      if (id !== callId) entry.item = { ...entry.item, call_id: id }
    }
  }
  const answers = answersOf(openCalls.left, earlyOutputs)
  for (const entry of earlyOutputs.left) {
    dropped.add('input: output without its call became text')
    entry.item = orphanMessage(entry.item!)
  }
  return behindTheirCalls(entries, answers)
}

/** The outputs of calls that no later one answers. Takes those that came too early out of `earlyOutputs`. */
function answersOf(calls: readonly OpenCall[], earlyOutputs: OpenCalls<Entry>): Map<Entry, Entry> {
  const answers = new Map<Entry, Entry>()
  for (const { entry: call, id, callId } of calls) {
    const early = earlyOutputs.take(callId)
    if (early === undefined && call.item?.['async'] === true) continue
    if (early !== undefined) early.item = answering(early.item!, call, id)
    answers.set(call, early ?? missingOutput(call))
  }
  return answers
}

/** `answers` maps a call to its output, which is at another place or not in the list yet. */
function behindTheirCalls(entries: readonly Entry[], answers: ReadonlyMap<Entry, Entry>): Entry[] {
  if (answers.size === 0) return [...entries]
  const moved = new Set(answers.values())
  return entries.flatMap((entry) => {
    if (moved.has(entry)) return []
    const answer = answers.get(entry)
    return answer === undefined ? [entry] : [entry, answer]
  })
}

const outputTypeOf = ({ item }: Entry): string => (item?.['type'] === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output')

/** The output with the id, kind and caller of its call: an endpoint requires all three to match, whatever names a client uses. */
function answering(output: JsonObject, call: Entry, id: string): JsonObject {
  const type = outputTypeOf(call)
  const { caller } = { ...call.item, ...output }
  const isFit = output['call_id'] === id && output['type'] === type && output['caller'] === caller
  return isFit ? output : { ...output, type, call_id: id, ...(caller === undefined ? {} : { caller }) }
}

function missingOutput(call: Entry): Entry {
  const { call_id, caller } = call.item ?? {}
  const item = { type: outputTypeOf(call), call_id, output: NO_RESULT, ...(caller === undefined ? {} : { caller }) }
  return { role: 'output', bySpeaker: false, item }
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
 * Reasoning must be followed by the item that it produced, or the upstream refuses the request. If that item is left out, or does not exist, the
 * reasoning is left out as well.
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

/** Moves outputs directly after the group of calls that they answer. */
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

/** Writes the items. Media that a tool result could not contain follow the group of results in a user message. */
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
    for (const part of entry.overflow ?? []) waiting.push(part)
  }
  if (waiting.length > 0) items.push({ type: 'message', role: 'user', content: waiting })
  return items
}
