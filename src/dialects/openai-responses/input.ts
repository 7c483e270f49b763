import type { Target } from '../../core/dialect.ts'
import { GatewayError } from '../../core/error.ts'
import { isKnownItem } from '../../core/item.ts'
import type { InputItem, JsonObject, KnownItem, OtherItem } from '../../core/item.ts'
import { addressOfDrawn } from '../../core/picture-items.ts'
import { createCallerRunReader } from '../shared/caller-run.ts'
import { wrapCustomInput } from '../shared/custom-input.ts'
import { createIdMap } from '../shared/id-map.ts'
import { saysNothing, wholeArguments } from '../shared/json.ts'
import type { ToolNames } from '../shared/tool-names.ts'
import { orderEntries } from './input-order.ts'
import type { Entry } from './input-order.ts'
import { encodeMessage, encodeToolOutput } from './message-parts.ts'
import type { PartContext } from './message-parts.ts'
import { takesCacheOptions, type ResponsesOptions } from './options.ts'
import { callerOf, linkPrograms, opaqueField } from './programs.ts'
import { encodeReasoningItem, openOwnContent } from './reasoning.ts'
import { acceptsBuiltin } from './tools.ts'

interface InputContext extends PartContext {
  readonly target: Target<ResponsesOptions>
  readonly names: ToolNames
  readonly readCallerRun: ReturnType<typeof createCallerRunReader>
  /** Ids of calls by the ids of their items, which are never sent to an endpoint. */
  readonly callIds: Map<string, string>
}

const ANY_ID = /^[\s\S]+$/

/**
 * Encodes the input items for the endpoint. Ids that the gateway minted are removed, calls and outputs are in pairs, and reasoning is only before its
 * result. Throws `invalid_prompt` for references to stored items.
 */
export function encodeInput(
  input: readonly InputItem[],
  target: Target<ResponsesOptions>,
  names: ToolNames,
  dropped: Set<string>,
): readonly JsonObject[] {
  const { options, media } = target
  const context: InputContext = {
    options,
    takesMarks: takesCacheOptions(target),
    target,
    names,
    dropped,
    readCallerRun: createCallerRunReader(),
    callIds: new Map(),
    ...(media === undefined ? {} : { media }),
  }
  const entries = input.map((item, position) => encodeItem(item, position, context))
  const mapId = createIdMap({ pattern: ANY_ID, max: options.max_call_id_length })
  linkPrograms(entries, mapId, dropped)
  return orderEntries(entries, { mapId, adjacentOutputs: options.tool_outputs === 'adjacent', dropped })
}

function encodeItem(item: InputItem, position: number, context: InputContext): Entry {
  return isKnownItem(item) ? encodeKnown(item, position, context) : encodeOther(item, position, context)
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
      return {
        role: 'call',
        bySpeaker: true,
        item: { ...call, ...nameOf(item.name, item.namespace, names, options), ...callerOf(item), ...asyncOf(item, options) },
      }
    }
    case 'custom_tool_call': {
      const name = nameOf(item.name, item.namespace, names, options)
      const call = options.custom_tools
        ? { type: 'custom_tool_call', call_id: item.call_id, ...name, input: item.input }
        : { type: 'function_call', call_id: item.call_id, ...name, arguments: wrapCustomInput(item.input) }
      return { role: 'call', bySpeaker: true, item: { ...call, ...callerOf(item), ...asyncOf(item, options) } }
    }
    default: {
      const isCustom = item.type === 'custom_tool_call_output' && options.custom_tools
      const { output, overflow } = encodeToolOutput(item.output, context)
      const encoded = { type: isCustom ? 'custom_tool_call_output' : 'function_call_output', call_id: item.call_id, output, ...callerOf(item) }
      return { role: 'output', bySpeaker: false, item: encoded, overflow }
    }
  }
}

function asyncOf({ async: mayWait }: { readonly async?: boolean | null }, options: ResponsesOptions): { readonly async?: true } {
  return mayWait === true && options.async_calls ? { async: true } : {}
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

function encodeOther(item: OtherItem, position: number, context: InputContext): Entry {
  const { target, options, dropped, readCallerRun } = context
  const bySpeaker = !/_(?:output|approval_response)$/.test(item.type)
  const left: Entry = { role: 'other', bySpeaker, item: undefined }
  if (item.type === 'item_reference') {
    throw new GatewayError('invalid_prompt', 'item_reference cannot be resolved: nothing is stored, send the item itself', { path: 'input' })
  }
  if (!acceptsBuiltin(item.type, options.builtin_tools)) {
    const run = readCallerRun(item)
    dropped.add(run === undefined ? `input: ${item.type}` : `input: ${item.type} became a function call`)
    return run === undefined ? left : encodeKnown(run, position, context)
  }
  if (ranElsewhere(item) || isElsewhere(item)) {
    dropped.add(`input: ${item.type} of another endpoint`)
    return left
  }
  const field = opaqueField(item.type)
  const opaque = item[field]
  if (typeof opaque !== 'string' || opaque === '') return { role: 'other', bySpeaker, item: asTaken(item, context) }
  const data = openOwnContent(opaque, target)
  if (data === undefined) {
    dropped.add(`input: ${item.type} of another endpoint`)
    return left
  }
  return { role: 'other', bySpeaker, item: { ...asTaken(item, context), [field]: data } }
}

/** A name, perhaps with an id behind it; ids of containers have digits in them. */
const NAME = /^[a-z]+(?:_[a-z]+){0,15}(?::|$)/

/** Code that did not run in a container of this format has the name of what ran it in place of a container's id. */
function ranElsewhere({ type, container_id: container }: OtherItem): boolean {
  return type === 'code_interpreter_call' && typeof container === 'string' && NAME.test(container)
}

/** A picture whose server gave its address, in a field of this format for its bytes. */
const isElsewhere = (item: OtherItem): boolean => addressOfDrawn(item) !== undefined

/** Items whose id the upstream neither requires nor knows. Others keep theirs, because approvals and results refer to them. */
const ID_FREE: ReadonlySet<string> = new Set([
  'local_shell_call',
  'local_shell_call_output',
  'web_search_call',
  'tool_search_call',
  'tool_search_output',
  'compaction',
  'context_compaction',
])

/** Fields of items in our answers that this format does not have and some endpoints refuse. */
const OURS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['image_generation_call', new Set(['prompt', 'error', 'imageB64', 'imageUrl', 'revisedPrompt'])],
])

/**
 * An id of another type is refused, although nothing looks it up. An id that the gateway gave, with the prefix of its own tool name, gets the prefix
 * of this type.
 */
const imageId = (id: unknown): unknown => (typeof id !== 'string' || id.startsWith('ig') ? id : `ig_${id.replace(/^[a-z]+_/, '')}`)

function asTaken(item: OtherItem, { callIds }: InputContext): JsonObject {
  const ours = OURS.get(item.type)
  if (ours !== undefined) {
    const known = Object.fromEntries(Object.entries({ ...item, id: imageId(item.id) }).filter(([field]) => !ours.has(field)))
    // No image: our answers leave the field empty, while the format requires null.
    return known['result'] === '' ? { ...known, result: null } : known
  }
  if (!ID_FREE.has(item.type)) return item
  const { id, ...rest } = item
  if (item.type === 'local_shell_call' && id != null && typeof item['call_id'] === 'string') callIds.set(id, item['call_id'])
  // This output refers to its call only by its id.
  if (item.type === 'local_shell_call_output' && id != null && item['call_id'] == null) return { ...rest, id: callIds.get(id) ?? id }
  return rest
}
