import type { FinishReason, ModelEvent, Stopped } from '../../core/event.ts'
import type { Annotation, Logprob, OutputItem } from '../../core/item.ts'
import type { Usage } from '../../core/usage.ts'
import { CallWriter } from './call-writer.ts'
import type { OpenCall } from './call-writer.ts'
import { isPlainText } from './plain-text.ts'
import { memberOf, type ToolNames } from './tool-names.ts'

/** Fields of a finished reasoning item that are known only at its end. */
export type ReasoningFields = { readonly encrypted_content?: string; readonly signature?: string; readonly format?: string }

/** What is known about an answer at its end. */
interface EndFields {
  readonly nativeReason?: string
  readonly stopped?: Stopped
  readonly paused?: true
  readonly usage?: Usage
  readonly serviceTier?: string
}

export interface AnswerWriterOptions {
  /** Maps the endpoint's tool names back; read at the first call. */
  readonly names: () => ToolNames
  /** Called when a reasoning item ends, for the fields that let it survive across turns. */
  readonly endReasoning?: () => ReasoningFields | undefined
}

/**
 * Writes model events and keeps their rules: an item is opened by its first content, text closes reasoning and reasoning closes text, several calls
 * may be open at once, and everything is closed exactly once, at the latest by `end`.
 */
export class AnswerWriter {
  /** Where events go; set at the start of every push. */
  out: ModelEvent[] = []
  /** Key of the open message or reasoning. */
  messageKey: string | undefined
  reasoningKey: string | undefined
  /** UTF-16 code units of text in the open message. */
  textLength = 0
  /** In any message. */
  hasText = false
  hasContent = false
  hasCalls = false
  /**
   * Citations may come after the calls and pictures that follow a message. The message then stays open beside them until other text or reasoning
   * comes, or the answer ends. What follows it is shown only then, so this is done only for answers from sources.
   */
  mayBeCited = false
  readonly #options: AnswerWriterOptions
  /** Most answers have none. */
  #calls: CallWriter | undefined
  #names: ToolNames | undefined
  #count = 0
  #started = false
  #refused = false
  /** Something besides reasoning and calls was said. */
  #spoke = false
  /** Something else has begun, but the message's text may still be cited. */
  #left: { readonly key: string; readonly length: number } | undefined
  /** Where the text of the open message ended when it was refused. */
  #refusedAt = -1
  /** White space before any text: part of the answer only if text follows. */
  #heldSpace = ''
  #heldLogprobs: Logprob[] = []

  constructor(options: AnswerWriterOptions) {
    this.#options = options
  }

  get started(): boolean {
    return this.#started
  }

