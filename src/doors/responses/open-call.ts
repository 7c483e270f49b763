import type { CustomToolCallItem, FunctionCallItem } from '../../core/item.ts'
import { placeOf, statusOf, type ClosingStatus, type ItemEvent, type ItemPatch, type OpenItem } from './open-item.ts'
import { deltaHead, quote, type WireWriter } from './wire.ts'

const ARGUMENTS_DELTA = deltaHead('response.function_call_arguments.delta')
const INPUT_DELTA = deltaHead('response.custom_tool_call_input.delta')
const TAIL = '}\n\n'

/** A call of the caller's tool: JSON arguments of a function, or the free text of a custom tool. */
export class OpenCall implements OpenItem {
  readonly #wire: WireWriter
  readonly #id: string
  readonly #callId: string
  readonly #outputIndex: number
  readonly #start: FunctionCallItem | CustomToolCallItem
  readonly #place: string
  readonly #deltaMiddle: string
  #text = ''

  constructor(wire: WireWriter, id: string, outputIndex: number, start: FunctionCallItem | CustomToolCallItem, callId: string) {
    this.#wire = wire
    this.#id = id
    this.#callId = callId
    this.#outputIndex = outputIndex
    this.#start = start
    this.#place = placeOf(id, outputIndex)
    this.#deltaMiddle = `,${this.#place},"delta":`
  }

  open(): void {
    if (!this.#wire.enabled) return
    const item = this.#item('', 'in_progress', undefined)
    this.#wire.event('response.output_item.added', `"output_index":${this.#outputIndex},"item":${JSON.stringify(item)}`)
  }

  apply(event: ItemEvent): void {
    if (event.type !== 'arguments-delta') throw new Error(`a call takes no ${event.type}`)
    this.#delta(event.delta, event.plain)
  }

  close(status: ClosingStatus, patch: ItemPatch | undefined): FunctionCallItem | CustomToolCallItem {
    const missing = this.#missing(status, patch)
    if (missing !== '') this.#delta(missing, false)
    if (this.#wire.enabled) {
      const text = JSON.stringify(this.#text)
      if (this.#start.type === 'function_call') {
        this.#wire.event('response.function_call_arguments.done', `${this.#place},"name":${JSON.stringify(this.#start.name)},"arguments":${text}`)
      } else this.#wire.event('response.custom_tool_call_input.done', `${this.#place},"input":${text}`)
    }
    return this.snapshot(status, patch)
  }

  snapshot(status: ClosingStatus, patch?: ItemPatch): FunctionCallItem | CustomToolCallItem {
    return this.#item(this.#text, statusOf(status, patch), patch)
  }

  #item(text: string, status: ClosingStatus, patch: ItemPatch | undefined): FunctionCallItem | CustomToolCallItem {
    const { name, namespace, caller, async: mayWait } = this.#start
    if (this.#start.type === 'function_call' && this.#start.subagent_id != null) return this.#inTheNameOf(this.#start, text, status, patch)
    const shared = {
      id: this.#id,
      call_id: this.#callId,
      name,
      ...(namespace == null ? {} : { namespace }),
      ...(caller == null ? {} : { caller }),
      ...(mayWait === true ? { async: true } : {}),
    }
    return this.#start.type === 'function_call'
      ? { type: 'function_call', ...shared, arguments: text, status }
      : { type: 'custom_tool_call', ...shared, input: text, status }
  }

  /** A call that the model of a server tool makes: says whose it is, and at its end what that model has said. */
  #inTheNameOf({ name, subagent_id }: FunctionCallItem, text: string, status: ClosingStatus, patch: ItemPatch | undefined): FunctionCallItem {
    const subagentItems = patch?.['subagent_items'] as FunctionCallItem['subagent_items']
    const call = { type: 'function_call', id: this.#id, call_id: this.#callId, name, arguments: text, status, subagent_id } as const
    return subagentItems == null ? call : { ...call, subagent_items: subagentItems }
  }

  /** The part that no delta contained: a producer may know the whole text only at the end. No arguments at all become `{}`. */
  #missing(status: ClosingStatus, patch: ItemPatch | undefined): string {
    const isFunction = this.#start.type === 'function_call'
    const complete = patch?.[isFunction ? 'arguments' : 'input']
    if (typeof complete === 'string' && complete.length > this.#text.length && complete.startsWith(this.#text))
      return complete.slice(this.#text.length)
    return isFunction && this.#text === '' && statusOf(status, patch) === 'completed' ? '{}' : ''
  }

  #delta(delta: string, plain: boolean | undefined): void {
    this.#text += delta
    if (!this.#wire.enabled) return
    this.#wire.delta(this.#start.type === 'function_call' ? ARGUMENTS_DELTA : INPUT_DELTA, this.#deltaMiddle, quote(delta, plain), TAIL)
  }
}
