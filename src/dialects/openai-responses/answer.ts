import { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { JsonObject, Logprob, OutputItem } from '../../core/item.ts'
import { sealReasoning } from '../../core/reasoning-envelope.ts'
import { createCustomInputStream } from '../shared/custom-input.ts'
import { hashedName } from '../shared/id-map.ts'
import { asString, isObject } from '../shared/json.ts'
import type { ToolNames } from '../shared/tool-names.ts'
import { AnswerItem, kindOfItem } from './answer-item.ts'
import type { StreamedPart } from './answer-item.ts'
import { readAnnotation, readMessageParts, readReasoningParts } from './content-parts.ts'
import type { FinalPart } from './content-parts.ts'
import type { DeltaKind } from './scan-delta.ts'

const MAX_ITEMS = 2048
/** The shortest limit any vendor of this dialect sets: a conversation may move there. */
const MAX_CALL_ID = 64
/** Characters of text, reasoning and arguments one answer may have. */
const MAX_CHARS = 64 * 1024 * 1024

/** Built-in tools whose calls wait for the caller, like functions. */
const CALLER_RUN: ReadonlySet<string> = new Set(['local_shell_call', 'apply_patch_call', 'computer_call'])

const KIND_OF_DELTA = { text: 'message', refusal: 'message', summary: 'reasoning', reasoning: 'reasoning', arguments: 'call', input: 'call' } as const
const TYPE_OF_DELTA = {
  text: 'message',
  refusal: 'message',
  summary: 'reasoning',
  reasoning: 'reasoning',
  arguments: 'function_call',
  input: 'custom_tool_call',
} as const

export interface AnswerContext {
  readonly providerName: string
  /** Format name and scope that mark encrypted reasoning of this endpoint. */
  readonly reasoningFormat: string
  readonly scope: string
  readonly toolNames: ToolNames
}

/**
 * The items of one answer, keyed by the upstream's `output_index`: starts them, passes their deltas on, completes what the deltas left
 * out when they are done, and ends each exactly once. Upstream item ids are never passed on.
 */
export class Answer {
  /** True once anything was said that commits an answer. */
  hasContent = false
  hasCalls = false
  hasText = false
  hasRefusal = false
  /** Web searches the upstream ran. */
  searches = 0

  readonly #context: AnswerContext
  readonly #items: AnswerItem[] = []
  readonly #byIndex = new Map<number, AnswerItem>()
  readonly #indexOfId = new Map<string, number>()
  readonly #callIds = new Set<string>()
  #seed = ''
  #lastIndex = 0
  #chars = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  /** The upstream's id of the answer: call ids it left out are derived from it. */
  set seed(upstreamId: string) {
    this.#seed = upstreamId
  }

  /** Where a frame belongs: by `output_index`, else by item id, else to the item that was announced last. */
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
        if (!open.started) this.#start(open, item, out)
        return
      }
      // A server that gives every item the same index and forgets to close them.
      this.finish(open, undefined, out)
    }
    const created = this.#create(asString(item['type']) ?? 'message', item)
    this.#place(index, created)
    this.#start(created, item, out)
  }

  /** `plain` deltas need no JSON escaping. */
  delta(kind: DeltaKind | 'refusal', index: number, partIndex: number, delta: string, plain: boolean, out: ModelEvent[], logprobs?: readonly Logprob[]): void {
    if (delta === '') return
    let item = this.#byIndex.get(index)
    if (item === undefined || item.closed || item.kind !== KIND_OF_DELTA[kind]) item = this.#open(index, TYPE_OF_DELTA[kind], out)
    if (kind === 'arguments' || kind === 'input') this.#appendArguments(item, delta, plain, out)
    else this.#appendText(item, item.part(kind, partIndex), delta, plain, out, logprobs)
  }

  annotation(index: number, partIndex: number, value: unknown, out: ModelEvent[]): void {
    const item = this.#byIndex.get(index)
    if (item === undefined || item.closed || item.kind !== 'message') return
    const part = item.part('text', partIndex)
    part.annotations++
    this.#annotate(item, part, value, out)
  }

  /** A part the upstream reports as done: text that came without deltas, or with too few. */
  completePart(index: number, partIndex: number, final: FinalPart, out: ModelEvent[]): void {
    if (final.text === '' && final.annotations.length === 0) return
    const wanted = KIND_OF_DELTA[final.kind]
    const known = this.#byIndex.get(index)
    if (known?.closed) return
    const item = known?.kind === wanted ? known : this.#open(index, wanted, out)
    this.#completePart(item, item.part(final.kind, partIndex), final, out)
  }

  /** The whole arguments or input of a call, before the item itself is done. */
  completeArguments(kind: 'arguments' | 'input', index: number, whole: string, out: ModelEvent[]): void {
    const known = this.#byIndex.get(index)
    if (known?.closed) return
    const item = known?.kind === 'call' ? known : this.#open(index, TYPE_OF_DELTA[kind], out)
    this.#appendMissing(item, whole, out)
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
      // An item that is done twice stays as it was; another one under the same index is new.
      if (!known.closed) return this.finish(known, item, out)
      if (isSameItem(known, item)) return
    }
    const created = this.#create(type, item)
    this.#place(index, created)
    this.finish(created, item, out)
  }

  /**
   * The upstream's closing list of items: completes those still open and adds those that were never streamed. A list that leaves streamed
   * items out (some servers send an empty one) takes nothing back. `cut` marks what is still open as incomplete.
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
      this.finish(item ?? this.#create(asString(final['type']) ?? 'message', final), final, out, cut)
    }
    for (const item of this.#items) if (!item.closed) this.finish(item, undefined, out, cut)
  }

  /** Ends an item. `final` is the upstream's finished form of it, when there is one. */
  finish(item: AnswerItem, final: JsonObject | undefined, out: ModelEvent[], cut = false): void {
    const source = final ?? item.announced
    item.closed = true
    if (!item.started) this.#start(item, source, out, true)
    const status = source['status'] === 'incomplete' || (cut && source['status'] !== 'completed') ? 'incomplete' : 'completed'
    switch (item.kind) {
      case 'message':
        this.#completeParts(item, readMessageParts(source['content']), out)
        out.push({ type: 'item-end', key: item.key, item: { status } })
        return
      case 'reasoning':
        this.#completeParts(item, readReasoningParts(source['summary'], 'summary'), out)
        this.#completeParts(item, readReasoningParts(source['content'], 'reasoning'), out)
        out.push({ type: 'item-end', key: item.key, item: { status, ...this.#sealed(item, source) } })
        return
      case 'call':
        this.#appendMissing(item, argumentsOf(source), out)
        if (item.wrapped !== undefined) this.#emitArguments(item, item.wrapped.end().rest, false, out)
        out.push({ type: 'item-end', key: item.key, item: { status } })
        return
      case 'other': {
        const action = source['action']
        if (item.type === 'web_search_call' && (!isObject(action) || action['type'] === undefined || action['type'] === 'search')) this.searches++
        out.push(final === undefined ? { type: 'item-end', key: item.key } : { type: 'item-end', key: item.key, item: this.#carried(final) })
      }
    }
  }

  #create(type: string, announced: JsonObject): AnswerItem {
    if (this.#items.length >= MAX_ITEMS) throw this.#garbage(`an answer with more than ${MAX_ITEMS} items`)
    const item = new AnswerItem(String(this.#items.length), type, announced)
    this.#items.push(item)
    return item
  }

  #place(index: number, item: AnswerItem): void {
    this.#byIndex.set(index, item)
    this.#lastIndex = index
  }

  /** An item whose first delta comes before (or without) its announcement. */
  #open(index: number, type: string, out: ModelEvent[]): AnswerItem {
    const known = this.#byIndex.get(index)
    if (known !== undefined && !known.closed) this.finish(known, undefined, out)
    const item = this.#create(type, {})
    this.#place(index, item)
    this.#start(item, {}, out)
    return item
  }

  #start(item: AnswerItem, source: JsonObject, out: ModelEvent[], last = false): void {
    if (item.kind === 'call') return this.#startCall(item, source, out, last)
    item.started = true
    out.push({ type: 'item-start', key: item.key, item: this.#opening(item, source) })
    if (item.kind === 'other') {
      this.hasContent = true
      if (CALLER_RUN.has(item.type)) this.hasCalls = true
    }
  }

  #opening(item: AnswerItem, source: JsonObject): OutputItem {
    if (item.kind === 'other') return { ...this.#carried(source), type: item.type }
    if (item.kind === 'reasoning') return { type: 'reasoning', summary: [], status: 'in_progress' }
    const phase = source['phase']
    const known = phase === 'commentary' || phase === 'final_answer' ? { phase } : {}
    return { type: 'message', role: 'assistant', content: [], status: 'in_progress', ...known }
  }

  /** A call starts when its name and id are known; at the latest when it is done. */
  #startCall(item: AnswerItem, source: JsonObject, out: ModelEvent[], last: boolean): void {
    const name = asString(source['name']) || asString(item.announced['name'])
    const callId = asString(source['call_id']) || asString(item.announced['call_id'])
    if (!name) {
      if (last) throw this.#garbage('a tool call without a name')
      return
    }
    if (!callId && !last) return
    item.started = true
    const origin = this.#context.toolNames.origin(name)
    const namespace = asString(source['namespace']) ?? origin.namespace
    const shared = {
      call_id: this.#callId(callId, item.key),
      name: origin.name,
      ...(namespace === undefined ? {} : { namespace }),
      status: 'in_progress',
    } as const
    if (item.type === 'function_call' && origin.kind === 'custom') item.wrapped = createCustomInputStream()
    const isCustom = item.wrapped !== undefined || item.type === 'custom_tool_call'
    out.push({ type: 'item-start', key: item.key, item: isCustom ? { type: 'custom_tool_call', ...shared, input: '' } : { type: 'function_call', ...shared, arguments: '' } })
    this.hasContent = true
    this.hasCalls = true
    if (item.text !== '') this.#passArguments(item, item.text, false, out)
  }

  /** Unique within the answer and short enough to be sent back to any vendor. */
  #callId(upstream: string | undefined, key: string): string {
    let id = upstream && upstream.length > MAX_CALL_ID ? `call_${hashedName(upstream, 24)}` : upstream
    if (!id || this.#callIds.has(id)) id = `call_${hashedName(`${this.#seed}\n${key}\n${upstream ?? ''}`, 24)}`
    this.#callIds.add(id)
    return id
  }

  #appendArguments(item: AnswerItem, delta: string, plain: boolean, out: ModelEvent[]): void {
    this.#count(delta.length)
    item.text += delta
    if (item.started) this.#passArguments(item, delta, plain, out)
  }

  #passArguments(item: AnswerItem, delta: string, plain: boolean, out: ModelEvent[]): void {
    if (item.wrapped === undefined) this.#emitArguments(item, delta, plain, out)
    else this.#emitArguments(item, item.wrapped.push(delta), false, out)
  }

  #appendMissing(item: AnswerItem, whole: string, out: ModelEvent[]): void {
    if (whole.length > item.text.length && whole.startsWith(item.text)) this.#appendArguments(item, whole.slice(item.text.length), false, out)
  }

  #emitArguments(item: AnswerItem, delta: string, plain: boolean, out: ModelEvent[]): void {
    if (delta === '') return
    out.push(plain ? { type: 'arguments-delta', key: item.key, delta, plain } : { type: 'arguments-delta', key: item.key, delta })
  }

  #appendText(item: AnswerItem, part: StreamedPart, delta: string, plain: boolean, out: ModelEvent[], logprobs?: readonly Logprob[]): void {
    this.#count(delta.length)
    this.hasContent = true
    part.text += delta
    const key = item.key
    const number = item.numberOf(part)
    switch (part.kind) {
      case 'text':
        this.hasText = true
        if (logprobs !== undefined) {
          part.hasLogprobs = true
          out.push({ type: 'text-delta', key, delta, part: number, logprobs })
        } else out.push(plain ? { type: 'text-delta', key, delta, part: number, plain } : { type: 'text-delta', key, delta, part: number })
        return
      case 'refusal':
        this.hasRefusal = true
        out.push({ type: 'refusal-delta', key, delta, part: number })
        return
      default: {
        const kind = part.kind === 'summary' ? 'summary' : 'text'
        out.push(plain ? { type: 'reasoning-delta', key, kind, delta, part: number, plain } : { type: 'reasoning-delta', key, kind, delta, part: number })
      }
    }
  }

  #completeParts(item: AnswerItem, finals: readonly (FinalPart | undefined)[], out: ModelEvent[]): void {
    for (const [position, final] of finals.entries()) {
      if (final === undefined || (final.text === '' && final.annotations.length === 0)) continue
      this.#completePart(item, item.match(final.kind, position, finals.length), final, out)
    }
  }

  #completePart(item: AnswerItem, part: StreamedPart, final: FinalPart, out: ModelEvent[]): void {
    if (final.text.length > part.text.length && final.text.startsWith(part.text)) {
      const logprobs = part.text === '' && final.logprobs.length > 0 ? final.logprobs : undefined
      this.#appendText(item, part, final.text.slice(part.text.length), false, out, logprobs)
    }
    for (let i = part.annotations; i < final.annotations.length; i++) {
      part.annotations++
      this.#annotate(item, part, final.annotations[i], out)
    }
  }

  #annotate(item: AnswerItem, part: StreamedPart, value: unknown, out: ModelEvent[]): void {
    const annotation = readAnnotation(value)
    if (annotation !== undefined) out.push({ type: 'annotation', key: item.key, annotation, part: item.numberOf(part) })
  }

  /** What a later turn needs to replay the reasoning, sealed with the format and scope that can read it. */
  #sealed(item: AnswerItem, source: JsonObject): { readonly [field: string]: unknown } {
    const data = asString(source['encrypted_content']) || undefined
    const signature = asString(source['signature']) || undefined
    if (data === undefined && signature === undefined) return {}
    this.hasContent = true
    const format = asString(source['format']) ?? this.#context.reasoningFormat
    const text = signature === undefined ? '' : item.parts.filter((part) => part.kind === 'reasoning').map((part) => part.text).join('')
    const encrypted_content = sealReasoning({
      format,
      scope: this.#context.scope,
      ...(data === undefined ? {} : { data }),
      ...(signature === undefined ? {} : { signature }),
      ...(text === '' ? {} : { text }),
    })
    return { encrypted_content, format, ...(signature === undefined ? {} : { signature }) }
  }

  /** An item of a built-in tool, or of a kind not known here: as it is, without the upstream's id, opaque content sealed. */
  #carried(source: JsonObject): JsonObject {
    const { id: _, item_id: __, output_index: ___, ...item } = source
    const encrypted = item['encrypted_content']
    if (typeof encrypted !== 'string' || encrypted === '') return item
    return { ...item, encrypted_content: sealReasoning({ format: this.#context.reasoningFormat, scope: this.#context.scope, data: encrypted }) }
  }

  #count(chars: number): void {
    this.#chars += chars
    if (this.#chars > MAX_CHARS) throw this.#garbage(`an answer of more than ${MAX_CHARS} characters`)
  }

  #garbage(what: string): GatewayError {
    return new GatewayError('provider_unavailable', `${this.#context.providerName} sent ${what}`, { source: 'provider', providerName: this.#context.providerName })
  }
}

/** Whether two forms can be the same item: same type, and the same call where both name it. Item ids do not count: some servers rotate them. */
function isSameItem(item: AnswerItem, other: JsonObject): boolean {
  const type = asString(other['type']) ?? 'message'
  if (type !== item.type) return false
  const callId = asString(other['call_id'])
  const known = asString(item.announced['call_id'])
  return !callId || !known || callId === known
}

/** Arguments as text; a few servers send them parsed. */
function argumentsOf(source: JsonObject): string {
  const value = source['arguments'] ?? source['input']
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}
