import { isCall } from '../../core/caller-call.ts'
import { GatewayError } from '../../core/error.ts'
import { isKnownItem } from '../../core/item.ts'
import type {
  CustomToolCallItem,
  CustomToolCallOutputItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  InputText,
  KnownItem,
  MessageItem,
  OtherItem,
} from '../../core/item.ts'
import type { ModelRequest } from '../../core/request.ts'
import { alternate, OPENING_TURN } from './alternate-turns.ts'
import { createCallerRunReader } from './caller-run.ts'
import { lastMark, markOf } from './cache-mark.ts'
import { contentParts, textOf } from './content-parts.ts'
import type { ContentPart } from './content-parts.ts'
import type { AssistantPart, CallPart, Conversation, ItemPart, SystemPart, ToolResult, Turn } from './conversation.ts'
import { wrapCustomInput } from './custom-input.ts'
import { createIdMap } from './id-map.ts'
import type { IdRule } from './id-map.ts'
import { saysNothing } from './json.ts'
import { OpenCalls } from './open-calls.ts'
import { readReasoning } from './reasoning-replay.ts'
import type { ReasoningPart } from './reasoning-replay.ts'
import type { ToolNames } from './tool-names.ts'

export interface FoldOptions {
  readonly callIds: IdRule
  readonly names: ToolNames
  /** Later system messages: in place, or as user text between markers. */
  readonly laterSystem: 'in-place' | 'user-text'
  /** Merge neighbours of one role, and begin with a user turn. */
  readonly alternate: boolean
  /** Whether this endpoint can read a piece of reasoning. */
  readonly keepReasoning: (part: ReasoningPart) => boolean
  /** Sets of tools that the endpoint knows by itself: calls in a namespace of that name keep both names. Default: none. */
  readonly toolsets?: ReadonlySet<string>
  /** Whether this endpoint accepts an item of another type as part of the assistant's turn. Default: none. */
  readonly keepItem?: (item: OtherItem) => boolean
}

type CallItem = FunctionCallItem | CustomToolCallItem
type OutputOfCall = FunctionCallOutputItem | CustomToolCallOutputItem

type FoldItem = KnownItem | ItemPart

const isCallItem = (item: FoldItem): item is CallItem => isCall(item.type)
const isOutput = (item: FoldItem): item is OutputOfCall => item.type === 'function_call_output' || item.type === 'custom_tool_call_output'

const ASSISTANT_TEXTS: ReadonlySet<string> = new Set(['input_text', 'output_text', 'refusal'])
const ATTACHED: ContentPart = { type: 'input_text', text: 'Attached to the instructions:' }
/** A cache mark may be on the last system message: Claude Code marks a reminder at the end. */
const markedSystem = (texts: readonly InputText[]): ContentPart => ({
  type: 'input_text',
  text: `<system_message>\n${texts.map(({ text }) => text).join('\n\n')}\n</system_message>`,
  ...lastMark(texts),
})
const NO_RESULT: readonly ContentPart[] = [{ type: 'input_text', text: 'No result is available for this call.' }]
/**
 * Folds the items of a request into alternating turns, whatever their order: consecutive assistant items become one turn, results move directly
 * behind their calls, a call without a result gets one, and a result without a call becomes user text. Calls of built-in tools that run on the
 * caller's side become function calls; other items that the endpoint does not accept are left out and noted. Throws `invalid_prompt` for references
 * to stored items, which a stateless gateway cannot resolve.
 */
export function foldTurns(request: Pick<ModelRequest, 'instructions' | 'input'>, options: FoldOptions): Conversation {
  const dropped = new Set<string>()
  const items: FoldItem[] = []
  /** Types of other items of which some are sent. */
  const sent = new Set<string>()
  let callerRun: ReturnType<typeof createCallerRunReader> | undefined
  for (const item of request.input) {
    if (isKnownItem(item)) items.push(item)
    else if (item.type === 'item_reference') {
      throw new GatewayError('invalid_prompt', 'item_reference cannot be resolved: nothing is stored, send the item itself', { path: 'input' })
    } else if (options.keepItem?.(item) === true) {
      items.push({ type: 'item', item })
      sent.add(item.type)
    } else {
      const run = (callerRun ??= createCallerRunReader())(item)
      if (run !== undefined) {
        items.push(run)
        sent.add(item.type)
      }
      dropped.add(run === undefined ? `input: ${item.type}` : `input: ${item.type} became a function call`)
    }
  }
  // A note of a type says that none of it was received, and estimates of what was leave it out.
  for (const type of sent) if (dropped.delete(`input: ${type}`)) dropped.add(`input: ${type} in part`)
  const builder = new TurnBuilder(options, pairOutputs(items), dropped)
  if (request.instructions) builder.system.push({ role: 'system', parts: [{ type: 'input_text', text: request.instructions }] })
  for (const item of items) builder.add(item)
  const turns = options.alternate ? alternate(builder.finish()) : builder.finish()
  const { system, droppedReasoning, droppedSealed } = builder
  return { system, turns, dropped: [...dropped], droppedReasoning, droppedSealed }
}

