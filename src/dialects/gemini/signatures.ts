import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { AnswerWriter, ReasoningFields } from '../shared/answer-writer.ts'
import { REASONING_FORMAT } from './options.ts'

/**
 * Carries the signatures of parts through the contract, where reasoning items hold them: one in front of what it signs, or inside the
 * reasoning that is open there; those of text behind the message, so that they never cut it in two.
 */
export class SignatureWriter {
  readonly #writer: AnswerWriter
  readonly #scope: string
  /** Of the part in hand, or of a thought, for the next item. */
  #pending: string | undefined
  /** What it stands on, as far as that has to be known. */
  #signs: 'call' | undefined
  /** Of text parts inside or behind a message; written when it ends. */
  #trailing: string[] = []

  constructor(writer: AnswerWriter, scope: string) {
    this.#writer = writer
    this.#scope = scope
  }

  /** A signature on a thought goes with what follows. */
  keep(signature: string): void {
    this.#pending = signature
  }

  /** A signature on text inside, or behind, a message. */
  keepForEnd(signature: string): void {
    this.#trailing.push(signature)
  }

  /** Writes a signature in front of the item that comes next. */
  write(signature: string | undefined, signs?: 'call'): void {
    const own = signature ?? this.#pending
    this.#pending = own
    if (own === undefined) return
    this.#signs = signs
    if (this.#writer.reasoningKey !== undefined) return this.#writer.closeReasoning()
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning(this.take())
  }

  /** The fields of reasoning that ends. */
  take(): ReasoningFields {
    const signature = this.#pending
    const signs = this.#signs
    this.#pending = this.#signs = undefined
    if (signature === undefined) return { format: REASONING_FORMAT }
    return this.#seal(signs === undefined ? { signature } : { signature, signs })
  }

  /** A part nobody has to see, but which must go back with the turn as it is. */
  carry(part: object): void {
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning(this.#seal({ data: JSON.stringify(part) }))
  }

  /** Ends the message, if its text was signed, and writes those signatures. */
  leaveText(status?: 'incomplete'): void {
    if (this.#trailing.length === 0) return
    this.#writer.closeMessage(status)
    const trailing = this.#trailing
    this.#trailing = []
    for (const signature of trailing) this.#writer.opaqueReasoning(this.#seal({ signature }))
  }

  /** At the end of the answer: a signature nothing followed. */
  finish(status?: 'incomplete'): void {
    if (this.#pending !== undefined && this.#writer.reasoningKey === undefined) {
      this.#trailing.push(this.#pending)
      this.#pending = undefined
    }
    this.leaveText(status)
  }

  #seal(payload: { readonly signature: string; readonly signs?: 'call' } | { readonly data: string }): ReasoningFields {
    const sealed = sealReasoning({ format: REASONING_FORMAT, scope: this.#scope, ...payload })
    return { format: REASONING_FORMAT, ...('signature' in payload ? { signature: payload.signature } : {}), encrypted_content: sealed }
  }
}
