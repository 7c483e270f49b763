import type { AttemptRecord, Call } from '../core/call.ts'
import { addCost } from '../core/cost.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Cost } from '../core/generation.ts'
import type { Annotation, InputItem } from '../core/item.ts'
import { carryNative } from '../core/native-citation.ts'
import type { ModelRequest } from '../core/request.ts'
import { addUsage, createUsage, mendEstimate, type Usage } from '../core/usage.ts'
import { likelyPrompt } from '../router/estimate.ts'
import { attemptCost, type CostOf } from './answer-cost.ts'
import { AnswerFold } from './answer-fold.ts'
import { Overlap } from './overlap.ts'
import { CHARS_PER_TOKEN, likelyOutput } from './written.ts'

/** Longest answer that is held back; a longer one is committed and streams from there on. */
const MAX_BUFFERED_CHARS = 1024 * 1024
const MAX_BUFFERED_EVENTS = 65_536
/** A longer answer is not worth sending again as the beginning of another. */
const MAX_CONTINUED_CHARS = 256 * 1024
/** The smallest `max_output_tokens` that upstreams accept. */
const LEAST_OUTPUT_TOKENS = 16

/** `buffer`: decides when an answer that is held back must go out. One per attempt. */
export class AnswerBuffer {
  #chars = 0
  #events = 0

  /** True when the answer is complete or has outgrown the bound. */
  take(events: readonly ModelEvent[]): boolean {
    for (const event of events) if ('delta' in event) this.#chars += event.delta.length
    this.#events += events.length
    return events.at(-1)?.type === 'response-end' || this.full
  }

  get full(): boolean {
    return this.#chars > MAX_BUFFERED_CHARS || this.#events > MAX_BUFFERED_EVENTS
  }
}

type Writer = Pick<AttemptRecord, 'endpoint' | 'isByok' | 'counted' | 'costUsd' | 'tierFactor' | 'dropped'>

/** `continue`: what the caller has of a broken answer, and how the next endpoint's events continue it. One per call. */
export class Continuation {
  readonly #fold = new AnswerFold()
  /** Items that are open for the caller, by key. */
  readonly #open = new Map<string, 'message' | 'reasoning'>()
  #original: GatewayError | undefined
  /** The last attempt that broke. */
  #broken: Writer | undefined
  /** An endpoint has finished the answer. */
  #finished = false
  #blocked = false
  #lastMessage: string | undefined
  /** Endpoints that have written a part of the answer so far. */
  #round = 0
  #splice: Splice | undefined
  /** What the endpoints that broke have probably used, and its cost at their prices. */
  #spent: { readonly usage: Usage; readonly cost: Cost; readonly chars: number } | undefined
  readonly #costOf: CostOf

  constructor(costOf: CostOf) {
    this.#costOf = costOf
  }

  /** The failure that broke the answer, which the caller is told if nobody can continue. Undefined while nothing is broken. */
  get original(): GatewayError | undefined {
    return this.#original
  }

  get chars(): number {
    return this.#fold.chars
  }

  /** The likely cost of the endpoints that broke. */
  get spent(): Cost | undefined {
    return this.#spent?.cost
  }

  /** The events of an attempt as the caller may see them. */
  take(call: Call, events: readonly ModelEvent[]): readonly ModelEvent[] {
    const shown = this.#splice === undefined ? events : this.#splice.take(events)
    for (const event of shown) this.#note(event)
    return this.#settle(call, shown)
  }

