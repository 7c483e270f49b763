import type { OutputItem } from '../../core/item.ts'
import type { ClosingStatus, ItemEvent, ItemPatch } from './open-item.ts'

/** An item that has begun, in its turn or waiting for it. */
export interface Slot {
  readonly item: OutputItem
  /** The public id, when a layer minted it. */
  readonly id: string | undefined
  readonly waiting: ItemEvent[]
  /** Set when the item ended while it waited for its turn. */
  ended?: { readonly patch: ItemPatch | undefined; readonly status: ClosingStatus }
}

/** Whether text waits that thoughts may let pass. */
export const hasText = ({ item, waiting }: Slot): boolean => item.type === 'message' && waiting.length > 0
