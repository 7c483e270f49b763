import { nativeCitation } from '../../core/native-citation.ts'
import type { Annotation, JsonObject } from '../../core/item.ts'
import { quote } from '../responses/wire.ts'

/** Writes one event: its type, and its other members as JSON. */
export type WriteEvent = (type: string, members: string) => void

interface WrittenBlock {
  readonly type: string
  readonly [field: string]: unknown
}

/** The blocks of an answer: written at once when streaming, otherwise kept for the end. One is open at a time, and takes deltas until it ends. */
export class BlockWriter {
  #write: WriteEvent | undefined
  /** Stays empty while streaming: what has been written is not needed again. */
  readonly #blocks: { [field: string]: unknown }[] = []
  #count = 0
  #calls = 0
  /** Some of the text is a refusal. */
  refused = false
  /** How many thoughts let text pass before their end. */
  gaveWay = 0
  /** A call ended before its input was complete. */
  broken = false
  /** The answer is about to end with an error. */
  failing = false

  /** `write`: omitted for JSON answers. */
  constructor(write?: WriteEvent) {
    this.#write = write
  }

  /** The number of calls of the caller's tools. */
  get calls(): number {
    return this.#calls
  }

  /** The number of blocks begun so far. */
  get count(): number {
    return this.#count
  }

  /** The blocks as in a JSON answer. */
  get all(): readonly JsonObject[] {
    return this.#blocks
  }

  /** Returns the index among the blocks. */
  begin(block: WrittenBlock): number {
    if (block.type === 'tool_use') this.#calls++
    const index = this.#count++
    if (this.#write === undefined) this.#blocks.push({ ...block })
    else this.#write('content_block_start', `"index":${index},"content_block":${JSON.stringify(block)}`)
    return index
  }

  text(index: number, delta: string, plain: boolean | undefined): void {
    this.#add(index, 'text', delta)
    this.#write?.('content_block_delta', `"index":${index},"delta":{"type":"text_delta","text":${quote(delta, plain)}}`)
  }

  thinking(index: number, delta: string, plain: boolean | undefined): void {
    this.#add(index, 'thinking', delta)
    this.#write?.('content_block_delta', `"index":${index},"delta":{"type":"thinking_delta","thinking":${quote(delta, plain)}}`)
  }

  signature(index: number, signature: string): void {
    this.#set(index, 'signature', signature)
    this.#write?.('content_block_delta', `"index":${index},"delta":{"type":"signature_delta","signature":${JSON.stringify(signature)}}`)
  }

  /** A piece of a call's input; `input` sets the whole. */
  json(index: number, delta: string, plain: boolean | undefined): void {
    this.#write?.('content_block_delta', `"index":${index},"delta":{"type":"input_json_delta","partial_json":${quote(delta, plain)}}`)
  }

  input(index: number, input: () => JsonObject): void {
    if (this.#write === undefined) this.#set(index, 'input', input())
  }

  citations(index: number, annotations: readonly Annotation[]): void {
    const citations = annotations.flatMap((annotation) => {
      const native = nativeCitation(annotation, 'messages')
      if (native !== undefined) return [withFileId(native)]
      return annotation.type === 'url_citation' ? [citationOf(annotation)] : []
    })
    if (citations.length === 0) return
    this.#set(index, 'citations', citations)
    for (const citation of citations)
      this.#write?.('content_block_delta', `"index":${index},"delta":{"type":"citations_delta","citation":${JSON.stringify(citation)}}`)
  }

  end(index: number): void {
    this.#write?.('content_block_stop', `"index":${index}`)
  }

  /**
   * The end of a call that was cut off. Readers run a call as soon as its block has ended, before they learn that the answer failed: then it stays
   * open, as at the vendor of the format, and the error is all that follows.
   */
  cut(index: number): void {
    this.broken = true
    if (this.failing) this.#write = undefined
    else this.end(index)
  }

  /** A block written as a whole. */
  whole(block: WrittenBlock): void {
    this.end(this.begin(block))
  }

  #add(index: number, field: string, delta: string): void {
    const block = this.#blocks[index]
    if (block !== undefined) block[field] = (block[field] as string) + delta
  }

  #set(index: number, field: string, value: unknown): void {
    const block = this.#blocks[index]
    if (block !== undefined) block[field] = value
  }
}

const citationOf = ({ url, title, content }: Extract<Annotation, { readonly type: 'url_citation' }>): JsonObject => ({
  type: 'web_search_result_location',
  url,
  title,
  cited_text: content ?? '',
  encrypted_index: '',
})

const OF_DOCUMENTS: ReadonlySet<unknown> = new Set(['char_location', 'page_location', 'content_block_location'])

/** The format requires the file of a document that is cited, null for one without; vendors leave it out at times. */
const withFileId = (citation: JsonObject): JsonObject =>
  OF_DOCUMENTS.has(citation['type']) && citation['file_id'] === undefined ? { ...citation, file_id: null } : citation