  /** The endpoint that was writing the answer has failed. */
  broke(error: GatewayError, request: ModelRequest, attempt: Writer): void {
    this.#original ??= error
    this.#broken = attempt
    this.#spend(request, attempt)
    const reasoning = [...this.#open].filter(([, type]) => type === 'reasoning').map(([key]) => key)
    const message = [...this.#open].find(([, type]) => type === 'message')?.[0]
    const part = message === undefined ? undefined : this.#fold.partOf(message)
    this.#splice = new Splice(++this.#round, reasoning, message, part?.text ?? '', part?.number)
  }

  /**
   * Whether any other endpoint can continue: never within or after a tool call (nobody would answer the call), after a refusal, after a message that
   * was finished, or in structured output, whose grammar would begin again.
   */
  canContinue(request: ModelRequest): boolean {
    if (this.#blocked || this.#fold.chars > MAX_CONTINUED_CHARS) return false
    if (this.#lastMessage === undefined) return true
    return this.#open.get(this.#lastMessage) === 'message' && (request.text?.format?.type ?? 'text') === 'text'
  }

  /** Whether this endpoint can: one that is known to refuse assistant prefill, or to start over, is not asked. */
  suits(endpoint: Endpoint, request: ModelRequest): boolean {
    return this.#begun() === '' || goesOn(endpoint, request)
  }

  /** The request with the answer so far as its last assistant message. Reasoning is left out, because no other provider can read it. */
  request(base: ModelRequest): ModelRequest {
    const text = this.#begun()
    if (text === '') return base
    const begun: InputItem = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }
    const limit = base.max_output_tokens
    const left = limit == null ? undefined : Math.max(LEAST_OUTPUT_TOKENS, limit - Math.ceil(this.#fold.chars / CHARS_PER_TOKEN))
    return { ...base, input: [...base.input, begun], ...(left === undefined ? {} : { max_output_tokens: left }) }
  }

  /** Some servers refuse a beginning that ends in white space. */
  #begun(): string {
    return this.#fold.text().trimEnd()
  }

  /** An attempt is over. Until somebody finishes the answer, its cost is what all endpoints with a part in it have probably used, each at its own prices. */
  left({ request, trace }: Call): void {
    const { served } = trace
    if (this.#spent === undefined || served === undefined || this.#finished) return
    if (served !== this.#broken) this.#spend(request, served)
    // A single endpoint wrote all of it, so it is paid for like any other broken answer.
    else if (this.#round === 1) return
    trace.spentUsage = this.#spent.usage
    trace.answerCost = this.#spent.cost
  }

  /** The likely usage of the endpoint that writes now, since the one before it broke. Nobody goes on after a picture, so all pictures are its own. */
  #estimate(request: ModelRequest, { endpoint, dropped }: Writer): Usage {
    const before = this.#spent?.chars ?? 0
    const { chars, pictures } = this.#fold.written
    const prompt = likelyPrompt(request, dropped)
    return createUsage({
      ...prompt,
      inputTokens: prompt.inputTokens + Math.ceil(before / CHARS_PER_TOKEN),
      ...likelyOutput({ chars: chars - before, pictures }, endpoint),
      estimated: true,
    })
  }

  #spend(request: ModelRequest, attempt: Writer): void {
    const before = this.#spent
    const { chars } = this.#fold
    const usage = mendEstimate(this.#estimate(request, attempt), attempt.counted)
    const cost = attemptCost(this.#costOf, usage, attempt)
    attempt.costUsd = cost.total
    this.#spent = before === undefined ? { usage, cost, chars } : { usage: addUsage(before.usage, usage), cost: addCost(before.cost, cost), chars }
  }

  /** The end of a continued answer carries the usage and cost of all its endpoints. */
  #settle(call: Call, events: readonly ModelEvent[]): readonly ModelEvent[] {
    const last = events.at(-1)
    const { served } = call.trace
    if (this.#spent === undefined || served === undefined || last?.type !== 'response-end') return events
    this.#finished = true
    const usage = last.usage ?? mendEstimate(this.#estimate(call.request, served), served.counted)
    const cost = attemptCost(this.#costOf, usage, served)
    served.costUsd = cost.total
    call.trace.answerCost = addCost(this.#spent.cost, cost)
    return [...events.slice(0, -1), { ...last, usage: addUsage(this.#spent.usage, usage) }]
  }

  #note(event: ModelEvent): void {
    if (event.type === 'response-start' || event.type === 'response-end') return
    this.#fold.push(event)
    if (event.type === 'item-start') {
      const { type } = event.item
      if (type === 'message') this.#lastMessage = event.key
      if (type === 'message' || type === 'reasoning') this.#open.set(event.key, type)
      else this.#blocked = true
    } else if (event.type === 'item-end') this.#open.delete(event.key)
    else if (event.type === 'refusal-delta') this.#blocked = true
  }
}

/** Whether an endpoint may go on where an answer broke, as far as is known beforehand. */
export const goesOn = ({ connection, upstreamModel }: Endpoint, request: ModelRequest): boolean =>
  connection.dialect.prefills?.(request, { options: connection.options, upstreamModel }) !== false

/** Fits the events of a continuing endpoint to the items that are open for the caller: fresh keys, and the first message joined to the open one. */
class Splice {
  readonly #round: number
  readonly #before: ModelEvent[]
  readonly #message: string | undefined
  readonly #number: number | undefined
  readonly #length: number
  readonly #overlap: Overlap
  #joined: string | undefined
  #firstPart: number | undefined
  #inFirstPart = true
  #seenPart = false
  readonly #dropped = new Set<string>()

  constructor(round: number, reasoning: readonly string[], message: string | undefined, text: string, number: number | undefined) {
    this.#round = round
    this.#before = reasoning.map((key) => ({ type: 'item-end', key, item: { status: 'incomplete' } }))
    this.#message = message
    this.#number = number
    this.#length = text.length
    this.#overlap = new Overlap(text)
  }

  take(events: readonly ModelEvent[]): readonly ModelEvent[] {
    const out: ModelEvent[] = this.#before.splice(0)
    for (const event of events) this.#translate(event, out)
    return out
  }

  #translate(event: ModelEvent, out: ModelEvent[]): void {
    if (event.type === 'response-start' || event.type === 'response-end') {
      if (event.type === 'response-end') this.#flush(out)
      out.push(event)
      return
    }
    if (event.type === 'item-start' && this.#message !== undefined) {
      if (event.item.type === 'message' && this.#joined === undefined) {
        this.#joined = event.key
        return
      }
      // The caller already has the reasoning that led to the text; more of it after the text would be replayed in the wrong place.
      if (event.item.type === 'reasoning') this.#dropped.add(event.key)
    }
    if (this.#dropped.has(event.key)) return
    if (event.key !== this.#joined) out.push({ ...event, key: `continued${this.#round}.${event.key}` })
    else this.#join(event, this.#message!, out)
  }

  #join(event: ModelEvent, key: string, out: ModelEvent[]): void {
    switch (event.type) {
      case 'text-delta': {
        const part = this.#part(event.part, out)
        const delta = this.#inFirstPart ? this.#overlap.take(event.delta) : event.delta
        if (delta === '') return
        const { part: _, plain: __, ...rest } = event
        out.push({ ...rest, key, delta, ...part, ...(event.plain === true && delta === event.delta ? { plain: true } : {}) })
        return
      }
      case 'annotation': {
        const part = this.#part(event.part, out)
        const shift = this.#inFirstPart ? this.#length - this.#overlap.removed : 0
        out.push({ type: 'annotation', key, annotation: moved(event.annotation, shift), ...part })
        return
      }
      case 'item-end': {
        this.#flush(out)
        const status = event.item?.['status']
        out.push({ type: 'item-end', key, ...(status === undefined ? {} : { item: { status } }) })
        return
      }
      case 'refusal-delta':
        this.#flush(out)
        this.#inFirstPart = false
        out.push({ ...event, key })
        return
      default:
    }
  }

  /** The first part continues the open one; further parts stay apart from it. */
  #part(number: number | undefined, out: ModelEvent[]): { readonly part?: number } {
    if (!this.#seenPart) {
      this.#seenPart = true
      this.#firstPart = number
    }
    if (number === this.#firstPart && this.#inFirstPart) return this.#number === undefined ? {} : { part: this.#number }
    if (this.#inFirstPart) this.#flush(out)
    this.#inFirstPart = false
    return number === undefined ? {} : { part: (this.#number ?? 0) + 1 + number }
  }

  #flush(out: ModelEvent[]): void {
    const delta = this.#overlap.flush()
    if (delta === '' || this.#message === undefined) return
    out.push({ type: 'text-delta', key: this.#message, delta, ...(this.#number === undefined ? {} : { part: this.#number }) })
  }
}

function moved(annotation: Annotation, by: number): Annotation {
  const there: Annotation =
    annotation.type === 'url_citation'
      ? { ...annotation, start_index: annotation.start_index + by, end_index: annotation.end_index + by }
      : { ...annotation, index: annotation.index + by }
  return carryNative(annotation, there)
}
