/** A signal that fires with its parent or after a time, and a race against it for tools that do not listen to signals. */
export class TimeLimit {
  expired = false
  readonly #controller = new AbortController()
  readonly #parent: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #onParent = (): void => this.#controller.abort(this.#parent.reason)

  constructor(parent: AbortSignal, ms: number) {
    this.#parent = parent
    this.#timer = setTimeout(() => {
      this.expired = true
      this.#controller.abort(new Error('time is over'))
    }, ms)
    parent.addEventListener('abort', this.#onParent)
    if (parent.aborted) this.#onParent()
  }
  get signal(): AbortSignal {
    return this.#controller.signal
  }
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    let onAbort: (() => void) | undefined
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason as Error)
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort)
    })
    try {
      return await Promise.race([work, aborted])
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
      work.catch(() => undefined)
    }
  }
  /** Ends what the work has started and nobody waits for any more. */
  giveUp(reason: unknown): void {
    this.#controller.abort(reason)
  }
  end(): void {
    clearTimeout(this.#timer)
    this.#parent.removeEventListener('abort', this.#onParent)
  }
}
