import { END_MARK } from '../mock/script.ts'
import { NeedleCounter } from './needle-counter.ts'

/** The wire format between a target and its callers. `responses-bare`: streams end with their last event, without `[DONE]`. */
export type CallerFormat = 'chat' | 'responses' | 'responses-bare'

/** The bytes before the text of a streamed piece, which occur nowhere else in an answer. */
const DELTA_START: { readonly [F in CallerFormat]: string } = {
  chat: '"delta":{"content":"',
  responses: '"type":"response.output_text.delta"',
  'responses-bare': '"type":"response.output_text.delta"',
}
const DONE = 'data: [DONE]\n\n'
const TAIL_LENGTH = DONE.length
const LAST_EVENT = '"type":"response.completed"'

/**
 * Judges every answer of a load run cheaply: status, end mark, terminator and number of pieces. The exact text is verified once per target before the run
 * (verify.ts).
 */
export class AnswerCheck {
  readonly #stream: boolean
  /** For formats in which no `[DONE]` follows the last event. */
  readonly #lastEvent: NeedleCounter | undefined
  readonly #pieces: NeedleCounter
  readonly #marks = new NeedleCounter(END_MARK)
  #status = 0
  #tail: Buffer = Buffer.alloc(0)

  constructor(format: CallerFormat, stream: boolean) {
    this.#stream = stream
    this.#pieces = new NeedleCounter(DELTA_START[format])
    this.#lastEvent = stream && format === 'responses-bare' ? new NeedleCounter(LAST_EVENT) : undefined
  }

  /** The pieces of text in the current answer so far. */
  get pieces(): number {
    return this.#pieces.count
  }

  start(status: number): void {
    this.#status = status
    this.#pieces.reset()
    this.#marks.reset()
    this.#lastEvent?.reset()
    this.#tail = this.#tail.subarray(0, 0)
  }

  body(chunk: Buffer): void {
    this.#marks.push(chunk)
    if (this.#stream) this.#pieces.push(chunk)
    this.#lastEvent?.push(chunk)
    this.#tail = chunk.length >= TAIL_LENGTH ? chunk.subarray(-TAIL_LENGTH) : Buffer.concat([this.#tail, chunk]).subarray(-TAIL_LENGTH)
  }

  /** What is wrong with the finished answer; undefined if nothing is. `expectedPieces` 0 accepts any number. */
  verdict(expectedPieces: number): string | undefined {
    if (this.#status !== 200) return `status ${this.#status}`
    if (this.#marks.count === 0) return 'the end of the text is missing'
    const tail = this.#tail.toString('latin1')
    if (!this.#stream) return tail.trimEnd().endsWith('}') ? undefined : 'the JSON does not end'
    if (this.#lastEvent === undefined ? tail !== DONE : this.#lastEvent.count !== 1 || !tail.endsWith('}\n\n')) return 'the stream does not end'
    if (expectedPieces > 0 && this.#pieces.count !== expectedPieces) return `${this.#pieces.count} pieces of ${expectedPieces}`
    return undefined
  }
}
