import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'

/** The events that belong to one item, between its start and its end. */
export type ItemEvent = Extract<ModelEvent, { readonly key: string }> & { readonly type: Exclude<ModelEvent['type'], 'item-start' | 'item-end'> }

export type ItemPatch = { readonly [field: string]: unknown }
export type ClosingStatus = 'completed' | 'incomplete'

/**
 * One output item while it is being streamed.
 *
 * States: created -> `open` (emits output_item.added) -> any number of `apply` -> `close` (emits the done events of its parts; output_item.done
 * is written by whoever closes it). `snapshot` is the item as `close` would return it, without emitting.
 */
export interface OpenItem {
  open(): void
  apply(event: ItemEvent): void
  /** Lets text pass that waits behind it: what has been said is whole for the caller, the item may still go on. Only of items that give way. */
  pause?(): void
  close(status: ClosingStatus, patch: ItemPatch | undefined): OutputItem
  snapshot(status: ClosingStatus, patch?: ItemPatch): OutputItem
}

/** The members that place an event: written into every event of the item. */
export function placeOf(id: string, outputIndex: number): string {
  return `"item_id":"${id}","output_index":${outputIndex}`
}

export function statusOf(status: ClosingStatus, patch: ItemPatch | undefined): ClosingStatus {
  return patch?.['status'] === 'incomplete' ? 'incomplete' : status
}
