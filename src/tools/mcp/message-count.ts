import { EgressError } from '../../lib/egress-policy.ts'

export interface MessageCountOptions {
  readonly max: number
  /** Called once, with half of them. */
  readonly onHalf?: (() => void) | undefined
  /** Called with what `add` throws. */
  readonly onMany?: ((error: EgressError) => void) | undefined
}

/** Messages that a server may send. To read one takes a fixed time, so that millions of empty ones cost more than any large one. */
export class MessageCount {
  readonly #options: MessageCountOptions
  #left: number
  #half: boolean

  constructor(options: MessageCountOptions) {
    this.#options = options
    this.#left = options.max
    this.#half = false
  }

  /** Throws EgressError where there are too many. */
  add(messages: number): void {
    const { max, onHalf, onMany } = this.#options
    this.#left -= messages
    if (!this.#half && this.#left <= max / 2) {
      this.#half = true
      onHalf?.()
    }
    if (this.#left >= 0) return
    const error = new EgressError('network', `the server sent more than ${max} messages`)
    onMany?.(error)
    throw error
  }
}
