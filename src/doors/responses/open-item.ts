import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'

/** The events that belong to one item, between its start and its end. */
export type ItemEvent = Extract<ModelEvent, { readonly key: string }> & { readonly type: Exclude<ModelEvent['type'], 'item-start' | 'item-end'> }

export type ItemPatch = { readonly [field: string]: unknown }
/** `in_progress`: a later answer continues the item. */
export type ClosingStatus = 'completed' | 'incomplete' | 'in_progress'

/**
 * One output item while it is being streamed.
 *
 * States: created -> `open` (emits output_item.added) -> any number of `apply` -> `close` (emits the done events of its parts; output_item.done
 * is written by whoever closes it). `snapshot` is the item as `close` would return it, without emitting.
 */
export interface OpenItem {
  open(): void
  apply(event: ItemEvent): void
  /** Lets waiting text pass: the parts so far are closed for the caller, but the item may continue. Only items that can let text pass have it. */
  pause?(): void
  close(status: ClosingStatus, patch: ItemPatch | undefined): OutputItem
  snapshot(status: ClosingStatus, patch?: ItemPatch): OutputItem
}

/** The members that identify an event's item, part of every event of it. */
export function placeOf(id: string, outputIndex: number): string {
  return `"item_id":"${id}","output_index":${outputIndex}`
}

export function statusOf(status: ClosingStatus, patch: ItemPatch | undefined): ClosingStatus {
  return patch?.['status'] === 'incomplete' ? 'incomplete' : status
}
