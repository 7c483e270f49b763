import { GatewayError } from '../../core/error.ts'
import type { FinishReason, ModelEvent, Stopped } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import type { PromptCount, Usage } from '../../core/usage.ts'
import { Fifo } from '../../lib/fifo.ts'
import { AnswerItems, type ItemText } from './answer-items.ts'
import type { AssemblerOptions } from './assembler-options.ts'
import { closeDespite } from './close-despite.ts'
import { mintItemId } from './item-ids.ts'
import type { ClosingStatus, ItemEvent, ItemPatch, OpenItem } from './open-item.ts'
import { hasText, type Slot } from './slot.ts'
import { verdictOf, type Verdict } from './resource.ts'
import { WholeCharacters } from './whole-characters.ts'
import type { AnswerWriter } from './answer-writer.ts'
import { ResponsesWriter } from './responses-writer.ts'

/** A thought that has not ended although the text it led to has begun. */
interface Parked {
  readonly item: OpenItem
  readonly index: number
  readonly slot: Slot
}

const DEFAULT_MAX_CHARS = 64 * 1024 * 1024

/**
 * The only state machine between model events and what the caller reads: it mints ids, counts `sequence_number` and `output_index`, balances the events
 * that open and close things, and ends every answer. The JSON answer is the same fold, ended in one object.
 *
 * States: fresh -> started (created, in_progress written) -> ended (one terminal event written).
 * Items are written one after the other: the oldest open one streams, later ones wait with their events until it ends. Only thoughts let others pass
 * before their end, because text must not wait for what may still come with a thought (encrypted content). Their parts are closed at once, and the rest,
 * at least their own end, is written as soon as no other item is open.
 */
export class Assembler {
  readonly #options: AssemblerOptions
  readonly #writer: AnswerWriter
  readonly #slots = new Map<string, Slot>()
  readonly #queue = new Fifo<string>()
  /** How many messages with text wait: there may be tens of thousands of items, and it is asked at each event. */
  #waitingTexts = 0
  readonly #output = new AnswerItems()
  readonly #characters = new WholeCharacters()
  /** Created with the first such thought: most answers have none. */
  #parked: Map<string, Parked> | undefined
  #activeKey: string | undefined
  #active: OpenItem | undefined
  #chars = 0
  #state: 'fresh' | 'started' | 'ended' = 'fresh'
  #end: { readonly reason: FinishReason; readonly nativeReason?: string; readonly stopped?: Stopped; readonly usage?: Usage } | undefined
  #serviceTier: string | undefined

  /** `writer`: the caller's format; default: Responses. */
  constructor(options: AssemblerOptions, writer: AnswerWriter = new ResponsesWriter(options)) {
    this.#options = options
    this.#writer = writer
  }

