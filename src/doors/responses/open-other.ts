import type { OtherItem } from '../../core/item.ts'
import { placeOf, type ClosingStatus, type ItemEvent, type ItemPatch, type OpenItem } from './open-item.ts'
import { wholeValue } from './whole-characters.ts'
import type { WireWriter } from './wire.ts'

const FINAL: ReadonlySet<unknown> = new Set(['completed', 'failed'])
/** The status of a cut item if the contract's enum for its type has no `incomplete`. */
const CUT_STATUS: { readonly [type: string]: string } = {
  web_search_call: 'failed',
  file_search_call: 'failed',
  image_generation_call: 'failed',
  apply_patch_call: 'in_progress',
}

/** A built-in or gateway tool call, or any item type that the gateway only passes on: complete at the start, progress events, complete at the end. */
export class OpenOther implements OpenItem {
  readonly #wire: WireWriter
  readonly #outputIndex: number
  readonly #place: string
  readonly #start: OtherItem
  /** Fields that the end of the item cannot change. */
  readonly #fixed: { readonly id: string; readonly type: string; readonly call_id?: string }

  constructor(wire: WireWriter, id: string, outputIndex: number, start: OtherItem, callId: string | undefined) {
    this.#wire = wire
    this.#outputIndex = outputIndex
    this.#place = placeOf(id, outputIndex)
    this.#fixed = { id, type: start.type, ...(callId === undefined ? {} : { call_id: callId }) }
    this.#start = { ...wholeValue(start), ...this.#fixed }
  }

  open(): void {
    if (!this.#wire.enabled) return
    const item = JSON.stringify(this.announced(this.#start))
    this.#wire.event('response.output_item.added', `"output_index":${this.#outputIndex},"item":${item}`)
  }

  /** The item as its first event shows it. */
  protected announced(start: OtherItem): OtherItem {
    return start
  }

  apply(event: ItemEvent): void {
    if (event.type !== 'item-event') throw new Error(`a ${this.#start.type} item takes no ${event.type}`)
    if (!this.#wire.enabled) return
    const fields = event.fields === undefined ? '' : JSON.stringify(wholeValue(event.fields)).slice(1, -1)
    this.#wire.event(`response.${event.name}`, fields === '' ? this.#place : `${this.#place},${fields}`)
  }

  close(status: ClosingStatus, patch: ItemPatch | undefined): OtherItem {
    return this.snapshot(status, patch)
  }

  snapshot(status: ClosingStatus, patch?: ItemPatch): OtherItem {
    const item: Record<string, unknown> & OtherItem = { ...this.#start, ...wholeValue(patch), ...this.#fixed }
    const ownStatus = item['status']
    // Only items that have a status get one; an item still in progress ends with the status of the answer.
    if (ownStatus !== undefined && !FINAL.has(ownStatus) && status !== 'in_progress') {
      const isWhole = status === 'completed' && ownStatus !== 'incomplete'
      item['status'] = isWhole ? status : (CUT_STATUS[item.type] ?? 'incomplete')
    }
    return item
  }
}
