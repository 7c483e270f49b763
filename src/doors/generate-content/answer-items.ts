import type { CustomToolCallItem, FunctionCallItem, JsonObject, MessageItem, OtherItem, OutputItem, ReasoningItem } from '../../core/item.ts'
import type { Place } from '../../core/reasoning-envelope.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { isJsonObject, parseJsonText, wellFormedJson } from '../../lib/json.ts'
import type { ItemEvent, OpenItem } from '../responses/open-item.ts'
import { shownPicture } from '../shared/shown-picture.ts'
import { refuseItemForCaller, TranslatedItem } from '../shared/translated-item.ts'
import type { Grounding } from './grounding.ts'
import type { PartWriter } from './part-writer.ts'

/** Output items while they are written as parts. */
abstract class AnswerItem<I extends OutputItem> extends TranslatedItem<I> {
  readonly parts: PartWriter

  constructor(inner: OpenItem, parts: PartWriter) {
    super(inner)
    this.parts = parts
  }
}

/** Text, including refusals. Readers join the texts of an answer, so messages of several turns are separated by an empty line. */
export class ContentText extends AnswerItem<MessageItem> {
  readonly #grounding: Grounding
  readonly #isWord: boolean
  #speaks = false
  #held = ''

  /** `isWord`: the caller wants a single word without JSON around it. */
  constructor(inner: OpenItem, parts: PartWriter, grounding: Grounding, isWord: boolean) {
    super(inner, parts)
    this.#grounding = grounding
    this.#isWord = isWord
  }

  protected tell(event: ItemEvent): void {
    if ((event.type !== 'text-delta' && event.type !== 'refusal-delta') || event.delta === '') return
    if (event.type === 'refusal-delta') this.parts.refusal += event.delta
    if (!this.#speaks) {
      this.#speaks = true
      if (this.parts.speaks) this.parts.text(this.#grounding.separate(), false)
    }
    if (this.#isWord) this.#held += event.delta
    else this.parts.text(event.delta, event.type === 'text-delta' ? event.plain : false)
  }

  protected ended({ content }: MessageItem): void {
    if (this.#held !== '') this.parts.text(bareWord(this.#held), false)
    if (typeof content !== 'string') this.#grounding.said(content)
  }
}

/** Reasoning: its text for callers who asked for it, and the data that must come back unchanged with the next part. */
export class ContentThoughts extends AnswerItem<ReasoningItem> {
  readonly #shows: boolean
  readonly #began: Place
  #part = ''

  constructor(inner: OpenItem, parts: PartWriter, shows: boolean) {
    super(inner, parts)
    this.#shows = shows
    this.#began = parts.beginThought()
  }

  /** Called only for items that let text behind them pass. */
  pause(): void {
    this.inner.pause?.()
  }

  protected tell(event: ItemEvent): void {
    if (!this.#shows || event.type !== 'reasoning-delta' || event.delta === '') return
    const part = `${event.kind} ${event.part ?? ''}`
    if (this.#part !== '' && part !== this.#part) this.parts.thought('\n\n', false)
    this.#part = part
    this.parts.thought(event.delta, event.plain)
  }

  protected ended({ encrypted_content: sealed }: ReasoningItem): void {
    this.parts.endThought(this.#began, sealed)
  }
}

/** A call of the caller's function. This format has calls only as a whole. One that was cut off is left out, because nobody may run it. */
export class ContentCall extends AnswerItem<FunctionCallItem | CustomToolCallItem> {
  protected tell(): void {
    // Written as a whole at its end.
  }

  protected ended(item: FunctionCallItem | CustomToolCallItem): void {
    if (item.status === 'incomplete') this.parts.broken = true
    else this.parts.call(item.call_id, item.name, argsOf(item.type === 'function_call' ? item.arguments : item.input))
  }
}

/**
 * What the gateway or the provider did by itself: code and pictures are shown, pages and searches are listed as sources, everything else is only counted
 * in the usage.
 */
export class ContentOther extends AnswerItem<OtherItem> {
  readonly #grounding: Grounding

  constructor(inner: OpenItem, parts: PartWriter, grounding: Grounding) {
    super(inner, parts)
    this.#grounding = grounding
  }

  override open(): void {
    super.open()
    refuseItemForCaller(this.inner)
  }

  protected tell(): void {
    // Progress has no place in this format.
  }

  protected ended(item: OtherItem): void {
    const picture = shownPicture(item)
    if (picture !== undefined) {
      const part = 'url' in picture ? { fileData: { fileUri: picture.url } } : { inlineData: { mimeType: picture.mediaType, data: picture.data } }
      this.parts.whole(inside(part))
    } else if (item.type === 'code_interpreter_call') this.#code(item)
    else this.#grounding.did(item)
  }

  #code({ code, outputs, status }: OtherItem): void {
    if (typeof code === 'string') this.parts.whole(inside({ executableCode: { language: 'PYTHON', code } }))
    if (!Array.isArray(outputs)) return
    const output = (outputs as readonly JsonObject[]).map(({ logs }) => (typeof logs === 'string' ? logs : '')).join('')
    const outcome = status === 'failed' ? 'OUTCOME_FAILED' : status === 'incomplete' ? 'OUTCOME_DEADLINE_EXCEEDED' : 'OUTCOME_OK'
    this.parts.whole(inside({ codeExecutionResult: { outcome, output } }))
  }
}

/** The members of an object as JSON, without its braces. */
const inside = (members: object): string => wellFormedJson(JSON.stringify(members)).slice(1, -1)

/** The string that a JSON text contains; any other text stays as it is. */
function bareWord(text: string): string {
  try {
    const value: unknown = parseJsonText(text)
    return typeof value === 'string' ? value.toWellFormed() : text
  } catch {
    return text
  }
}

/** Models are supposed to write objects; anything else they write is kept, too. Numbers stay exactly as written. */
function argsOf(text: string): string {
  if (text === '') return '{}'
  const args = text.trimStart().startsWith('{') ? parseExact(text) : undefined
  return wellFormedJson(JSON.stringify(isJsonObject(args) ? args : { input: text }))
}
