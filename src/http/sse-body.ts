import type { ServerResponse } from 'node:http'
import { GatewayError } from '../core/error.ts'

const KEEP_ALIVE_AFTER_MS = 10_000
const TICK_MS = 2_500
const COMMENT = ': keep-alive\n\n'

/**
 * Streams that may need a keep-alive comment, checked together by one timer: a timer per stream would cost more than the streams.
 */
export class KeepAlive {
  readonly #bodies = new Set<SseBody>()
  #timer: NodeJS.Timeout | undefined

  add(body: SseBody): void {
    this.#bodies.add(body)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
  }
  delete(body: SseBody): void {
    this.#bodies.delete(body)
    if (this.#bodies.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
  #tick(): void {
    const now = performance.now()
    for (const body of this.#bodies) body.keepAlive(now)
  }
}

/**
 * A streamed answer. The head is written with the first bytes, so that a failure before them can still choose its HTTP status; comments
 * keep silent connections alive from the start and commit the status to 200.
 */
export class SseBody {
  readonly #response: ServerResponse
  readonly #keepAlive: KeepAlive
  readonly #headers: { readonly [name: string]: string }
  readonly #stallMs: number
  #lastWrite = performance.now()

  constructor(response: ServerResponse, keepAlive: KeepAlive, headers: { readonly [name: string]: string }, stallMs = 60_000) {
    this.#response = response
    this.#keepAlive = keepAlive
    this.#headers = headers
    this.#stallMs = stallMs
    keepAlive.add(this)
  }

  /** True once the status is decided: from here on failures are told in-band. */
  get committed(): boolean {
    return this.#response.headersSent
  }

  /** Undefined when the caller keeps up; else resolves when it has, and rejects when it has read nothing for too long. */
  write(text: string): Promise<void> | undefined {
    this.#head()
    this.#lastWrite = performance.now()
    return this.#response.write(text) ? undefined : this.#drained()
  }

  /** Called for every body on each tick. */
  keepAlive(now: number): void {
    if (now - this.#lastWrite < KEEP_ALIVE_AFTER_MS || this.#response.writableNeedDrain) return
    this.#head()
    this.#lastWrite = now
    this.#response.write(COMMENT)
  }

  end(text: string): void {
    this.#head()
    this.release()
    this.#response.end(text)
  }

  /** Stops the keep-alive; idempotent. */
  release(): void {
    this.#keepAlive.delete(this)
  }

  #head(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, this.#headers)
  }

  #drained(): Promise<void> {
    const response = this.#response
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        settle()
        response.destroy()
        reject(new GatewayError('timeout', 'The caller stopped reading'))
      }, this.#stallMs)
      const onDrain = (): void => {
        settle()
        resolve()
      }
      const settle = (): void => {
        clearTimeout(timer)
        response.off('drain', onDrain).off('close', onDrain)
      }
      response.on('drain', onDrain).on('close', onDrain)
    })
  }
}
