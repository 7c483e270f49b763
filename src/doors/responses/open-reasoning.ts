import type { ReasoningItem } from '../../core/item.ts'
import { placeOf, statusOf, type ClosingStatus, type ItemEvent, type ItemPatch, type OpenItem } from './open-item.ts'
import { deltaHead, quote, type WireWriter } from './wire.ts'

const TEXT_DELTA = deltaHead('response.reasoning_text.delta')
const SUMMARY_DELTA = deltaHead('response.reasoning_summary_text.delta')
const TAIL = '}\n\n'

/** Fields a producer may set when reasoning ends. */
const CLOSING_FIELDS = ['encrypted_content', 'signature', 'format'] as const

/** One list of parts of a reasoning item, summary or raw text: the last may be open. */
interface PartList {
  readonly kind: 'text' | 'summary'
  readonly texts: string[]
  isOpen: boolean
  number: number | undefined
  deltaMiddle: string
}

/** A reasoning item. Raw text and summary are separate lists; unless text is mirrored as summary, one part is open at a time. */
export class OpenReasoning implements OpenItem {
  readonly #wire: WireWriter
  readonly #id: string
  readonly #outputIndex: number
  readonly #place: string
  readonly #start: ReasoningItem
  readonly #mirror: boolean
  readonly #text: PartList = { kind: 'text', texts: [], isOpen: false, number: undefined, deltaMiddle: '' }
  readonly #summary: PartList = { kind: 'summary', texts: [], isOpen: false, number: undefined, deltaMiddle: '' }

  constructor(wire: WireWriter, id: string, outputIndex: number, start: ReasoningItem, mirror: boolean) {
    this.#wire = wire
    this.#id = id
    this.#outputIndex = outputIndex
    this.#place = placeOf(id, outputIndex)
    this.#start = start
    this.#mirror = mirror
  }

  open(): void {
    this.#wire.event(
      'response.output_item.added',
      `"output_index":${this.#outputIndex},"item":{"type":"reasoning","id":"${this.#id}","summary":[],"status":"in_progress"}`,
    )
  }

  apply(event: ItemEvent): void {
    if (event.type !== 'reasoning-delta') throw new Error(`a reasoning item takes no ${event.type}`)
    if (event.kind === 'summary') this.#delta(this.#summary, event.delta, event.plain, event.part)
    else {
      this.#delta(this.#text, event.delta, event.plain, event.part)
      if (this.#mirror) this.#delta(this.#summary, event.delta, event.plain, event.part)
    }
  }

  /** Closes the parts: they are complete for the caller, but the item may continue. */
  pause(): void {
    this.#closePart(this.#text)
    this.#closePart(this.#summary)
  }

  close(status: ClosingStatus, patch: ItemPatch | undefined): ReasoningItem {
    this.pause()
    return this.snapshot(status, patch)
  }

  snapshot(status: ClosingStatus, patch?: ItemPatch): ReasoningItem {
    const item: { -readonly [K in keyof ReasoningItem]: ReasoningItem[K] } = {
      type: 'reasoning',
      id: this.#id,
      summary: this.#summary.texts.map((text) => ({ type: 'summary_text', text })),
      status: statusOf(status, patch),
    }
    if (this.#text.texts.length > 0) item.content = this.#text.texts.map((text) => ({ type: 'reasoning_text', text }))
    for (const field of CLOSING_FIELDS) {
      const value = patch?.[field] ?? this.#start[field]
      if (typeof value === 'string') item[field] = value
    }
    return item
  }

  #delta(list: PartList, delta: string, plain: boolean | undefined, number: number | undefined): void {
    if (!list.isOpen || (number !== undefined && number !== list.number)) {
      this.#closePart(list)
      if (!this.#mirror) this.#closePart(list === this.#text ? this.#summary : this.#text)
      this.#openPart(list, number)
    }
    list.texts[list.texts.length - 1] += delta
    if (this.#wire.enabled) this.#wire.delta(list.kind === 'text' ? TEXT_DELTA : SUMMARY_DELTA, list.deltaMiddle, quote(delta, plain), TAIL)
  }

  #openPart(list: PartList, number: number | undefined): void {
    const index = list.texts.push('') - 1
    list.isOpen = true
    list.number = number
    if (list.kind === 'text') {
      const place = `${this.#place},"content_index":${index}`
      list.deltaMiddle = `,${place},"delta":`
      this.#wire.event('response.content_part.added', `${place},"part":{"type":"reasoning_text","text":""}`)
    } else {
      const place = `${this.#place},"summary_index":${index}`
      list.deltaMiddle = `,${place},"delta":`
      this.#wire.event('response.reasoning_summary_part.added', `${place},"part":{"type":"summary_text","text":""}`)
    }
  }

  #closePart(list: PartList): void {
    if (!list.isOpen) return
    list.isOpen = false
    if (!this.#wire.enabled) return
    const index = list.texts.length - 1
    const text = JSON.stringify(list.texts[index])
    if (list.kind === 'text') {
      const place = `${this.#place},"content_index":${index}`
      this.#wire.event('response.reasoning_text.done', `${place},"text":${text}`)
      this.#wire.event('response.content_part.done', `${place},"part":{"type":"reasoning_text","text":${text}}`)
    } else {
      const place = `${this.#place},"summary_index":${index}`
      this.#wire.event('response.reasoning_summary_text.done', `${place},"text":${text}`)
      this.#wire.event('response.reasoning_summary_part.done', `${place},"part":{"type":"summary_text","text":${text}}`)
    }
  }
}
