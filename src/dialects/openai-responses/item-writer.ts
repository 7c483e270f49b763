import { BY_CALLER } from '../../core/caller-call.ts'
import type { GatewayError } from '../../core/error.ts'
import type { ModelEvent } from '../../core/event.ts'
import type { JsonObject, Logprob, OutputItem } from '../../core/item.ts'
import { publicReasoningFormat, sealReasoning } from '../../core/reasoning-envelope.ts'
import { createCustomInputStream } from '../shared/custom-input.ts'
import { hashedName } from '../shared/id-map.ts'
import { breaksOff } from '../shared/json-end.ts'
import { brokenAnswer } from '../shared/errors.ts'
import { asString, isObject } from '../shared/json.ts'
import type { ToolNames } from '../shared/tool-names.ts'
import type { AnswerItem, StreamedPart } from './answer-item.ts'
import { readAnnotation, readMessageParts, readReasoningParts } from './content-parts.ts'
import type { FinalPart } from './content-parts.ts'
import { howCalled, opaqueField } from './programs.ts'
import type { ToolRuns } from './usage.ts'

/** The smallest limit of any vendor of this dialect, because a conversation may move there. */
const MAX_CALL_ID = 64
/** The most characters of text, reasoning and arguments in one answer. */
const MAX_CHARS = 64 * 1024 * 1024

/** Items whose id the caller sends back: an approval refers to its request by it, and a program is sealed with it. */
const KEEPS_ID: ReadonlySet<string> = new Set(['mcp_approval_request', 'program', 'program_output'])

export interface AnswerContext {
  readonly providerName: string
  /** The format name and scope that mark encrypted reasoning of this endpoint. */
  readonly reasoningFormat: string
  readonly scope: string
  /** Whether unsigned text is sealed too, for servers that expect it back and callers that ask for the encrypted field. */
  readonly sealsText: boolean
  readonly toolNames: ToolNames
  /** What the upstream did by itself. */
  readonly ran: ToolRuns
}

/** What else is known of a text delta: its log probabilities, or that it needs no JSON escaping. */
export type DeltaDetail = 'plain' | readonly Logprob[] | undefined

/** Converts what is known of an item to events: its start, its deltas, what the deltas left out, and its end. */
export class ItemWriter {
  /** True once anything was written that belongs to an answer. */
  hasContent = false
  hasCalls = false
  hasText = false
  hasRefusal = false
  /** The upstream's id of the answer: call ids it left out are derived from it. */
  seed = ''

  readonly #context: AnswerContext
  readonly #callIds = new Set<string>()
  #chars = 0

  constructor(context: AnswerContext) {
    this.#context = context
  }

