import type { CustomToolCallItem, FunctionCallItem, MessageItem, OtherItem, OutputItem, ReasoningItem } from '../../core/item.ts'
import { placeReasoning } from '../../core/reasoning-envelope.ts'
import type { ItemEvent, OpenItem } from '../responses/open-item.ts'
import { shownPicture } from '../shared/shown-picture.ts'
import { refuseItemForCaller, TranslatedItem } from '../shared/translated-item.ts'
import type { ChatMessageWriter } from './chat-message.ts'

/** Output items while they are written into the single message of this format. */
abstract class ChatItem<I extends OutputItem> extends TranslatedItem<I> {
  readonly message: ChatMessageWriter

  constructor(inner: OpenItem, message: ChatMessageWriter) {
    super(inner)
    this.message = message
  }
}

/** Text. Several messages of one answer, from the turns of a tool loop, become one, with an empty line between them. */
export class ChatText extends ChatItem<MessageItem> {
  /** Offset in the content where the text of each part begins. */
  readonly #starts: number[] = []
  #speaks = false

  protected tell(event: ItemEvent): void {
    if (event.type === 'refusal-delta') return this.message.refusal(event.delta)
    if (event.type !== 'text-delta') return
    const { content } = this.inner.snapshot('incomplete') as MessageItem
    const parts = content.length
    if (event.delta !== '' && !this.#speaks) {
      this.#speaks = true
      this.message.beginText()
      this.#starts.fill(this.message.textLength)
    }
    while (this.#starts.length < parts) this.#starts.push(this.message.textLength)
    this.message.text(event.delta, event.plain, event.logprobs)
  }

  protected ended({ content }: MessageItem): void {
    if (typeof content === 'string') return
    content.forEach((part, index) => {
      if (part.type === 'output_text' && part.annotations?.length)
        this.message.annotations(part.annotations, this.#starts[index] ?? this.message.textLength)
    })
  }
}

/** Reasoning: as text, and in pieces that clients can send back. */
export class ChatThoughts extends ChatItem<ReasoningItem> {
  readonly #id: string
  /** `unknown` until the signer is known: clients attribute pieces without a format to one particular vendor, and drop them if they are unsigned. */
  readonly #format: string
  #kind: 'text' | 'summary' | undefined
  #part: number | undefined
  /** Index of the piece being written. */
  #piece: number | undefined
  /** How much text and how many calls came before it: a message of this format has one place for all reasoning, but vendors want each back where it was. */
  readonly #at: readonly [text: number, calls: number]

  constructor(inner: OpenItem, message: ChatMessageWriter, id: string, start: ReasoningItem) {
    super(inner, message)
    this.#id = id
    this.#format = start.format ?? 'unknown'
    this.#at = [message.textLength, message.calls]
  }

  /** Called only for items that let text behind them pass. */
  pause(): void {
    this.inner.pause?.()
    this.#piece = undefined
  }

  protected tell(event: ItemEvent): void {
    if (event.type !== 'reasoning-delta') return
    const isOfAnotherPart = event.part !== undefined && event.part !== this.#part
    if (event.kind !== this.#kind || isOfAnotherPart || this.#piece === undefined) {
      this.#kind = event.kind
      this.#part = event.part
      this.#piece = this.message.nextPiece()
    }
    const piece = event.kind === 'text' ? { type: 'reasoning.text', text: event.delta } : { type: 'reasoning.summary', summary: event.delta }
    this.message.thought(event.delta, { ...piece, ...this.#place(this.#piece) })
  }

  protected ended({ encrypted_content: data, signature, format }: ReasoningItem): void {
    const named = { format: format ?? this.#format }
    // Signatures are for text; a summary that was written last is not part of it.
    const signed = this.#kind === 'text' ? this.#piece : undefined
    if (signature)
      this.message.thought('', { type: 'reasoning.text', text: '', signature, ...this.#place(signed ?? this.message.nextPiece()), ...named })
    if (!data) return
    const isFirst = this.#at.every((count) => count === 0)
    const placed = isFirst ? data : placeReasoning(data, this.#at)
    this.message.thought('', { type: 'reasoning.encrypted', data: placed, ...this.#place(this.message.nextPiece()), ...named })
  }

  #place(index: number): { readonly id: string; readonly format: string; readonly index: number } {
    return { id: this.#id, format: this.#format, index }
  }
}

/** A call of the caller's tool. */
export class ChatCall extends ChatItem<FunctionCallItem | CustomToolCallItem> {
  #index = 0
  #sent = 0

  override open(): void {
    super.open()
    const { type, call_id: id, name } = this.inner.snapshot('incomplete') as FunctionCallItem | CustomToolCallItem
    this.#index = this.message.openCall(type === 'function_call' ? 'function' : 'custom', id, name)
  }

  protected tell(event: ItemEvent): void {
    if (event.type !== 'arguments-delta') return
    this.#sent += event.delta.length
    this.message.callText(this.#index, event.delta, event.plain)
  }

  /** The part of the arguments that no delta contained. */
  protected ended(item: FunctionCallItem | CustomToolCallItem): void {
    const text = item.type === 'function_call' ? item.arguments : item.input
    if (text.length > this.#sent) this.message.callText(this.#index, text.slice(this.#sent), false)
    if (item.status === 'incomplete') this.message.broken = true
  }
}

/** What the gateway or the provider did by itself. Pictures are shown; of everything else this format shows only the cost. */
export class ChatOther extends ChatItem<OtherItem> {
  override open(): void {
    super.open()
    refuseItemForCaller(this.inner)
  }

  protected tell(): void {
    // Progress has no place in this format.
  }

  protected ended(item: OtherItem): void {
    const picture = shownPicture(item)
    if (picture !== undefined) this.message.image('url' in picture ? picture.url : `data:${picture.mediaType};base64,${picture.data}`)
  }
}
