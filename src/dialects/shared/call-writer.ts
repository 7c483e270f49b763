import type { ModelEvent } from '../../core/event.ts'
import type { OutputItem } from '../../core/item.ts'
import { createCustomInputStream } from './custom-input.ts'
import type { CustomInputStream } from './custom-input.ts'
import { isCompleteJson, JsonEnd } from './json-end.ts'
import { isObject, saysNothing, tryParseJson } from './json.ts'
import { isPlainText } from './plain-text.ts'
import type { ToolNames } from './tool-names.ts'

/** A tool call while it is written. */
export interface OpenCall {
  readonly key: string
  /** Arguments so far, as the upstream wrote them. */
  arguments: string
  readonly end: JsonEnd
  /** They are an empty object that was not shown yet: some servers send it as a placeholder for arguments to come. */
  held: boolean
  /** They are a JSON string, in which some models and servers wrap them; it was not shown yet. */
  quoted: boolean
  readonly custom: CustomInputStream | undefined
  closed: boolean
}

/** The calls of one answer, several of which may be open at once. There may be tens of thousands. */
export class CallWriter {
  readonly #answer: { readonly out: ModelEvent[] }
  readonly #open = new Set<OpenCall>()
  /** Those that may have become complete since they were last checked. */
  #endable: Set<OpenCall> | undefined

  /** `answer`: where events go. */
  constructor(answer: { readonly out: ModelEvent[] }) {
    this.#answer = answer
  }

  open(key: string, callId: string, { kind, name, namespace }: ReturnType<ToolNames['origin']>): OpenCall {
    const custom = kind === 'custom' ? createCustomInputStream() : undefined
    const call: OpenCall = { key, arguments: '', end: new JsonEnd(), held: false, quoted: false, custom, closed: false }
    const shared = { call_id: callId, name, ...(namespace === undefined ? {} : { namespace }) }
    const item: OutputItem =
      custom === undefined ? { type: 'function_call', ...shared, arguments: '' } : { type: 'custom_tool_call', ...shared, input: '' }
    this.#open.add(call)
    this.#answer.out.push({ type: 'item-start', key, item })
    return call
  }

  /** More of a call's arguments. What comes after they are complete is noise and ignored. */
  arguments(call: OpenCall, delta: string): void {
    if (delta === '' || call.closed) return
    if (call.custom === undefined && call.arguments === '' && saysNothing(delta)) return
    if (call.quoted || (call.custom === undefined && call.arguments === '' && delta.trimStart().startsWith('"'))) {
      call.quoted = true
      call.arguments += delta
      return
    }
    if (call.held) delta = takeHeld(call, delta)
    if (call.arguments === '' && delta.trim() === '{}') {
      call.arguments = delta
      call.held = true
      this.#mayEnd(call)
      return
    }
    this.#showArguments(call, delta)
  }

  #showArguments(call: OpenCall, delta: string): void {
    // Sent again, although nothing can follow a complete object.
    if (call.end.mayBeWhole && delta.trimStart().startsWith('{') && call.end.isWhole(call.arguments)) return
    call.arguments += delta
    call.end.push(delta)
    if (call.end.mayBeWhole) this.#mayEnd(call)
    const shown = call.custom === undefined ? delta : call.custom.push(delta)
    if (shown === '') return
    const plain = isPlainText(shown)
    this.#answer.out.push({ type: 'arguments-delta', key: call.key, delta: shown, ...(plain ? { plain } : {}) })
  }

  /**
   * `cut`: the answer was cut off, so incomplete arguments make their call incomplete. Arguments that break off do so however the answer ended,
   * because nobody may run a call by the beginning of its arguments.
   */
  close(call: OpenCall, cut = false): void {
    if (call.closed) return
    if (call.held) this.#showArguments(call, takeHeld(call, ''))
    else if (call.quoted) this.#showArguments(call, takeQuoted(call))
    call.closed = true
    this.#open.delete(call)
    const custom = call.custom?.end()
    const broken = cut ? !isCompleteJson(call.arguments) : (custom ?? call.end).breaksOff
    const incomplete = broken ? { status: 'incomplete' } : {}
    if (custom === undefined) {
      const empty = call.arguments.trim() === '' && !cut ? { arguments: '{}' } : {}
      const fields = { ...empty, ...incomplete }
      this.#answer.out.push({ type: 'item-end', key: call.key, ...(Object.keys(fields).length === 0 ? {} : { item: fields }) })
      return
    }
    const { rest, input } = custom
    if (rest !== '') this.#answer.out.push({ type: 'arguments-delta', key: call.key, delta: rest })
    this.#answer.out.push({ type: 'item-end', key: call.key, item: { input, ...incomplete } })
  }

  #mayEnd(call: OpenCall): void {
    this.#endable = (this.#endable ?? new Set()).add(call)
  }

  closeComplete(): void {
    for (const call of this.#endable ?? []) if (!call.closed && call.end.isWhole(call.arguments)) this.close(call)
    this.#endable = undefined
  }

  closeAll(cut: boolean): void {
    for (const call of this.#open) this.close(call, cut)
  }
}

/** What `delta` adds to a call whose empty object was held back; another object replaces it. */
function takeHeld(call: OpenCall, delta: string): string {
  const held = call.arguments
  call.held = false
  call.arguments = ''
  return delta.trimStart().startsWith('{') ? delta : held + delta
}

/** The object inside the string, if it contains one; otherwise the text as it came. */
function takeQuoted(call: OpenCall): string {
  const written = call.arguments
  call.arguments = ''
  const text = tryParseJson(written)
  return typeof text === 'string' && isObject(tryParseJson(text)) ? text : written
}
