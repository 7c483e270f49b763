import type { ServerResponse } from 'node:http'
import { LiveSet } from '../lib/live-map.ts'
import { endText, writeText } from './write-text.ts'

const KEEP_ALIVE_AFTER_MS = 10_000
const TICK_MS = 2_500
const APART_MS = 30
const comment = (): string => ': keep-alive\n\n'

/**
 * Streams that may need a keep-alive comment, checked together by one timer: a timer per stream would cost more than the streams.
 */
export class KeepAlive {
  readonly #bodies = new LiveSet<SseBody>()
  #timer: NodeJS.Timeout | undefined

  /** Returns the place to give back with `delete`. */
  add(body: SseBody): number {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
    return this.#bodies.add(body)
  }

  delete(place: number, body: SseBody): void {
    this.#bodies.delete(place, body)
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
 * A streamed answer. The head is written with the first bytes, so that a failure before them can still choose its HTTP status; comments, or
 * what the caller wants in their place, keep silent connections alive from the start and commit the status to 200.
 */
export class SseBody {
  readonly #response: ServerResponse
  readonly #keepAlive: KeepAlive
  readonly #headers: () => { readonly [name: string]: string }
  readonly #sign: () => string
  readonly #stallMs: number | undefined
  readonly #place: number
  #lastWrite = performance.now()
  #isWriting = false

  /** `headers`: read when the head is written. `sign`: what a silent stream is kept alive with. */
  constructor(
    response: ServerResponse,
    keepAlive: KeepAlive,
    headers: () => { readonly [name: string]: string },
    sign: () => string = comment,
    stallMs?: number,
  ) {
    this.#response = response
    this.#keepAlive = keepAlive
    this.#headers = headers
    this.#sign = sign
    this.#stallMs = stallMs
    this.#place = keepAlive.add(this)
  }

  /** True once the status is decided: from here on failures are told in-band. */
  get committed(): boolean {
    return this.#response.headersSent
  }

  /** Undefined when the caller keeps up; else resolves when it has, and rejects when it has read nothing for too long. */
  write(text: string): Promise<void> | undefined {
    this.#head()
    this.#lastWrite = performance.now()
    return this.#whenWritten(writeText(this.#response, text, this.#stallMs))
  }

  /** Called for every body on each tick. */
  keepAlive(now: number): void {
    if (now - this.#lastWrite < KEEP_ALIVE_AFTER_MS || this.#response.writableNeedDrain || this.#isWriting) return
    this.#head()
    this.#lastWrite = now
    this.#response.write(this.#sign())
  }

  /** Undefined when the end is on its way; else resolves when all of a long one is. */
  end(text: string): Promise<void> | undefined {
    this.#head()
    this.release()
    return endText(this.#response, text, this.#stallMs)
  }

  /**
   * The same with a last piece that is to be read by itself, and therefore comes a little later: readers join what comes together. Undefined
   * where there is none, else resolves when all is written.
   */
  endWith(text: string, rest: string): Promise<void> | undefined {
    if (rest === '') return this.end(text)
    this.#head()
    this.release()
    return this.#endLater(text, rest)
  }

  /** Stops the keep-alive; idempotent. */
  release(): void {
    this.#keepAlive.delete(this.#place, this)
  }

  #head(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, this.#headers())
  }

  async #endLater(text: string, rest: string): Promise<void> {
    await writeText(this.#response, text, this.#stallMs)
    await new Promise((resolve) => setTimeout(resolve, APART_MS))
    this.#response.end(rest)
  }

  /** Nothing is written into the midst of what goes out in slices. */
  #whenWritten(written: Promise<void> | undefined): Promise<void> | undefined {
    if (written === undefined) return undefined
    this.#isWriting = true
    return written.finally(() => {
      this.#isWriting = false
      this.#lastWrite = performance.now()
    })
  }
}
