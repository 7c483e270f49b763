import type { OutputItem } from '../../core/item.ts'
import type { OpenItem } from './open-item.ts'
import type { ResourceState } from './resource.ts'

/**
 * One answer in the format its caller reads. The assembler decides what is said and when; a writer, how it looks. Everything but `item` and `end`
 * is asked of streams alone.
 */
export interface AnswerWriter {
  /** False for JSON answers, of which nothing is written before the end. */
  readonly streams: boolean
  begin(state: ResourceState): void
  /** What writes an item under this public id and in this place of the answer. */
  item(item: OutputItem, id: string, index: number): OpenItem
  /** The item in this place is whole; `text`: as JSON. */
  done(index: number, text: string): void
  /** What an upstream was sent, as JSON. */
  echo(body: string): void
  /** A sign of life for clients that take comments for silence. */
  sign(): void
  /** The last word, whatever became of the answer. */
  end(state: ResourceState): void
  /** Wire text since the last call. */
  take(): string
  /** The JSON answer, once it has ended. */
  readonly answer: string
}
