import type { Annotation, JsonObject, Logprob, UrlCitation } from '../../core/item.ts'
import { quote } from '../responses/wire.ts'
import type { ReasoningDetail } from './reasoning-details.ts'

interface ToolCall {
  readonly id: string
  readonly type: 'function' | 'custom'
  readonly name: string
  text: string
}

/** Writes one chunk: `delta` is the members of its delta as JSON, `logprobs` the members of its choice. */
export type WriteDelta = (delta: string, logprobs?: string) => void

/** The single message of an answer: written at once when streaming, otherwise kept for the end. */
export class ChatMessageWriter {
  readonly #write: WriteDelta | undefined
  readonly #showsThoughts: boolean
  readonly #mirrorsThoughts: boolean
  #content = ''
  /** Length of the content, whether kept or already written. */
  #length = 0
  #refusal = ''
  #reasoning = ''
  #pieces = 0
  #pictures = 0
  readonly #details: ReasoningDetail[] = []
  readonly #calls: ToolCall[] = []
  readonly #annotations: JsonObject[] = []
  readonly #images: JsonObject[] = []
  readonly #logprobs: Logprob[] = []

  /** `mirrors`: reasoning is also written under the name that other servers of this format use for it. `write`: omitted for JSON answers. */
  constructor(thoughts: { readonly shows: boolean; readonly mirrors: boolean }, write?: WriteDelta) {
    this.#showsThoughts = thoughts.shows
    this.#mirrorsThoughts = thoughts.mirrors
    this.#write = write
  }

  /** A call broke off before its arguments were whole. */
  broken = false

  get textLength(): number {
    return this.#length
  }

  get calls(): number {
    return this.#calls.length
  }

  /** The next text belongs to another message: an empty line separates it from the text so far. */
  beginText(): void {
    if (this.#length > 0) this.text('\n\n', false)
  }

  text(delta: string, plain: boolean | undefined, logprobs?: readonly Logprob[]): void {
    this.#length += delta.length
    if (this.#write !== undefined) return this.#write(`"content":${quote(delta, plain)}`, logprobs && logprobsText(logprobs))
    this.#content += delta
    for (const logprob of logprobs ?? []) this.#logprobs.push(logprob)
  }

  refusal(delta: string): void {
    if (this.#write !== undefined) return this.#write(`"refusal":${JSON.stringify(delta)}`)
    this.#refusal += delta
  }

  nextPiece(): number {
    return this.#pieces++
  }

  /** A piece of reasoning, with its readable text. Pieces with the same index, which `nextPiece` gives, are one piece in the end. */
  thought(delta: string, detail: ReasoningDetail & { readonly index: number }): void {
    if (!this.#showsThoughts) return
    if (this.#write !== undefined) {
      const text = delta === '' ? '' : JSON.stringify(delta)
      const read = text === '' ? '' : `"reasoning":${text},${this.#mirrorsThoughts ? `"reasoning_content":${text},` : ''}`
      return this.#write(`${read}"reasoning_details":${JSON.stringify([detail])}`)
    }
    this.#reasoning += delta
    const before = this.#details[detail.index]
    this.#details[detail.index] = before === undefined ? detail : joined(before, detail)
  }

  /** Returns the call's index among the calls of the message. */
  openCall(type: 'function' | 'custom', id: string, name: string): number {
    const index = this.#calls.push({ id, type, name, text: '' }) - 1
    this.#write?.(`"tool_calls":${JSON.stringify([{ index, ...present({ id, type, name, text: '' }) }])}`)
    return index
  }

  callText(index: number, delta: string, plain: boolean | undefined): void {
    const call = this.#calls[index]!
    if (this.#write === undefined) {
      call.text += delta
      return
    }
    const field = call.type === 'function' ? '"function":{"arguments":' : '"custom":{"input":'
    this.#write(`"tool_calls":[{"index":${index},${field}${quote(delta, plain)}}}]`)
  }

  /** Citations in the text that begins at `start` of the content. This format only has citations of web pages; clients fail on any other kind. */
  annotations(list: readonly Annotation[], start: number): void {
    const citations = list.flatMap((annotation) => (annotation.type === 'url_citation' ? [presentCitation(annotation, start)] : []))
    if (citations.length === 0) return
    if (this.#write !== undefined) return this.#write(`"annotations":${JSON.stringify(citations)}`)
    for (const annotation of citations) this.#annotations.push(annotation)
  }

  image(url: string): void {
    const image = { type: 'image_url', image_url: { url }, index: this.#pictures++ }
    if (this.#write !== undefined) return this.#write(`"images":${JSON.stringify([image])}`)
    this.#images.push(image)
  }

  /** The message as in a JSON answer, and its log probabilities, which are part of the choice. */
  whole(): { readonly message: JsonObject; readonly logprobs: JsonObject | null } {
    const saysNothing = this.#content === '' && (this.#calls.length > 0 || this.#refusal !== '' || this.#images.length > 0)
    return {
      message: {
        role: 'assistant',
        content: saysNothing ? null : this.#content,
        refusal: this.#refusal === '' ? null : this.#refusal,
        reasoning: this.#reasoning === '' ? null : this.#reasoning,
        ...(this.#mirrorsThoughts && this.#reasoning !== '' ? { reasoning_content: this.#reasoning } : {}),
        ...list('reasoning_details', this.#details),
        ...list('tool_calls', this.#calls.map(present)),
        ...list('annotations', this.#annotations),
        ...list('images', this.#images),
      },
      logprobs: this.#logprobs.length === 0 ? null : { content: this.#logprobs, refusal: null },
    }
  }
}

const list = (name: string, entries: readonly object[]): JsonObject => (entries.length === 0 ? {} : { [name]: entries })

const logprobsText = (logprobs: readonly Logprob[]): string => JSON.stringify({ content: logprobs, refusal: null })

const present = ({ id, type, name, text }: ToolCall): JsonObject =>
  type === 'function' ? { id, type, function: { name, arguments: text } } : { id, type, custom: { name, input: text } }

/** The format nests each citation in an object of its own; offsets count in the whole content. */
const presentCitation = ({ type, ...cited }: UrlCitation, start: number): JsonObject => ({
  type,
  url_citation: { ...cited, start_index: cited.start_index + start, end_index: cited.end_index + start },
})

function joined(before: ReasoningDetail, { text, summary, data, ...rest }: ReasoningDetail): ReasoningDetail {
  return {
    ...before,
    ...rest,
    ...(text == null ? {} : { text: (before.text ?? '') + text }),
    ...(summary === undefined ? {} : { summary: (before.summary ?? '') + summary }),
    ...(data === undefined ? {} : { data: (before.data ?? '') + data }),
  }
}
