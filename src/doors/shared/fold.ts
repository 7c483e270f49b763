import type { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import type { ItemText } from '../responses/answer-items.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'

/** What makes the answer of a call from its events. Wire text is of streams alone, `answer` of the others. */
export interface Fold {
  /** The events of one upstream read. Throws GatewayError for what cannot be told. */
  push(events: readonly ModelEvent[]): void
  /** The model is done. */
  finish(): void
  /** The answer broke after its caller had seen its beginning. */
  fail(error: GatewayError): void
  /** A sign of life as wire text, for clients that take comments for silence. */
  keepAlive(): string
  /** Wire text since the last call; of a failure its end alone, where that is to be a piece of its own. */
  takeWire(): string
  /** The JSON answer; valid once ended. */
  answer(): string
  /** The model has said its last word: `finish` may follow. */
  readonly complete: boolean
  readonly ended: boolean
  /** The items of the answer so far. */
  output(): readonly OutputItem[]
  /** The same items by their ids, as JSON. */
  itemTexts(): readonly ItemText[]
}

export type FoldOf = (options: AssemblerOptions) => Fold
