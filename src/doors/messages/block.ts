import type { JsonObject } from '../../core/item.ts'
import type { MarkedByCaller } from '../shared/cache-mark.ts'

/** Blocks that have passed the schema. */
export interface Block extends JsonObject, Pick<MarkedByCaller, 'cache_control'> {
  readonly type: string
}
export interface Message {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | readonly Block[]
}
