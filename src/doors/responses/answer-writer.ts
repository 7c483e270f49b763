import type { OutputItem } from '../../core/item.ts'
import type { OpenItem } from './open-item.ts'
import type { ResourceState } from './resource.ts'

/**
 * One answer in the caller's format. The assembler decides what is written and when; a writer decides how it looks. Everything but `item` and `end` is
 * called only for streams.
 */
export interface AnswerWriter {
  /** False for JSON answers, which write nothing before the end. */
  readonly streams: boolean
  begin(state: ResourceState): void
  /** Creates what writes an item, with this public id and at this index of the answer. */
  item(item: OutputItem, id: string, index: number): OpenItem
  /** The item at this index is complete; `text`: its JSON. */
  done(index: number, text: string): void
  /** The body that an upstream was sent, as JSON. */
  echo(body: string): void
  /** A keep-alive, for clients that treat comments as silence. */
  sign(): void
  /** The items that follow were cut off: the answer is about to end with an error. */
  failing?(): void
  /** The end of the answer, whether or not it succeeded. */
  end(state: ResourceState): void
  /** Wire text since the last call. */
  take(): string
  /** The JSON answer, once it has ended. */
  readonly answer: string
}
