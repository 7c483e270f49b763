import { sealReasoning } from '../../core/reasoning-envelope.ts'
import type { AnswerWriter, ReasoningFields } from '../shared/answer-writer.ts'
import { REASONING_FORMAT } from './options.ts'

/**
 * Transports the signatures of parts in reasoning items of the contract: one before the part that it signs, or inside the open reasoning item.
 * Signatures of text follow the message, so that they never split it.
 */
export class SignatureWriter {
  readonly #writer: AnswerWriter
  readonly #scope: string
  /** The signature of the current part, or of a thought, for the next item. */
  #pending: string | undefined
  /** What the signature signs, as far as that must be known. */
  #signs: 'call' | undefined
  /** Signatures of text parts inside or after a message, written when it ends. */
  #trailing: string[] = []

  constructor(writer: AnswerWriter, scope: string) {
    this.#writer = writer
    this.#scope = scope
  }

  /** The signature of a thought belongs to what follows. */
  keep(signature: string): void {
    this.#pending = signature
  }

  /** The signature of text inside, or after, a message. */
  keepForEnd(signature: string): void {
    this.#trailing.push(signature)
  }

  /** Writes a signature before the next item. */
  write(signature: string | undefined, signs?: 'call'): void {
    const own = signature ?? this.#pending
    this.#pending = own
    if (own === undefined) return
    this.#signs = signs
    if (this.#writer.reasoningKey !== undefined) return this.#writer.closeReasoning()
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning(this.take())
  }

  /** The fields of the reasoning item that ends. */
  take(): ReasoningFields {
    const signature = this.#pending
    const signs = this.#signs
    this.#pending = this.#signs = undefined
    if (signature === undefined) return { format: REASONING_FORMAT }
    return this.#seal(signs === undefined ? { signature } : { signature, signs })
  }

  /** A part that clients need not see, but which must go back unchanged with the turn. */
  carry(part: object): void {
    this.#writer.closeMessage()
    this.#writer.opaqueReasoning(this.#seal({ data: JSON.stringify(part) }))
  }

  /** If its text was signed, ends the message and writes those signatures. */
  leaveText(status?: 'incomplete'): void {
    if (this.#trailing.length === 0) return
    this.#writer.closeMessage(status)
    const trailing = this.#trailing
    this.#trailing = []
    for (const signature of trailing) this.#writer.opaqueReasoning(this.#seal({ signature }))
  }

  /** At the end of the answer: writes a signature that nothing followed. */
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