  /** Announces an item. A call waits until its name and id are known; `last` means that nothing more will follow. */
  start(item: AnswerItem, source: JsonObject, out: ModelEvent[], last = false): void {
    if (item.kind === 'call') return this.#startCall(item, source, out, last)
    item.started = true
    out.push({ type: 'item-start', key: item.key, item: this.#opening(item, source) })
    if (item.kind === 'other') {
      this.hasContent = true
      if (BY_CALLER.has(item.type)) this.hasCalls = true
    }
  }

  /** Ends an item. `final` is the upstream's finished form of it, if there is one. */
  finish(item: AnswerItem, final: JsonObject | undefined, out: ModelEvent[], cut = false): void {
    const source = final ?? item.announced
    item.closed = true
    if (!item.started) this.start(item, source, out, true)
    const status = source['status'] === 'incomplete' || (cut && source['status'] !== 'completed') ? 'incomplete' : 'completed'
    switch (item.kind) {
      case 'message':
        this.#completeParts(item, readMessageParts(source['content']), out)
        out.push({ type: 'item-end', key: item.key, item: { status } })
        return
      case 'reasoning':
        this.#completeParts(item, readReasoningParts(source['summary'], 'summary'), out)
        this.#completeParts(item, readReasoningParts(source['content'], 'reasoning'), out)
        out.push({ type: 'item-end', key: item.key, item: { status, ...(final === undefined ? {} : this.#sealed(item, final)) } })
        return
      case 'call':
        this.appendMissing(item, argumentsOf(source), out)
        out.push({ type: 'item-end', key: item.key, item: { status: this.#endCall(item, out) ? 'incomplete' : status } })
        return
      case 'other': {
        this.#context.ran.note({ ...source, type: item.type })
        const known = final === undefined ? undefined : this.#carried(final)
        const finalItem = cut && isUnfinished(source) ? { ...known, status: 'incomplete' } : known
        out.push(finalItem === undefined ? { type: 'item-end', key: item.key } : { type: 'item-end', key: item.key, item: finalItem })
      }
    }
  }

  /** Forwards an annotation if its kind is in the contract. */
  annotate(item: AnswerItem, part: StreamedPart, value: unknown, out: ModelEvent[]): void {
    const annotation = readAnnotation(value)
    if (annotation !== undefined) out.push({ type: 'annotation', key: item.key, annotation, part: item.numberOf(part) })
  }

  /** `plain` deltas need no JSON escaping. */
  appendArguments(item: AnswerItem, delta: string, plain: boolean, out: ModelEvent[]): void {
    // Some servers write `null` for no arguments; no other arguments begin like this.
    if (item.text === '' && delta === 'null' && item.type === 'function_call' && item.wrapped === undefined) return
    this.#count(delta.length)
    item.text += delta
    if (item.started) this.#passArguments(item, delta, plain, out)
  }

  /** Appends what `complete` has beyond the arguments so far. A text that differs from them is ignored, because what was streamed cannot change. */
  appendMissing(item: AnswerItem, complete: string, out: ModelEvent[]): void {
    if (complete.length > item.text.length && complete.startsWith(item.text)) this.appendArguments(item, complete.slice(item.text.length), false, out)
  }

  appendText(item: AnswerItem, part: StreamedPart, delta: string, detail: DeltaDetail, out: ModelEvent[]): void {
    this.#count(delta.length)
    this.hasContent = true
    part.text += delta
    const key = item.key
    const number = item.numberOf(part)
    const plain = detail === 'plain'
    switch (part.kind) {
      case 'text':
        this.hasText = true
        if (plain) out.push({ type: 'text-delta', key, delta, part: number, plain })
        else
          out.push(
            detail === undefined
              ? { type: 'text-delta', key, delta, part: number }
              : { type: 'text-delta', key, delta, part: number, logprobs: detail },
          )
        return
      case 'refusal':
        this.hasRefusal = true
        out.push({ type: 'refusal-delta', key, delta, part: number })
        return
      default: {
        const kind = part.kind === 'summary' ? 'summary' : 'text'
        out.push(
          plain ? { type: 'reasoning-delta', key, kind, delta, part: number, plain } : { type: 'reasoning-delta', key, kind, delta, part: number },
        )
      }
    }
  }

  /** The same for a content part, including annotations that were not announced one by one. */
  completePart(item: AnswerItem, part: StreamedPart, final: FinalPart, out: ModelEvent[]): void {
    if (final.text.length > part.text.length && final.text.startsWith(part.text)) {
      const logprobs = part.text === '' && final.logprobs.length > 0 ? final.logprobs : undefined
      this.appendText(item, part, final.text.slice(part.text.length), logprobs, out)
    }
    for (let i = part.annotations; i < final.annotations.length; i++) {
      part.annotations++
      this.annotate(item, part, final.annotations[i], out)
    }
  }

  #completeParts(item: AnswerItem, finals: readonly (FinalPart | undefined)[], out: ModelEvent[]): void {
    for (const [position, final] of finals.entries()) {
      if (final === undefined || (final.text === '' && final.annotations.length === 0)) continue
      this.completePart(item, item.match(final.kind, position, finals.length), final, out)
    }
  }

  #passArguments(item: AnswerItem, delta: string, plain: boolean, out: ModelEvent[]): void {
    if (item.wrapped === undefined) this.#emitArguments(item, delta, plain, out)
    else this.#emitArguments(item, item.wrapped.push(delta), false, out)
  }

  /** Writes the rest of a call; returns whether it is incomplete. Free text of a native tool has no end mark of its own. */
  #endCall(item: AnswerItem, out: ModelEvent[]): boolean {
    if (item.wrapped === undefined) return item.type === 'function_call' && breaksOff(item.text)
    const { rest, breaksOff: broken } = item.wrapped.end()
    this.#emitArguments(item, rest, false, out)
    return broken
  }

  #emitArguments(item: AnswerItem, delta: string, plain: boolean, out: ModelEvent[]): void {
    if (delta === '') return
    out.push(plain ? { type: 'arguments-delta', key: item.key, delta, plain } : { type: 'arguments-delta', key: item.key, delta })
  }

  /**
   * The data that a later turn needs to replay the reasoning, sealed with the format and scope that can read it. Only for finished items, because
   * some vendors announce reasoning with a blob that is not the final one.
   */
  #sealed(item: AnswerItem, source: JsonObject): { readonly [field: string]: unknown } {
    const data = asString(source['encrypted_content']) || undefined
    const signature = asString(source['signature']) || undefined
    const isPlain = data === undefined && signature === undefined
    if (isPlain && !this.#context.sealsText) return {}
    const text =
      signature === undefined && !isPlain
        ? ''
        : item.parts
            .filter((part) => part.kind === 'reasoning')
            .map((part) => part.text)
            .join('')
    if (isPlain && text === '') return {}
    this.hasContent = true
    const format = asString(source['format']) ?? (isPlain ? 'unknown' : this.#context.reasoningFormat)
    const encrypted_content = sealReasoning({
      format,
      scope: this.#context.scope,
      ...(data === undefined ? {} : { data }),
      ...(signature === undefined ? {} : { signature }),
      ...(text === '' ? {} : { text }),
    })
    return { encrypted_content, format: publicReasoningFormat(format), ...(signature === undefined ? {} : { signature }) }
  }

  /** An item of a built-in tool, or of an unknown kind: unchanged, but without the upstream's id and with opaque content sealed. */
  #carried(source: JsonObject): JsonObject {
    const { id, item_id: _, output_index: __, ...rest } = source
    const item: JsonObject = KEEPS_ID.has(String(source['type'])) ? { id, ...rest } : rest
    if (source['type'] === 'web_search_call' && isObject(source['action'])) return { ...item, action: withQuery(source['action']) }
    const field = opaqueField(source['type'])
    const opaque = item[field]
    if (typeof opaque !== 'string' || opaque === '') return item
    return { ...item, [field]: sealReasoning({ format: this.#context.reasoningFormat, scope: this.#context.scope, data: opaque }) }
  }

  #opening(item: AnswerItem, source: JsonObject): OutputItem {
    if (item.kind === 'other') return { ...this.#carried(source), type: item.type }
    if (item.kind === 'reasoning') return { type: 'reasoning', summary: [], status: 'in_progress' }
    const phase = source['phase']
    const known = phase === 'commentary' || phase === 'final_answer' ? { phase } : {}
    return { type: 'message', role: 'assistant', content: [], status: 'in_progress', ...known }
  }

  /** A call starts when its name and id are known, or at the latest when it is done. */
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
      ...howCalled({ ...item.announced, ...source }),
      status: 'in_progress',
    } as const
    if (item.type === 'function_call' && origin.kind === 'custom') item.wrapped = createCustomInputStream()
    const isCustom = item.wrapped !== undefined || item.type === 'custom_tool_call'
    out.push({
      type: 'item-start',
      key: item.key,
      item: isCustom ? { type: 'custom_tool_call', ...shared, input: '' } : { type: 'function_call', ...shared, arguments: '' },
    })
    this.hasContent = true
    this.hasCalls = true
    if (item.text !== '') this.#passArguments(item, item.text, false, out)
  }

  /** Unique within the answer and short enough for every vendor. */
  #callId(upstream: string | undefined, key: string): string {
    let id = upstream && upstream.length > MAX_CALL_ID ? `call_${hashedName(upstream, 24)}` : upstream
    if (!id || this.#callIds.has(id)) id = `call_${hashedName(`${this.seed}\n${key}\n${upstream ?? ''}`, 24)}`
    this.#callIds.add(id)
    return id
  }

  #count(chars: number): void {
    this.#chars += chars
    if (this.#chars > MAX_CHARS) throw this.#garbage(`an answer of more than ${MAX_CHARS} characters`)
  }

  #garbage(what: string): GatewayError {
    return brokenAnswer(this.#context.providerName, `sent ${what}`)
  }
}

/** Whether an item with a status is neither completed nor failed. */
const isUnfinished = ({ status }: JsonObject): boolean => typeof status === 'string' && status !== 'completed' && status !== 'failed'

/** The contract requires the query of a search; some servers send a list of them, or none. */
function withQuery(action: JsonObject): JsonObject {
  if (action['type'] !== 'search' || typeof action['query'] === 'string') return action
  const { queries } = action
  return { ...action, query: (Array.isArray(queries) ? asString(queries[0]) : undefined) ?? '' }
}

/** Arguments as text; a few servers send them parsed. */
function argumentsOf(source: JsonObject): string {
  const value = source['arguments'] ?? source['input']
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}
