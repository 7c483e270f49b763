import type { Target } from '../../core/dialect.ts'
import type { AnswerWriter } from '../shared/answer-writer.ts'
import { imageItem } from '../shared/image-item.ts'
import { asString, isObject } from '../shared/json.ts'
import { codeItem } from './code-execution.ts'
import type { Json } from './frame.ts'
import type { FunctionCallDecoder } from './function-calls.ts'
import type { decodeLogprobs } from './logprobs.ts'
import type { GeminiOptions } from './options.ts'
import type { SignatureWriter } from './signatures.ts'

export interface PartReaderOptions {
  readonly target: Target<GeminiOptions>
  readonly writer: AnswerWriter
  readonly signatures: SignatureWriter
  readonly calls: FunctionCallDecoder
}

/** A part that is empty except for its signature; relays omit its text, because it is empty. */
const isCarrier = (part: Json): boolean => part['text'] === '' || Object.keys(part).every((key) => key === 'thoughtSignature')

/** Reads the parts of an answer: text, thoughts, calls, code, pictures. One instance per answer. */
export class PartReader {
  /** Set by every part that did more than write text. */
  busy = false
  /** Whether the last list contained a piece of the answer. */
  spoke = false
  /** The whole text of the answer, for the offsets of citations. */
  said = ''
  readonly #target: Target<GeminiOptions>
  readonly #writer: AnswerWriter
  readonly #signatures: SignatureWriter
  readonly #calls: FunctionCallDecoder
  /** Code whose result has not arrived yet. */
  #code: { readonly code: Json; readonly signature: string | undefined } | undefined

  constructor({ target, writer, signatures, calls }: PartReaderOptions) {
    this.#target = target
    this.#writer = writer
    this.#signatures = signatures
    this.#calls = calls
  }

  /** Reads the parts of one frame; its logprobs belong to the first text. */
  read(parts: readonly unknown[], logprobs: ReturnType<typeof decodeLogprobs>): void {
    let unwritten = logprobs
    this.spoke = false
    for (const part of parts) {
      if (!isObject(part)) continue
      if (!isCarrier(part)) this.spoke = true
      if (typeof part['text'] === 'string' && part['thought'] !== true && part['text'] !== '') {
        this.#textPart(part['text'], asString(part['thoughtSignature']), unwritten)
        unwritten = undefined
      } else this.#part(part)
    }
  }

  #textPart(text: string, signature: string | undefined, logprobs: ReturnType<typeof decodeLogprobs>): void {
    const writer = this.#writer
    this.#calls.release()
    this.endCode()
    if (writer.messageKey !== undefined) {
      if (signature !== undefined) this.#signatures.keepForEnd(signature)
    } else this.#signatures.write(signature)
    writer.text(text, logprobs)
    this.said += text
    if (signature !== undefined) this.busy = true
  }

  #part(part: Json): void {
    const signature = asString(part['thoughtSignature']) || undefined
    this.busy = true
    if (part['thought'] === true) {
      // Pictures in the model's thoughts are not part of the answer.
      if (typeof part['text'] === 'string') this.#thought(part['text'])
      if (signature !== undefined) this.#signatures.keep(signature)
      return
    }
    if (isObject(part['functionCall'])) {
      this.#leaveText()
      this.#calls.push(part['functionCall'], signature)
    } else if (isObject(part['executableCode'])) {
      this.#leaveText()
      this.endCode()
      this.#writer.closeMessage()
      this.#code = { code: part['executableCode'], signature }
    } else if (isObject(part['codeExecutionResult'])) this.#codeResult(part['codeExecutionResult'], signature)
    else if (isObject(part['inlineData'])) this.#inlineData(part['inlineData'], signature)
    else if (isObject(part['toolCall']) || isObject(part['toolResponse'])) {
      this.#leaveText()
      this.#signatures.carry(part)
    } else if (isCarrier(part) && signature !== undefined) this.#signatures.keepForEnd(signature)
  }

  #thought(text: string): void {
    if (text === '') return
    this.#leaveText()
    this.endCode()
    this.#writer.reasoning(this.#target.options.thoughts, text)
  }

  #codeResult(result: Json, signature: string | undefined): void {
    this.#leaveText()
    const before = this.#code
    this.#code = undefined
    this.#signatures.write(before?.signature ?? signature)
    this.#writer.wholeItem(codeItem(before?.code, result))
  }

  /** Code without a result is an item too, because some runs are reported only by their effect. */
  endCode(): void {
    const before = this.#code
    if (before === undefined) return
    this.#code = undefined
    this.#signatures.write(before.signature)
    this.#writer.wholeItem(codeItem(before.code, undefined))
  }

  #inlineData(data: Json, signature: string | undefined): void {
    const bytes = asString(data['data'])
    const type = asString(data['mimeType']) ?? ''
    if (!bytes || !type.startsWith('image/')) return
    this.#leaveText()
    this.endCode()
    this.#signatures.write(signature)
    this.#writer.wholeItem(imageItem(bytes, type))
  }

  /** Called before anything other than text. */
  #leaveText(): void {
    this.#calls.release()
    this.#signatures.leaveText()
  }
}
