import { GatewayError } from '../../core/error.ts'
import type { AnswerAside } from '../shared/answer-aside.ts'
import { isCompleteJson } from '../shared/json-end.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import type { OpenCall } from '../shared/call-writer.ts'
import { isObject } from '../shared/json.ts'

export interface ToolCallOptions {
  readonly providerName: string
  /** The first call of this tool is the answer itself: its arguments become text. */
  readonly answerTool?: { readonly name: string; readonly aside: AnswerAside }
  /** Finds an opaque signature on a call. */
  readonly signatureOf?: (call: { readonly [field: string]: unknown }) => string | undefined
  /** Receives the signature, before the call is opened if it arrives in time. */
  readonly onSignature?: (signature: string) => void
}

interface Call {
  id: string
  name: string
  /** Arguments that arrived before the call could be opened. */
  waiting: string
  open: OpenCall | undefined
  /** A call of the answer tool: the answer, or a surplus call. */
  answers: 'text' | 'nothing' | undefined
  /** Whether its arguments end like an object or a list. */
  closed: boolean
  /** Whether its signature has arrived. */
  signed: boolean
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Arguments are text; some servers send the object itself, some null. */
function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

/** Whether its arguments are complete, so that what follows belongs to another call. */
const isWhole = ({ closed, open, waiting }: Call): boolean =>
  closed && (open === undefined ? isCompleteJson(waiting) : open.end.isWhole(open.arguments))

/** Whether this continues arguments that have begun, instead of starting new ones. */
const goesOn = (call: Call, args: string): boolean =>
  (call.open?.arguments ?? call.waiting) !== '' && !isWhole(call) && !args.trimStart().startsWith('{')

/**
 * Assembles tool calls from pieces. Calls are distinguished by `index`. For servers that omit it, or always send 0, a new id, a new name, or
 * arguments after complete ones start another call. Repeated ids and names are ignored.
 */
export class ToolCallDecoder {
  readonly #writer: AnswerWriter
  readonly #options: ToolCallOptions
  /** Created with the first call, because most answers have none. */
  #known: Map<string, Call> | undefined
  readonly #all: Call[] = []
  #lastKey: string | undefined
  #fresh = 0

  constructor(writer: AnswerWriter, options: ToolCallOptions) {
    this.#writer = writer
    this.#options = options
  }

  get #byKey(): Map<string, Call> {
    return (this.#known ??= new Map())
  }

  get any(): boolean {
    return this.#all.length > 0
  }

  /** The `tool_calls` of one delta, or of a whole message (where every entry is a separate call). */
  push(entries: unknown, isMessage: boolean): void {
    if (!Array.isArray(entries)) return
    entries.forEach((entry, position) => isObject(entry) && this.#entry(entry, position, isMessage))
  }

  /** Opens the calls that could not be opened yet; a call without a name is an error. */
  finish(): void {
    for (const call of this.#all) {
      if (call.name === '') {
        throw new GatewayError('provider_unavailable', `${this.#options.providerName} sent a tool call without a name`, {
          source: 'provider',
          providerName: this.#options.providerName,
        })
      }
      this.#open(call)
    }
  }

  #entry(entry: { readonly [field: string]: unknown }, position: number, isMessage: boolean): void {
    const fn = isObject(entry['function']) ? entry['function'] : {}
    const id = text(entry['id'])
    const name = text(fn['name'])
    const args = argumentsText(fn['arguments'])
    const index = typeof entry['index'] === 'number' ? entry['index'] : undefined
    const signature = this.#options.signatureOf?.(entry)
    // An empty piece must not open a phantom call.
    if (id === '' && name === '' && args === '' && signature === undefined) return

    let key = this.#keyOf(index, id, name)
    let call = this.#byKey.get(key)
    if (call === undefined || isMessage || this.#startsAnother(call, id, name, args, index, position)) {
      if (call !== undefined && index === undefined) key = `new:${this.#fresh++}`
      call = { id: '', name: '', waiting: '', open: undefined, answers: undefined, closed: false, signed: false }
      this.#byKey.set(key, call)
      this.#all.push(call)
    }
    this.#lastKey = key
    if (call.id === '') call.id = id
    call.name = this.#nameOf(call, name)
    if (signature !== undefined && !call.signed) {
      call.signed = true
      this.#options.onSignature?.(signature)
    }
    this.#arguments(call, args)
  }

  #keyOf(index: number | undefined, id: string, name: string): string {
    const last = this.#lastKey
    const key = index !== undefined ? `#${index}` : id !== '' ? `id:${id}` : (last ?? `new:${this.#fresh++}`)
    if (id !== '' || name !== '' || last === undefined || this.#byKey.has(key)) return key
    // A call cannot begin without a name or an id: a server that counts pieces instead of calls continues the last call, as long as that is
    // incomplete.
    const open = this.#byKey.get(last)!
    return open.name === '' || isWhole(open) ? key : last
  }

  /** Names arrive in one piece or, from some servers, in several; a repeated one is usually the same. */
  #nameOf(call: Call, received: string): string {
    if (call.name === '' || received === '' || !this.#takesName(call, received)) return call.name || received
    return received.startsWith(call.name) ? received : call.name + received
  }

  #takesName({ name, open, waiting }: Call, received: string): boolean {
    return received !== name && open === undefined && waiting === '' && this.#writer.beginsName(name)
  }

  #startsAnother(call: Call, id: string, name: string, args: string, index: number | undefined, position: number): boolean {
    // An id that changes from piece to piece is one call of a careless server if there is no name, or if the arguments continue.
    if (id !== '' && call.id !== '' && id !== call.id) return name !== '' && !(index !== undefined && name === call.name && goesOn(call, args))
    if (id !== '' && call.id !== '') return false
    if (name === '' || call.name === '') return false
    if (name !== call.name) return !this.#takesName(call, name)
    if (index === undefined && position > 0) return true
    return (index === undefined || args !== '') && isWhole(call)
  }

  #arguments(call: Call, args: string): void {
    const piece = args.trimEnd()
    // Only what ends like an object or a list is worth parsing, because servers that repeat the name cause this check with every piece.
    if (piece !== '') call.closed = piece.endsWith('}') || piece.endsWith(']')
    if (call.answers !== undefined) {
      if (call.answers === 'text') this.#writer.text(args)
      return
    }
    if (call.open !== undefined) return this.#writer.arguments(call.open, args)
    call.waiting += args
    // A missing id, or the rest of a name, may still arrive until there are arguments to write.
    if (call.name !== '' && (call.waiting !== '' || (call.id !== '' && !this.#writer.beginsName(call.name)))) this.#open(call)
  }

  #open(call: Call): void {
    if (call.open !== undefined || call.answers !== undefined) return
    const { answerTool } = this.#options
    if (call.name === answerTool?.name) {
      call.answers = answerTool.aside.called() ? 'text' : 'nothing'
      if (call.answers === 'text') this.#writer.text(call.waiting)
      return
    }
    answerTool?.aside.flush()
    call.open = this.#writer.openCall(call.id, call.name)
    this.#writer.arguments(call.open, call.waiting)
    call.waiting = ''
  }
}
