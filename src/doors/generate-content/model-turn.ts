import type { InputItem, InputPart, OtherItem, ReasoningItem } from '../../core/item.ts'
import { openReasoning, type Place } from '../../core/reasoning-envelope.ts'
import { readSeal } from './seal.ts'

/** Marks code execution among the items of other vendors' tools; the id shared by code and result follows it. */
const CODE = 'code_execution'

/** One answer of the history while its parts are read: reasoning, text, calls. */
export class ModelTurn {
  readonly #items: InputItem[] = []
  #parts: InputPart[] = []
  #thoughts = ''
  /** Seals that are already where they belong. */
  readonly #seen = new Set<string>()
  /** Thoughts whose seal could not be put where they belong. */
  readonly #placed: { readonly item: ReasoningItem; readonly at: Place }[] = []

  /** A thought with readable text. */
  thought(text: string, signature: string | null | undefined): void {
    this.#message()
    this.#thoughts += text
    if (signature) this.seal(signature)
  }

  /** Ends the thoughts before a part of another kind, using the signature on that part. */
  seal(signature: string | null | undefined): void {
    const seal = signature ? readSeal(signature) : undefined
    if (this.#thoughts === '' && seal === undefined) return
    this.#message()
    const summary = this.#thoughts === '' ? [] : ([{ type: 'summary_text', text: this.#thoughts }] as const)
    this.#thoughts = ''
    const item: ReasoningItem = { type: 'reasoning', summary, ...seal }
    const { at, ...payload } = openReasoning(seal?.encrypted_content) ?? {}
    const key = JSON.stringify(payload)
    if (at === undefined) {
      this.#seen.add(key)
      this.#items.push(item)
    }
    // Text that led to a call carries the seal of its thought, and so does the call. A thought in between is one without a seal.
    else if (!this.#seen.has(key)) this.#placed.push({ item, at })
    else if (summary.length > 0) this.#items.push({ type: 'reasoning', summary })
  }

  text(text: string): void {
    if (text === '') return
    const last = this.#parts.at(-1)
    // Pieces of a stream form one text.
    if (last?.type === 'output_text') this.#parts[this.#parts.length - 1] = { type: 'output_text', text: last.text + text }
    else this.#parts.push({ type: 'output_text', text })
  }

  part(part: InputPart): void {
    this.#parts.push(part)
  }

  item(item: InputItem): void {
    this.#message()
    this.#items.push(item)
  }

  code({ id, code }: { readonly id?: string | null; readonly code: string }): void {
    const item = { type: 'code_interpreter_call', status: 'completed', code, container_id: id ? `${CODE}:${id}` : CODE, outputs: null }
    this.item(item)
  }

  /** The result of the code before it. */
  codeResult({ outcome, output }: { readonly outcome?: string | null; readonly output?: string | null }): void {
    this.#message()
    const last = this.#items.at(-1) as OtherItem | undefined
    const ran = last?.type === 'code_interpreter_call' && last['outputs'] === null ? last : undefined
    const status = outcome == null || outcome === 'OUTCOME_OK' ? 'completed' : outcome === 'OUTCOME_DEADLINE_EXCEEDED' ? 'incomplete' : 'failed'
    const item = { type: 'code_interpreter_call', code: null, container_id: CODE, ...ran, status, outputs: [{ type: 'logs', logs: output ?? '' }] }
    if (ran === undefined) this.#items.push(item)
    else this.#items[this.#items.length - 1] = item
  }

  items(): readonly InputItem[] {
    this.seal(undefined)
    this.#message()
    return this.#placed.length === 0 ? this.#items : this.#inPlace()
  }

  #message(): void {
    if (this.#parts.length > 0) this.#items.push({ type: 'message', role: 'assistant', content: this.#parts })
    this.#parts = []
  }

  /** The items with every thought where it was; a text with a thought in its middle is divided there. */
  #inPlace(): readonly InputItem[] {
    const waiting = this.#placed.toSorted((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1] || (a.at[2] ?? 0) - (b.at[2] ?? 0))
    const items: InputItem[] = []
    let next = 0
    let text = 0
    let calls = 0
    /** Inserts the thoughts whose place is up to this offset of the text. */
    const put = (end: number, onInsert = (_at: Place): void => {}): void => {
      for (; next < waiting.length; next++) {
        const { item, at } = waiting[next]!
        if (at[0] > end || at[1] > calls) return
        onInsert(at)
        items.push(item)
      }
    }
    for (const item of this.#items) {
      const sealed = waiting[next]
      if (sealed?.at[0] === text && sealed.at[1] === calls && isUnsealed(item) && sealed.item.summary?.length === 0) {
        items.push({ ...item, ...sealed.item, summary: item.summary })
        next++
        continue
      }
      // A thought whose seal is where it belongs began before all others of that place.
      if (item.type !== 'reasoning') put(text)
      const words = textIn(item)
      let from = 0
      if (words !== undefined)
        put(text + words.length - 1, (at) => {
          const to = Math.max(from, at[0] - text)
          if (to > from) items.push(textMessage(words.slice(from, to)))
          from = to
        })
      items.push(from === 0 ? item : textMessage(words!.slice(from)))
      text += words?.length ?? 0
      if (item.type === 'function_call') calls++
    }
    return [...items, ...waiting.slice(next).map(({ item }) => item)]
  }
}

/** A readable thought whose seal went to a later part. */
const isUnsealed = (item: InputItem): item is ReasoningItem =>
  item.type === 'reasoning' && item['encrypted_content'] === undefined && item['signature'] === undefined

/** The text of a message that consists of text alone. */
function textIn(item: InputItem): string | undefined {
  if (item.type !== 'message') return undefined
  const { content } = item as { readonly content: readonly InputPart[] }
  const [only] = content
  return content.length === 1 && only?.type === 'output_text' ? only.text : undefined
}

const textMessage = (text: string): InputItem => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