  start(fields: Omit<Extract<ModelEvent, { readonly type: 'response-start' }>, 'type'>): void {
    if (this.#started) return
    this.#started = true
    this.out.push({ type: 'response-start', ...fields })
  }

  text(delta: string, logprobs?: readonly Logprob[]): void {
    if (delta === '') return
    if (this.messageKey === undefined) {
      if (delta.trim() === '') {
        this.#heldSpace += delta
        for (const logprob of logprobs ?? []) this.#heldLogprobs.push(logprob)
        return
      }
      this.#openMessage()
      delta = this.#heldSpace + delta
      if (this.#heldLogprobs.length > 0) logprobs = [...this.#heldLogprobs, ...(logprobs ?? [])]
      this.#heldSpace = ''
      this.#heldLogprobs = []
    }
    this.#emitText(delta, logprobs)
  }

  /** Text for the open message, known to be plain. */
  plainText(key: string, delta: string): void {
    this.textLength += delta.length
    this.hasText = true
    this.out.push({ type: 'text-delta', key, delta, plain: true })
  }

  refusal(delta: string): void {
    if (delta === '') return
    // Text that may still be cited stays open in a message of its own: after a refusal its part would be closed.
    const apart = this.mayBeCited && this.#speaking && this.textLength > 0
    if (apart) this.closeMessage()
    this.#openMessage(apart)
    this.#refused = true
    this.#refusedAt = this.textLength
    this.out.push({ type: 'refusal-delta', key: this.messageKey!, delta })
  }

  /** True if the answer contains a refusal. */
  get refused(): boolean {
    return this.#refused
  }

  /** The open message ends with text: a refusal cannot be cited. */
  get #speaking(): boolean {
    return this.messageKey !== undefined && this.#refusedAt !== this.textLength
  }

  /** UTF-16 code units of the text that a citation refers to; undefined if there is none. */
  get citableLength(): number | undefined {
    return this.#speaking ? this.textLength : this.#left?.length
  }

  /** False if no text is open that the citation could belong to. */
  annotation(annotation: Annotation): boolean {
    const key = this.#speaking ? this.messageKey : this.#left?.key
    if (key === undefined) return false
    this.out.push({ type: 'annotation', key, annotation })
    return true
  }

  /** No more citations will come. */
  endCitations(): void {
    this.mayBeCited = false
    this.#endLeft()
  }

  #endLeft(): void {
    if (this.#left === undefined) return
    this.out.push({ type: 'item-end', key: this.#left.key })
    this.#left = undefined
  }

  reasoning(kind: 'text' | 'summary', delta: string, part?: number): void {
    if (delta === '') return
    this.#openReasoning()
    const plain = isPlainText(delta)
    this.out.push({
      type: 'reasoning-delta',
      key: this.reasoningKey!,
      kind,
      delta,
      ...(part === undefined ? {} : { part }),
      ...(plain ? { plain } : {}),
    })
  }

  /** Reasoning text for the open item, known to be plain. */
  plainReasoning(key: string, delta: string): void {
    this.out.push({ type: 'reasoning-delta', key, kind: 'text', delta, plain: true })
  }

  /** Opens an empty reasoning item if none is open: for a blob or a signature that comes without text. */
  openReasoning(): void {
    this.#openReasoning()
  }

  /** A reasoning item with nothing but its fields. */
  opaqueReasoning(fields: ReasoningFields): void {
    this.closeReasoning()
    const key = this.#nextKey('r')
    this.hasContent = true
    this.out.push({ type: 'item-start', key, item: { type: 'reasoning', summary: [] } }, { type: 'item-end', key, item: fields })
  }

  closeReasoning(status?: 'incomplete'): void {
    if (this.reasoningKey === undefined) return
    const fields = { ...this.#options.endReasoning?.(), ...(status === undefined ? {} : { status }) }
    this.out.push({ type: 'item-end', key: this.reasoningKey, ...(Object.keys(fields).length === 0 ? {} : { item: fields }) })
    this.reasoningKey = undefined
  }

  closeMessage(status?: 'incomplete'): void {
    if (this.messageKey === undefined) return
    if (this.mayBeCited && status === undefined && this.#speaking) {
      this.#endLeft()
      this.#left = { key: this.messageKey, length: this.textLength }
    } else this.out.push({ type: 'item-end', key: this.messageKey, ...(status === undefined ? {} : { item: { status } }) })
    this.messageKey = undefined
    this.textLength = 0
    this.#refusedAt = -1
  }

  /** Whether this may be the beginning of a tool's name. */
  beginsName(name: string): boolean {
    return (this.#names ??= this.#options.names()).begins(name)
  }

  /** Opens a call; `name` is the endpoint's, or that of a member of one of its own sets of tools. Earlier calls that are complete end here. */
  openCall(callId: string, name: string, toolset?: string): OpenCall {
    this.closeReasoning()
    this.closeMessage()
    this.closeCompleteCalls()
    this.#heldSpace = ''
    this.#heldLogprobs = []
    this.#names ??= this.#options.names()
    this.hasContent = true
    this.hasCalls = true
    this.#calls ??= new CallWriter(this)
    return this.#calls.open(this.#nextKey('c'), callId, toolset === undefined ? this.#names.origin(name) : memberOf(toolset, name))
  }

  /** More of a call's arguments. What comes after they are complete is noise and ignored. */
  arguments(call: OpenCall, delta: string): void {
    this.#calls?.arguments(call, delta)
  }

  /** See `CallWriter.close`. */
  closeCall(call: OpenCall, cut = false): void {
    this.#calls?.close(call, cut)
  }

  closeCompleteCalls(): void {
    this.#calls?.closeComplete()
  }

  /** An item that arrives whole: an image, or a built-in tool's call. */
  wholeItem(item: OutputItem): void {
    this.closeReasoning()
    this.closeMessage()
    const key = this.#nextKey('i')
    this.hasContent = true
    this.#spoke = true
    this.out.push({ type: 'item-start', key, item }, { type: 'item-end', key })
  }

  /** White space is the answer if there is no other. */
  flushHeldSpace(): void {
    if (this.#heldSpace === '' || this.hasCalls || this.#spoke) return
    this.#openMessage()
    this.#emitText(this.#heldSpace, this.#heldLogprobs.length > 0 ? this.#heldLogprobs : undefined)
    this.#heldSpace = ''
  }

  /** Closes what is open and ends the answer. */
  end(stop: FinishReason, fields: EndFields = {}): void {
    // A refusal without text has cut the answer off, as a filter does.
    const reason = stop === 'refusal' && this.hasContent && !this.#refused ? 'content_filter' : stop
    const cut = fields.paused !== true && (reason === 'length' || reason === 'content_filter')
    this.closeReasoning(cut ? 'incomplete' : undefined)
    this.endCitations()
    this.closeMessage(cut ? 'incomplete' : undefined)
    this.#calls?.closeAll(cut)
    this.out.push({ type: 'response-end', reason, ...fields })
  }

  #emitText(delta: string, logprobs: readonly Logprob[] | undefined): void {
    this.textLength += delta.length
    this.hasText = true
    const plain = isPlainText(delta)
    this.out.push({
      type: 'text-delta',
      key: this.messageKey!,
      delta,
      ...(logprobs === undefined || logprobs.length === 0 ? {} : { logprobs }),
      ...(plain ? { plain } : {}),
    })
  }

  #openMessage(keepsLeft = false): void {
    if (this.messageKey !== undefined) return
    this.closeReasoning()
    if (!keepsLeft) this.#endLeft()
    this.closeCompleteCalls()
    this.messageKey = this.#nextKey('m')
    this.hasContent = true
    this.#spoke = true
    this.out.push({ type: 'item-start', key: this.messageKey, item: { type: 'message', role: 'assistant', content: [] } })
  }

  #openReasoning(): void {
    if (this.reasoningKey !== undefined) return
    this.closeMessage()
    this.#endLeft()
    this.closeCompleteCalls()
    this.reasoningKey = this.#nextKey('r')
    this.hasContent = true
    this.out.push({ type: 'item-start', key: this.reasoningKey, item: { type: 'reasoning', summary: [] } })
  }

  #nextKey(prefix: string): string {
    return `${prefix}${this.#count++}`
  }
}