interface Pairing {
  readonly outputOf: ReadonlyMap<CallItem, OutputOfCall>
  readonly orphans: ReadonlySet<OutputOfCall>
}

const NOTHING_TO_PAIR: Pairing = { outputOf: new Map(), orphans: new Set() }

/** Each output belongs to an earlier call with its id that has none yet, or else to a later one that no output follows. */
function pairOutputs(items: readonly FoldItem[]): Pairing {
  if (!items.some((item) => isCallItem(item) || isOutput(item))) return NOTHING_TO_PAIR
  const outputOf = new Map<CallItem, OutputOfCall>()
  const orphans = new Set<OutputOfCall>()
  const open = new OpenCalls<CallItem>()
  // Outputs before their calls wait in one turn, in order.
  const early = new OpenCalls<OutputOfCall>()
  for (const item of items) {
    if (isCallItem(item)) {
      open.add(item.call_id, item)
    } else if (isOutput(item)) {
      open.endTurn()
      const call = open.take(item.call_id)
      if (call === undefined) early.add(item.call_id, item)
      else outputOf.set(call, item)
    } else if (item.type === 'message' && item.role !== 'assistant') open.endTurn()
  }
  for (const call of open.left) {
    const output = early.take(call.call_id)
    if (output !== undefined) outputOf.set(call, output)
  }
  for (const output of early.left) orphans.add(output)
  return { outputOf, orphans }
}

interface AssistantDraft {
  readonly parts: AssistantPart[]
  readonly calls: { readonly item: CallItem; readonly part: CallPart }[]
}

class TurnBuilder {
  readonly system: SystemPart[] = []
  droppedReasoning = false
  droppedSealed = false
  readonly #options: FoldOptions
  readonly #pairing: Pairing
  #ids: { readonly map: ReturnType<typeof createIdMap>; readonly seen: Map<string, number> } | undefined
  readonly #turns: Turn[] = []
  #assistant: AssistantDraft | undefined
  #user: ContentPart[] | undefined
  /** The user spoke after the answer, but without content. */
  #silence = false
  /** Media of the system messages before anything else. */
  readonly #attached: ContentPart[] = []
  readonly #dropped: Set<string>

  constructor(options: FoldOptions, pairing: Pairing, dropped: Set<string>) {
    this.#options = options
    this.#pairing = pairing
    this.#dropped = dropped
  }

