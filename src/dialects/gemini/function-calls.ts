import type { GatewayError } from '../../core/error.ts'
import { brokenAnswer } from '../shared/errors.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import type { OpenCall } from '../shared/call-writer.ts'
import { hashedName } from '../shared/id-map.ts'
import { asString, isObject } from '../shared/json.ts'
import { PartialArguments } from './partial-args.ts'

type Json = { readonly [field: string]: unknown }

export interface FunctionCallOptions {
  readonly writer: AnswerWriter
  readonly providerName: string
  /** Names of the caller's tools. A call with another name waits for what follows, because a finish reason may invalidate it. */
  readonly declared: () => ReadonlySet<string>
  /** Text that is unique to this answer in the conversation; the ids of calls without one are derived from it. */
  readonly seed: () => string
  /** Writes the signature of a call. */
  readonly sign: (signature: string | undefined) => void
}

/** Decodes function calls. Each part is a separate call, whatever its name and position; some arrive in pieces. */
export class FunctionCallDecoder {
  readonly #options: FunctionCallOptions
  #names: ReadonlySet<string> | undefined
  #count = 0
  #partial: { readonly call: OpenCall; readonly args: PartialArguments } | undefined
  #waiting: { readonly call: Json; readonly signature: string | undefined } | undefined

  constructor(options: FunctionCallOptions) {
    this.#options = options
  }

  push(call: Json, signature: string | undefined): void {
    const name = asString(call['name'])
    if (!name) return this.#more(call)
    this.release()
    this.#endPartial(false)
    const inPieces = call['willContinue'] === true || Array.isArray(call['partialArgs'])
    if (inPieces) {
      this.#partial = { call: this.#open(call, name, signature), args: new PartialArguments() }
      return this.#more(call)
    }
    this.#names ??= this.#options.declared()
    if (this.#names.has(name)) this.#whole(call, name, signature)
    else {
      // What follows comes after the call, even if a message was open.
      this.#options.writer.closeMessage()
      this.#waiting = { call, signature }
    }
  }

  /** Writes a call that waited: the answer continues, so the call did not end it. */
  release(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) this.#whole(waiting.call, asString(waiting.call['name'])!, waiting.signature)
  }

  /** `cut` means that the answer broke off and a call in pieces is incomplete. */
  finish(cut: boolean): void {
    this.release()
    this.#endPartial(cut)
  }

  #whole(call: Json, name: string, signature: string | undefined): void {
    const { writer } = this.#options
    const open = this.#open(call, name, signature)
    writer.arguments(open, argumentsOf(call['args']))
    writer.closeCall(open)
  }

  #open(call: Json, name: string, signature: string | undefined): OpenCall {
    this.#options.sign(signature)
    const id = asString(call['id']) || `call_${hashedName(`${this.#options.seed()}:${this.#count}`, 20)}`
    this.#count++
    return this.#options.writer.openCall(id, name)
  }

  /** A piece of the open call; an empty piece ends it. */
  #more(call: Json): void {
    const partial = this.#partial
    if (partial === undefined) return
    const pieces = Array.isArray(call['partialArgs']) ? (call['partialArgs'] as readonly unknown[]) : []
    for (const piece of pieces) if (!partial.args.add(piece)) throw this.#broken('pieces of arguments that do not fit together')
    if (call['willContinue'] !== true) this.#endPartial(false)
  }

  #endPartial(cut: boolean): void {
    const partial = this.#partial
    if (partial === undefined) return
    this.#partial = undefined
    const { writer } = this.#options
    const json = partial.args.toJson()
    if (cut) {
      // Not repaired, because the caller must not take it for complete.
      writer.arguments(partial.call, json.slice(0, -1))
      writer.closeCall(partial.call, true)
      return
    }
    if (!partial.args.complete) throw this.#broken('a call whose arguments break off')
    writer.arguments(partial.call, json)
    writer.closeCall(partial.call)
  }

  #broken(what: string): GatewayError {
    return brokenAnswer(this.#options.providerName, `sent ${what}`)
  }
}

/** Servers other than the vendor's write arguments as text, too. */
function argumentsOf(args: unknown): string {
  if (isObject(args)) return JSON.stringify(args)
  return asString(args) || '{}'
}
