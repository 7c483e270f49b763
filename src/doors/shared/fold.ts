import type { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import type { ItemText } from '../responses/answer-items.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'

/** Builds the answer of a call from its events. Wire text is only for streams, `answer` for the others. */
export interface Fold {
  /** The events of one upstream read. Throws GatewayError for what the format cannot express. */
  push(events: readonly ModelEvent[]): void
  /** The model is done. */
  finish(): void
  /** The answer broke after the caller had received its beginning. */
  fail(error: GatewayError): void
  /** A keep-alive as wire text, for clients that treat comments as silence. */
  keepAlive(): string
  /** Wire text since the previous call. After a failure only its end, if that is to be written separately. */
  takeWire(): string
  /** The JSON answer; valid once ended. */
  answer(): string
  /** The model has finished: `finish` may follow. */
  readonly complete: boolean
  readonly ended: boolean
  /** The items of the answer so far. */
  output(): readonly OutputItem[]
  /** The same items with their ids, as JSON. */
  itemTexts(): readonly ItemText[]
}

export type FoldOf = (options: AssemblerOptions) => Fold