  add(item: FoldItem): void {
    if (item.type === 'item') return void this.#openAssistant().parts.push(item)
    if (item.type === 'message') return item.role === 'assistant' ? this.#assistantMessage(item) : this.#otherMessage(item)
    if (item.type === 'reasoning') {
      const part = readReasoning(item)
      if (part !== undefined && this.#options.keepReasoning(part)) return void this.#openAssistant().parts.push(part)
      const sealed = part === undefined ? Boolean(item.encrypted_content) : part.signature !== undefined || part.data !== undefined
      this.droppedSealed ||= sealed
      this.droppedReasoning ||= sealed || part !== undefined
      return
    }
    if (isCallItem(item)) return this.#call(item)
    if (this.#pairing.orphans.has(item)) return this.#orphan(item)
    // Its own turn is placed behind the calls; here it only ends the assistant's turn.
    this.#closeAssistant()
  }

  finish(): Turn[] {
    this.#closeAssistant()
    this.#closeUser()
    if (this.#attached.length > 0) this.#turns.unshift({ role: 'user', parts: [ATTACHED, ...this.#attached] })
    // An answer in last place would be continued by the model.
    if (this.#silence && this.#turns.at(-1)?.role === 'assistant') this.#turns.push({ role: 'user', parts: [OPENING_TURN] })
    return this.#turns
  }

  #openAssistant(): AssistantDraft {
    this.#closeUser()
    this.#silence = false
    this.#assistant ??= { parts: [], calls: [] }
    return this.#assistant
  }

  /** In these formats the assistant can only say text. */
  #assistantMessage(item: MessageItem): void {
    if (typeof item.content !== 'string') {
      for (const { type } of item.content) if (!ASSISTANT_TEXTS.has(type)) this.#dropped.add(`input: ${type} of the assistant`)
    }
    const text = textOf(item.content)
    if (text === '') return
    this.#openAssistant().parts.push({ type: 'text', text, ...lastMark(item.content) })
  }

  #otherMessage(item: MessageItem): void {
    const parts = contentParts(item.content)
    if (parts.length === 0) {
      this.#silence ||= item.role === 'user'
      return
    }
    if (item.role === 'user') {
      this.#closeAssistant()
      this.#closeUser()
      this.#user = parts
      return
    }
    const role = item.role === 'developer' ? 'developer' : 'system'
    const texts = parts.filter((part) => part.type === 'input_text')
    // System messages of these formats cannot contain media, so a user message shows them in the same place.
    const media = texts.length === parts.length ? [] : parts.filter((part) => part.type !== 'input_text')
    if (this.#turns.length === 0 && this.#assistant === undefined && this.#user === undefined) {
      if (texts.length > 0) this.system.push({ role, parts: texts })
      // One by one: as arguments of a single call, as many as a body can hold would overflow the stack.
      for (const part of media) this.#attached.push(part)
      return
    }
    this.#closeAssistant()
    this.#closeUser()
    const inPlace = this.#options.laterSystem === 'in-place'
    if (inPlace && texts.length > 0) this.#turns.push({ role, parts: texts })
    const marked = inPlace || texts.length === 0 ? [] : [markedSystem(texts)]
    const shown = media.length === 0 ? marked : [...marked, ATTACHED, ...media]
    if (shown.length > 0) this.#user = shown
  }

  #call(item: CallItem): void {
    const turn = this.#openAssistant()
    const ids = (this.#ids ??= { map: createIdMap(this.#options.callIds), seen: new Map<string, number>() })
    const occurrence = ids.seen.get(item.call_id) ?? 0
    ids.seen.set(item.call_id, occurrence + 1)
    const isFunction = item.type === 'function_call'
    const { names, toolsets } = this.#options
    const toolset = item.namespace != null && toolsets?.has(item.namespace) === true ? item.namespace : undefined
    const part: CallPart = {
      type: 'call',
      id: ids.map(item.call_id, occurrence),
      name: toolset === undefined ? names.upstream(item.name, item.namespace, isFunction ? 'function' : 'custom') : item.name,
      ...(toolset === undefined ? {} : { toolset }),
      arguments: isFunction ? (saysNothing(item.arguments) ? '{}' : item.arguments) : wrapCustomInput(item.input),
      ...(isFunction ? markOf(item) : {}),
    }
    turn.parts.push(part)
    turn.calls.push({ item, part })
  }

  #orphan(item: OutputOfCall): void {
    const parts = contentParts(item.output)
    if (parts.length === 0) return
    this.#closeAssistant()
    this.#closeUser()
    this.#user = [{ type: 'input_text', text: 'Result of a tool call that is not part of this conversation:' }, ...parts]
  }

  #closeAssistant(): void {
    const turn = this.#assistant
    this.#assistant = undefined
    if (turn === undefined || turn.parts.length === 0) return
    this.#turns.push({ role: 'assistant', parts: turn.parts })
    if (turn.calls.length === 0) return
    const results = turn.calls.map(({ item, part }): ToolResult => {
      const output = this.#pairing.outputOf.get(item)
      return {
        callId: part.id,
        name: part.name,
        parts: output === undefined ? NO_RESULT : contentParts(output.output),
        missing: output === undefined,
        failed: output !== undefined && 'failed' in output && output.failed === true,
      }
    })
    this.#turns.push({ role: 'tool', results })
  }

  #closeUser(): void {
    const parts = this.#user
    this.#user = undefined
    if (parts === undefined || parts.length === 0) return
    this.#turns.push({ role: 'user', parts })
  }
}
