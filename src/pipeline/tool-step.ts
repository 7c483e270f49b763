import type { AttemptRecord } from '../core/call.ts'
import { isCall } from '../core/caller-call.ts'
import { isClientSearchCall } from '../core/client-search.ts'
import { isContentEvent, type FinishReason, type ModelEvent, type Stopped } from '../core/event.ts'
import type { InputItem, JsonObject, OtherItem, OutputItem } from '../core/item.ts'
import type { Usage } from '../core/usage.ts'
import { AnswerFold, wholeText } from './answer-fold.ts'
import type { SourceBook } from './tool-citations.ts'
import type { Offer, OfferedTool } from './offered-tool.ts'
import type { Amount } from './written.ts'

/** A call of a server tool as the model made it. */
export interface PendingCall {
  readonly offered: OfferedTool
  /** Unique in the conversation. */
  readonly callId: string
  readonly name: string
  /** JSON text as the model wrote it. */
  arguments: string
  /** The answer ended before the arguments did. */
  cut: boolean
  /** The id by which the caller approved it. */
  readonly grant?: string
  /** It was suspended by an earlier answer: what was done until then, with the caller's results, or why it cannot be continued. */
  readonly resumed?: { readonly items: readonly InputItem[]; readonly problem?: string }
}

interface StepEnd {
  readonly reason: FinishReason
  readonly nativeReason?: string
  readonly stopped?: Stopped
  readonly paused?: true
  readonly usage?: Usage
  readonly serviceTier?: string
}

export interface StepOptions {
  readonly offer: Offer
  /** Stands for functions that are not offered; undefined if the caller answers those. */
  readonly unknown?: OfferedTool | undefined
  /** 1 for the first turn; later ones get key prefixes and no second start. */
  readonly number: number
  readonly sources: SourceBook
  readonly newCallId: () => string
}

/**
 * One turn of the model, read as it streams. Calls of server tools are taken out; everything else goes to the caller and into the conversation of the
 * next turn. The end is kept back, because only the loop knows whether it is the end of the answer.
 */
export class ToolStep {
  readonly calls: PendingCall[] = []
  /** Calls of the caller's own tools and of its search, which end the loop. */
  callerCalls = 0
  end: StepEnd | undefined
  /** It ended before its first content, and therefore failed. */
  wordless = false
  /** The attempt that ended like that, if its provider has counted something for it. */
  counting: AttemptRecord | undefined
  /** It has had content, thoughts that only their vendor can read included. */
  worked = false
  /** Something in it is for the caller to read or to answer. */
  #spoke = false
  readonly #options: StepOptions
  readonly #prefix: string
  readonly #fold = new AnswerFold()
  readonly #open = new Map<string, PendingCall>()
  /** Items of the provider's own tools that the caller sees under the gateway's name. */
  readonly #renamed = new Set<string>()

  constructor(options: StepOptions) {
    this.#options = options
    this.#prefix = options.number === 1 ? '' : `${options.number}/`
  }

  /** The part of these events that the caller sees. */
  take(events: readonly ModelEvent[]): readonly ModelEvent[] {
    const out: ModelEvent[] = []
    for (const event of events) {
      this.worked ||= isContentEvent(event)
      this.#take(event, out)
    }
    return out
  }

  /** It ended well with nothing but reasoning and calls of server tools. */
  get mute(): boolean {
    return !this.#spoke && (this.end?.reason === 'stop' || this.end?.reason === 'tool_calls')
  }

  get spoke(): boolean {
    return this.#spoke
  }

  /** It has had content that somebody can read, or calls: it cannot end as if it had been silent. */
  get begun(): boolean {
    return this.#spoke || this.chars > 0 || this.calls.length > 0
  }

  /** The provider should be asked to continue, and nobody else has anything to do first. */
  get paused(): boolean {
    return this.end?.paused === true && this.calls.length + this.callerCalls === 0
  }

  get chars(): number {
    return this.#fold.chars
  }

  get written(): Amount {
    return this.#fold.written
  }

  /** It ends without content. */
  endWithoutWords(reason: FinishReason, nativeReason: string | undefined, counting: AttemptRecord | undefined): void {
    this.wordless = true
    this.counting = counting
    this.end = { reason, ...(nativeReason === undefined ? {} : { nativeReason }) }
  }

  /**
   * The turn as the next one needs it: in the model's order, because signatures belong to what follows them, and with its calls under the ids that
   * the results answer.
   */
  items(): readonly InputItem[] {
    return this.#fold.items()
  }

