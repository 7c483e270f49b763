import type { ModelEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/item.ts'
import { brokenAnswer } from '../shared/errors.ts'
import { asString, isObject } from '../shared/json.ts'
import { AnswerItem, kindOfItem } from './answer-item.ts'
import type { FinalPart } from './content-parts.ts'
import { ItemWriter } from './item-writer.ts'
import type { AnswerContext, DeltaDetail } from './item-writer.ts'
import type { DeltaKind } from './scan-delta.ts'

const MAX_ITEMS = 2048

const KIND_OF_DELTA = { text: 'message', refusal: 'message', summary: 'reasoning', reasoning: 'reasoning', arguments: 'call', input: 'call' } as const
const TYPE_OF_DELTA = {
  text: 'message',
  refusal: 'message',
  summary: 'reasoning',
  reasoning: 'reasoning',
  arguments: 'function_call',
  input: 'custom_tool_call',
} as const

/**
 * The items of one answer by the upstream's `output_index`: starts them, forwards their deltas, completes what the deltas left out when they are
 * done, and ends each exactly once. Upstream item ids are never forwarded.
 */
export class Answer {
  /** Writes the items, and knows what was written so far. */
  readonly writer: ItemWriter
  readonly ran: AnswerContext['ran']

  readonly #providerName: string
  readonly #items: AnswerItem[] = []
  readonly #byIndex = new Map<number, AnswerItem>()
  readonly #indexOfId = new Map<string, number>()
  #lastIndex = 0

  constructor(context: AnswerContext) {
    this.writer = new ItemWriter(context)
    this.ran = context.ran
    this.#providerName = context.providerName
  }

  /** The item of a frame: by `output_index`, or else by item id, or else the item that was announced last. */
  indexOf(frame: JsonObject): number {
    const index = frame['output_index']
    if (typeof index === 'number' && Number.isInteger(index) && index >= 0) return index
    const id = asString(frame['item_id'])
    return (id === undefined ? undefined : this.#indexOfId.get(id)) ?? this.#lastIndex
  }

  announce(frame: JsonObject, item: JsonObject, out: ModelEvent[]): void {
    const index = typeof frame['output_index'] === 'number' ? this.indexOf(frame) : this.#items.length
    const id = asString(item['id'])
    if (id !== undefined) this.#indexOfId.set(id, index)
    const open = this.#byIndex.get(index)
    if (open !== undefined && !open.closed) {
      if (isSameItem(open, item)) {
        open.announced = item
        if (!open.started) this.writer.start(open, item, out)
        return
      }
      // A server that gives every item the same index and forgets to close them.
      this.writer.finish(open, undefined, out)
    }
    const created = this.#create(asString(item['type']) ?? 'message', item)
    this.#place(index, created)
    this.writer.start(created, item, out)
  }

  delta(kind: DeltaKind | 'refusal', index: number, partIndex: number, delta: string, detail: DeltaDetail, out: ModelEvent[]): void {
    if (delta === '') return
    let item = this.#byIndex.get(index)
    if (item === undefined || item.closed || item.kind !== KIND_OF_DELTA[kind]) item = this.#open(index, TYPE_OF_DELTA[kind], out)
    if (kind === 'arguments' || kind === 'input') this.writer.appendArguments(item, delta, detail === 'plain', out)
    else this.writer.appendText(item, item.part(kind, partIndex), delta, detail, out)
  }

  annotation(index: number, partIndex: number, value: unknown, out: ModelEvent[]): void {
    const item = this.#byIndex.get(index)
    if (item === undefined || item.closed || item.kind !== 'message') return
    const part = item.part('text', partIndex)
    part.annotations++
    this.writer.annotate(item, part, value, out)
  }

  /** A part that the upstream reports as done: its text may have come without deltas, or with too few. */
  completePart(index: number, partIndex: number, final: FinalPart, out: ModelEvent[]): void {
    if (final.text === '' && final.annotations.length === 0) return
    const wanted = KIND_OF_DELTA[final.kind]
    const known = this.#byIndex.get(index)
    if (known?.closed) return
    const item = known?.kind === wanted ? known : this.#open(index, wanted, out)
    this.writer.completePart(item, item.part(final.kind, partIndex), final, out)
  }

  /** The complete arguments or input of a call, before the item itself is done. */
  completeArguments(kind: 'arguments' | 'input', index: number, complete: string, out: ModelEvent[]): void {
    const known = this.#byIndex.get(index)
    if (known?.closed) return
    const item = known?.kind === 'call' ? known : this.#open(index, TYPE_OF_DELTA[kind], out)
    this.writer.appendMissing(item, complete, out)
  }

  progress(index: number, name: string, fields: { readonly [field: string]: unknown } | undefined, out: ModelEvent[]): boolean {
    const item = this.#byIndex.get(index)
    if (item === undefined || item.closed || item.kind !== 'other') return false
    out.push(fields === undefined ? { type: 'item-event', key: item.key, name } : { type: 'item-event', key: item.key, name, fields })
    return true
  }

  done(frame: JsonObject, item: JsonObject, out: ModelEvent[]): void {
    const id = asString(item['id'])
    const index =
      typeof frame['output_index'] === 'number' ? this.indexOf(frame) : ((id === undefined ? undefined : this.#indexOfId.get(id)) ?? this.#lastIndex)
    const known = this.#byIndex.get(index)
    const type = asString(item['type']) ?? known?.type ?? 'message'
    if (known !== undefined && known.kind === kindOfItem(type)) {
      // A second end of the same item changes nothing; another item with the same index is new.
      if (!known.closed) return this.writer.finish(known, item, out)
      if (isSameItem(known, item)) return
    }
    const created = this.#create(type, item)
    this.#place(index, created)
    this.writer.finish(created, item, out)
  }

  /**
   * The upstream's final list of items: completes those that are still open and adds those that were never streamed. A list that omits streamed items
   * (some servers send an empty one) removes nothing. `cut` marks open items as incomplete.
   */
  settle(output: readonly unknown[], cut: boolean, out: ModelEvent[]): void {
    const finals = output.filter(isObject)
    const unmatched = new Set(this.#items)
    const matches = finals.map((final, index) => {
      const item = this.#byIndex.get(index)
      if (item === undefined || !unmatched.has(item) || !isSameItem(item, final)) return undefined
      unmatched.delete(item)
      return item
    })
    for (const [index, final] of finals.entries()) {
      let item = matches[index]
      if (item === undefined) {
        for (const candidate of unmatched) {
          if (!isSameItem(candidate, final)) continue
          item = candidate
          unmatched.delete(candidate)
          break
        }
      }
      if (item?.closed) continue
      this.writer.finish(item ?? this.#create(asString(final['type']) ?? 'message', final), final, out, cut)
    }
    for (const item of this.#items) if (!item.closed) this.writer.finish(item, undefined, out, cut)
  }

  #create(type: string, announced: JsonObject): AnswerItem {
    if (this.#items.length >= MAX_ITEMS) throw brokenAnswer(this.#providerName, `sent an answer with more than ${MAX_ITEMS} items`)
    const item = new AnswerItem(String(this.#items.length), type, announced)
    this.#items.push(item)
    return item
  }

  #place(index: number, item: AnswerItem): void {
    this.#byIndex.set(index, item)
    this.#lastIndex = index
  }

  /** Opens an item whose first delta comes before (or without) its announcement. */
  #open(index: number, type: string, out: ModelEvent[]): AnswerItem {
    const known = this.#byIndex.get(index)
    if (known !== undefined && !known.closed) this.writer.finish(known, undefined, out)
    const item = this.#create(type, {})
    this.#place(index, item)
    this.writer.start(item, {}, out)
    return item
  }
}

/**
 * Whether two forms can be the same item: the same type, and the same call if both name it. Item ids do not count, because some servers change them.
 */
function isSameItem(item: AnswerItem, other: JsonObject): boolean {
  const type = asString(other['type']) ?? 'message'
  if (type !== item.type) return false
  const callId = asString(other['call_id'])
  const known = asString(item.announced['call_id'])
  return !callId || !known || callId === known
}
