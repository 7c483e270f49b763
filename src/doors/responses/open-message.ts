import type { TextDelta } from '../../core/event.ts'
import type { Annotation, Logprob, MessageItem } from '../../core/item.ts'
import { carryNative } from '../../core/native-citation.ts'
import { placeOf, statusOf, type ClosingStatus, type ItemEvent, type ItemPatch, type OpenItem } from './open-item.ts'
import { wholeValue } from './whole-characters.ts'
import { deltaHead, quote, type WireWriter } from './wire.ts'

interface TextPart {
  readonly type: 'output_text'
  text: string
  readonly annotations: Annotation[]
  readonly logprobs: Logprob[]
}
interface RefusalPart {
  readonly type: 'refusal'
  refusal: string
}

const TEXT_DELTA = deltaHead('response.output_text.delta')
const REFUSAL_DELTA = deltaHead('response.refusal.delta')
const NO_LOGPROBS = ',"logprobs":[]}\n\n'

/** An assistant message: text and refusal parts, one open at a time. */
export class OpenMessage implements OpenItem {
  readonly #wire: WireWriter
  readonly #base: { readonly type: 'message'; readonly id: string; readonly role: 'assistant'; readonly phase?: MessageItem['phase'] }
  readonly #outputIndex: number
  readonly #place: string
  readonly #parts: (TextPart | RefusalPart)[] = []
  /** The part number that the producer gave to the open part. */
  #openPart: number | undefined
  #partIsOpen = false
  /** The highest part number of the producer so far. */
  #lastPart = -1
  /** `,"item_id":...,"content_index":n,"delta":` of the open part. */
  #deltaMiddle = ''

  constructor(wire: WireWriter, id: string, outputIndex: number, start: MessageItem) {
    this.#wire = wire
    this.#outputIndex = outputIndex
    this.#place = placeOf(id, outputIndex)
    this.#base = { type: 'message', id, role: 'assistant', ...(start.phase == null ? {} : { phase: start.phase }) }
  }

  open(): void {
    if (!this.#wire.enabled) return
    const item = { ...this.#base, status: 'in_progress', content: [] }
    this.#wire.event('response.output_item.added', `"output_index":${this.#outputIndex},"item":${JSON.stringify(item)}`)
  }

  apply(event: ItemEvent): void {
    switch (event.type) {
      case 'text-delta':
        return this.#text(event)
      case 'refusal-delta': {
        const part = this.#part('refusal', event.part) as RefusalPart
        part.refusal += event.delta
        if (this.#wire.enabled) this.#wire.delta(REFUSAL_DELTA, this.#deltaMiddle, JSON.stringify(event.delta), '}\n\n')
        return
      }
      case 'annotation': {
        const part = this.#cited(event.part)
        if (part === undefined) return
        const annotation = carryNative(event.annotation, wholeValue(event.annotation))
        const index = part.annotations.push(annotation) - 1
        const members = `${this.#place},"content_index":${this.#parts.length - 1},"annotation_index":${index},"annotation":${JSON.stringify(annotation)}`
        this.#wire.event('response.output_text.annotation.added', members)
        return
      }
      default:
        throw new Error(`a message takes no ${event.type}`)
    }
  }

  close(status: ClosingStatus, patch: ItemPatch | undefined): MessageItem {
    this.#closePart()
    return this.snapshot(status, patch)
  }

  snapshot(status: ClosingStatus, patch?: ItemPatch): MessageItem {
    return { ...this.#base, status: statusOf(status, patch), content: this.#parts }
  }

  #text(event: TextDelta): void {
    const part = this.#part('output_text', event.part) as TextPart
    part.text += event.delta
    for (const logprob of event.logprobs ?? []) part.logprobs.push(logprob)
    if (!this.#wire.enabled) return
    const tail = event.logprobs === undefined ? NO_LOGPROBS : `,"logprobs":${JSON.stringify(event.logprobs)}}\n\n`
    this.#wire.delta(TEXT_DELTA, this.#deltaMiddle, quote(event.delta, event.plain), tail)
  }

  /** The part that a citation belongs to: the open one, or a new one that begins with it. Ended parts accept no more citations, and refusals have none. */
  #cited(number: number | undefined): TextPart | undefined {
    const isNew = number === undefined ? this.#parts.length === 0 : number > this.#lastPart
    const last = this.#parts.at(-1)
    if (!isNew && (last?.type !== 'output_text' || !this.#partIsOpen || (number !== undefined && number !== this.#openPart))) return undefined
    return this.#part('output_text', number) as TextPart
  }

  /** The open part, if it has this type and number; otherwise a new one. */
  #part(type: 'output_text' | 'refusal', number: number | undefined): TextPart | RefusalPart {
    if (this.#partIsOpen) {
      const open = this.#parts[this.#parts.length - 1]!
      if (open.type === type && (number === undefined || number === this.#openPart)) return open
      this.#closePart()
    }
    const part: TextPart | RefusalPart = type === 'refusal' ? { type, refusal: '' } : { type, text: '', annotations: [], logprobs: [] }
    const index = this.#parts.push(part) - 1
    this.#partIsOpen = true
    this.#openPart = number
    if (number !== undefined && number > this.#lastPart) this.#lastPart = number
    this.#deltaMiddle = `,${this.#place},"content_index":${index},"delta":`
    this.#wire.event('response.content_part.added', `${this.#place},"content_index":${index},"part":${JSON.stringify(part)}`)
    return part
  }

  #closePart(): void {
    if (!this.#partIsOpen) return
    this.#partIsOpen = false
    if (!this.#wire.enabled) return
    const index = this.#parts.length - 1
    const part = this.#parts[index]!
    const place = `${this.#place},"content_index":${index}`
    if (part.type === 'refusal') {
      const refusal = JSON.stringify(part.refusal)
      this.#wire.event('response.refusal.done', `${place},"refusal":${refusal}`)
      this.#wire.event('response.content_part.done', `${place},"part":{"type":"refusal","refusal":${refusal}}`)
    } else {
      const text = JSON.stringify(part.text)
      const logprobs = part.logprobs.length === 0 ? '[]' : JSON.stringify(part.logprobs)
      const annotations = part.annotations.length === 0 ? '[]' : JSON.stringify(part.annotations)
      this.#wire.event('response.output_text.done', `${place},"text":${text},"logprobs":${logprobs}`)
      const done = `"part":{"type":"output_text","text":${text},"annotations":${annotations},"logprobs":${logprobs}}`
      this.#wire.event('response.content_part.done', `${place},${done}`)
    }
  }
}