  /** Folds the events of one upstream read. Throws GatewayError if the answer outgrows its bound. */
  push(events: readonly ModelEvent[]): void {
    const first = events[0]
    if (first === undefined) return
    if (first.type === 'response-start') this.#serviceTier = first.serviceTier ?? this.#serviceTier
    this.#start(first.type === 'response-start' ? first.prompt : undefined)
    if (this.#options.echoes !== undefined) this.#echo(this.#options.echoes())
    for (const event of events) this.#fold(event)
  }

  /** The model is done: closes what is open and writes the terminal event. */
  finish(): void {
    if (this.#end === undefined) throw new GatewayError('provider_unavailable', 'The provider ended its answer without finishing it')
    this.#start()
    this.#closeAll('completed')
    this.#terminate(verdictOf(this.#end.reason, this.#output.all))
  }

  /** The answer broke after it had begun: partial items are closed as incomplete, and the stream itself reports the reason. */
  fail(error: GatewayError): void {
    if (this.#state === 'ended') return
    this.#start()
    if (this.#options.echoes !== undefined) this.#echo(this.#options.echoes())
    this.#writer.failing?.()
    closeDespite(() => this.#closeAll('incomplete'), this.#slots)
    this.#terminate({ status: 'failed', error: { code: error.publicCode, message: error.message, errorType: error.errorType } })
  }

  /** A keep-alive as wire text, for clients that treat comments as silence. The answer begins first: all clients expect its own first event first. */
  keepAlive(): string {
    this.#start()
    this.#writer.sign()
    return this.#writer.take()
  }

  /** Wire text since the last call; empty for JSON answers. */
  takeWire(): string {
    return this.#writer.take()
  }

  /** The JSON answer; valid once ended. */
  answer(): string {
    return this.#writer.answer
  }

  /** The model has finished: `finish` may follow. */
  get complete(): boolean {
    return this.#end !== undefined
  }

  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** The items of the answer so far, including unfinished ones as they are. */
  output(): readonly OutputItem[] {
    const { all } = this.#output
    if (this.#active === undefined && this.#parked === undefined) return all
    const output = this.#active === undefined ? [...all] : [...all, this.#active.snapshot('incomplete')]
    for (const { item, index } of this.#parked?.values() ?? []) output[index] = item.snapshot('incomplete')
    return output
  }

  /** The same items with their ids, as JSON. */
  itemTexts(): readonly ItemText[] {
    return this.#output.textsOf(this.output())
  }

  #start(prompt?: PromptCount): void {
    if (this.#state !== 'fresh') return
    this.#state = 'started'
    if (!this.#writer.streams) return
    const { model, tier, dropped } = this.#options.facts()
    this.#writer.begin({ status: 'in_progress', model, tier, dropped, serviceTier: this.#serviceTier, prompt, output: [], outputText: '[]' })
  }

  #echo(bodies: readonly string[]): void {
    if (this.#writer.streams) for (const body of bodies) this.#writer.echo(body)
  }

  #fold(event: ModelEvent): void {
    switch (event.type) {
      case 'response-start':
        this.#serviceTier = event.serviceTier ?? this.#serviceTier
        return
      case 'item-start':
        return this.#open(event.key, event.item, event.id)
      case 'item-end':
        return this.#close(event.key, event.item, event.waits === true ? 'in_progress' : 'completed')
      case 'response-end':
        this.#end = event
        this.#serviceTier = event.serviceTier ?? this.#serviceTier
        return
      default:
        return this.#apply(event)
    }
  }

  #apply(event: ItemEvent): void {
    if ('delta' in event) {
      this.#chars += event.delta.length
      if (this.#chars > (this.#options.maxChars ?? DEFAULT_MAX_CHARS)) {
        throw new GatewayError('provider_unavailable', 'The answer is longer than the gateway accepts', { source: 'provider' })
      }
      if (!this.#characters.passes(event)) return this.#characters.take(event).forEach((whole) => this.#write(whole))
    }
    this.#write(event)
  }

  #write(event: ItemEvent): void {
    if (event.key === this.#activeKey) this.#active!.apply(event)
    else {
      const slot = this.#slots.get(event.key)
      if (slot === undefined) throw new Error(`event ${event.type} for the item ${event.key}, which is not open`)
      slot.waiting.push(event)
      if (slot.item.type !== 'message') return
      if (slot.waiting.length === 1) this.#waitingTexts++
      this.#letTextPass()
    }
  }

  #open(key: string, item: OutputItem, id: string | undefined): void {
    if (this.#slots.has(key)) throw new Error(`the item ${key} was started twice`)
    this.#slots.set(key, { item, id, waiting: [] })
    if (this.#active === undefined) this.#activate(key)
    else this.#queue.push(key)
  }

  #close(key: string, patch: ItemPatch | undefined, status: ClosingStatus): void {
    this.#endText(key)
    const slot = this.#slots.get(key)
    if (slot === undefined) throw new Error(`the item ${key} ended without being open`)
    if (key !== this.#activeKey) slot.ended = { patch, status }
    else this.#closeActive(status, patch)
    this.#promote()
    this.#letTextPass()
  }

  /** Writes half a character that was waiting for its other half. */
  #endText(key: string): void {
    const rest = this.#characters.end(key)
    if (rest !== undefined) this.#write(rest)
  }

  /** An item has ended: thoughts that let text pass and have ended since are completed, and the next waiting item is activated. */
  #promote(): void {
    while (this.#active === undefined) {
      for (const [key, { slot }] of this.#parked ?? []) if (slot.ended !== undefined) this.#closeParked(key, slot.ended.status, slot.ended.patch)
      if (!this.#next()) return
    }
  }

  /** Activates the next waiting item; one that ended while waiting is written as a whole. False if there is none. */
  #next(): boolean {
    const key = this.#queue.shift()
    if (key === undefined) return false
    const slot = this.#activate(key)
    if (slot.ended !== undefined) this.#closeActive(slot.ended.status, slot.ended.patch)
    return true
  }

  /** Open thoughts let waiting text pass; they keep their place in the answer. */
  #letTextPass(): void {
    while (this.#active?.pause !== undefined && this.#waitingTexts > 0) {
      const key = this.#activeKey!
      this.#active.pause()
      this.#parked = (this.#parked ?? new Map<string, Parked>()).set(key, {
        item: this.#active,
        index: this.#output.length,
        slot: this.#slots.get(key)!,
      })
      this.#output.keep(this.#output.length, this.#active.snapshot('incomplete'))
      this.#active = undefined
      this.#activeKey = undefined
      // Activates an item even if it has not ended: were other thoughts completed now, they would be written into the middle of it.
      this.#next()
      this.#promote()
    }
  }

  #closeParked(key: string, status: ClosingStatus, patch: ItemPatch | undefined): void {
    const { item, index, slot } = this.#parked!.get(key)!
    for (const event of slot.waiting) item.apply(event)
    this.#done(index, item.close(status, patch))
    this.#parked!.delete(key)
    this.#slots.delete(key)
  }

  #activate(key: string): Slot {
    const slot = this.#slots.get(key)!
    if (hasText(slot)) this.#waitingTexts--
    const id = slot.id ?? mintItemId(slot.item, this.#options.newId)
    this.#active = this.#writer.item(slot.item, id, this.#output.length)
    this.#activeKey = key
    this.#active.open()
    for (const event of slot.waiting) this.#active.apply(event)
    slot.waiting.length = 0
    return slot
  }

  #closeActive(status: ClosingStatus, patch: ItemPatch | undefined): void {
    this.#done(this.#output.length, this.#active!.close(status, patch))
    this.#slots.delete(this.#activeKey!)
    this.#active = undefined
    this.#activeKey = undefined
  }

  #done(index: number, item: OutputItem): void {
    this.#output.keep(index, item)
    if (this.#writer.streams) this.#writer.done(index, this.#output.text(index))
  }

  #closeAll(status: ClosingStatus): void {
    for (const key of this.#characters.open) this.#endText(key)
    while (this.#active !== undefined) {
      this.#closeActive(status, undefined)
      this.#promote()
    }
    for (const [key, { slot }] of this.#parked ?? []) this.#closeParked(key, slot.ended?.status ?? status, slot.ended?.patch)
  }

  #terminate(verdict: Verdict): void {
    this.#state = 'ended'
    const extra = this.#options.extra?.()
    this.#writer.end({
      ...verdict,
      ...this.#options.facts(),
      output: this.#output.all,
      outputText: this.#output.json(),
      ...(verdict.status === 'completed' ? { completedAt: Math.floor(this.#options.clock.now() / 1000) } : {}),
      serviceTier: this.#serviceTier,
      nativeReason: this.#end?.nativeReason,
      stopped: this.#end?.stopped,
      ...(this.#end?.usage === undefined ? {} : { usage: this.#end.usage }),
      ...(extra === undefined ? {} : { extra }),
    })
  }
}