  #take(event: ModelEvent, out: ModelEvent[]): void {
    switch (event.type) {
      case 'response-start':
        if (this.#options.number === 1) out.push(event)
        return
      case 'response-end':
        this.end = event
        return
      case 'item-start':
        return this.#start(event, out)
      case 'arguments-delta': {
        const call = this.#open.get(event.key)
        if (call === undefined) break
        call.arguments += event.delta
        this.#fold.push(event)
        return
      }
      case 'item-end': {
        const call = this.#open.get(event.key)
        if (call === undefined) {
          this.#cite(event.key, out)
          if (this.#renamed.has(event.key)) return this.#endRenamed(event, out)
          break
        }
        call.arguments = wholeText(call.arguments, event.item?.['arguments'])
        call.cut = event.item?.['status'] === 'incomplete'
        this.#open.delete(event.key)
        this.#fold.push({ type: 'item-end', key: event.key, item: { arguments: call.arguments } })
        return
      }
      case 'refusal-delta':
        this.#spoke ||= event.delta !== ''
        break
      case 'text-delta': {
        this.#spoke ||= event.delta !== ''
        const open = this.#fold.partOf(event.key)
        if (open !== undefined && event.part !== undefined && event.part !== open.number) this.#cite(event.key, out)
        break
      }
      case 'item-event':
        // Clients refuse a vendor's progress events on an item of another type.
        if (this.#renamed.has(event.key)) return
        break
      default:
    }
    this.#fold.push(event)
    out.push(this.#prefix === '' ? event : { ...event, key: this.#prefix + event.key })
  }

  #start(event: Extract<ModelEvent, { readonly type: 'item-start' }>, out: ModelEvent[]): void {
    const { item, key } = event
    const offered = runnerOf(item, this.#options)
    if (offered !== undefined) {
      const { name, call_id: callId } = item as OtherItem & { readonly name: string; readonly call_id: string }
      const call: PendingCall = { offered, name, callId: callId || this.#options.newCallId(), arguments: '', cut: true }
      this.calls.push(call)
      this.#open.set(key, call)
      this.#fold.push({ type: 'item-start', key, item: { type: 'function_call', call_id: call.callId, name } as OutputItem })
      return
    }
    if (isCall(item.type) || isClientSearchCall(item)) this.callerCalls++
    this.#spoke ||= item.type !== 'message' && item.type !== 'reasoning'
    this.#fold.push(event)
    const renamed = this.#options.offer.renamed.get(item.type)
    if (renamed !== undefined) this.#renamed.add(key)
    const shown = renamed === undefined ? item : { ...withoutForeignAction(item as OtherItem), type: renamed }
    out.push({ ...event, key: this.#prefix + key, item: shown })
  }

  #endRenamed(event: Extract<ModelEvent, { readonly type: 'item-end' }>, out: ModelEvent[]): void {
    this.#fold.push(event)
    const failed = event.item?.['status'] === 'failed'
    const item = { ...withoutForeignAction(event.item ?? {}), ...(failed ? { status: 'incomplete' } : {}) }
    out.push({ ...event, key: this.#prefix + event.key, item })
  }

  /** Adds citations of the tools' findings to the part that ends, unless the provider has cited there itself. */
  #cite(key: string, out: ModelEvent[]): void {
    const { sources } = this.#options
    if (sources.isEmpty) return
    const part = this.#fold.partOf(key)
    if (part === undefined || part.annotations.length > 0) return
    for (const annotation of sources.cite(part.text)) {
      const event: ModelEvent = { type: 'annotation', key, annotation, ...(part.number === undefined ? {} : { part: part.number }) }
      this.#fold.push(event)
      out.push({ ...event, key: this.#prefix + key })
    }
  }
}

/** The tool of the gateway that an item calls; undefined if it calls none. */
export function runnerOf(item: OutputItem, { offer, unknown }: Pick<StepOptions, 'offer' | 'unknown'>): OfferedTool | undefined {
  if (item.type !== 'function_call') return undefined
  const { name, namespace } = item as OtherItem & { readonly name: string; readonly namespace?: string }
  // Namespaces belong to the caller: a function in one of them is no server tool, whatever its name.
  return namespace == null || namespace === '' ? (offer.byFunction.get(name) ?? unknown) : undefined
}

/** Providers also open pages, search in them, and have other feeds; the gateway's item knows only searches and pages. */
function withoutForeignAction<T extends JsonObject>(item: T): T {
  const action = item['action'] as JsonObject | null | undefined
  if (action == null) return item
  if (action['type'] === 'search') return { ...item, action: withPagesOnly(action) }
  const { action: _, ...rest } = item as JsonObject
  return rest as T
}

function withPagesOnly({ sources, ...action }: JsonObject): JsonObject {
  if (!Array.isArray(sources)) return action
  return { ...action, sources: (sources as readonly (JsonObject | null)[]).filter((source) => typeof source?.['url'] === 'string') }
}
