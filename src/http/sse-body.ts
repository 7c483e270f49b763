import type { ServerResponse } from 'node:http'
import { LiveSet } from '../lib/live-map.ts'
import { endText, writeText } from './write-text.ts'

const KEEP_ALIVE_AFTER_MS = 10_000
const TICK_MS = 2_500
const APART_MS = 30
const comment = (): string => ': keep-alive\n\n'

/** Streams that may need keep-alives, checked together by one timer: a timer per stream would cost more than the streams. */
export class KeepAlive {
  readonly #bodies = new LiveSet<SseBody>()
  #timer: NodeJS.Timeout | undefined

  /** Returns the place for `delete`. */
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
 * A streamed answer. The head is written with the first bytes, so that a failure before them can still choose its HTTP status. Keep-alives, comments
 * or events, begin at once for silent streams and commit the status to 200.
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

  /** `headers`: called when the head is written. `sign`: the keep-alive of a silent stream. */
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

  /** True once the status is decided: from then on failures are told in-band. */
  get committed(): boolean {
    return this.#response.headersSent
  }

  /** Undefined if the caller keeps up; otherwise resolves when it has caught up, and rejects when it has read nothing for too long. */
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

  /** Undefined if the end is on its way; otherwise resolves when all of a long one is. */
  end(text: string): Promise<void> | undefined {
    this.#head()
    this.release()
    return endText(this.#response, text, this.#stallMs)
  }

  /**
   * The same with a last piece that has to be read by itself. It is written a little later, because readers join what arrives together. Undefined if
   * there is none; otherwise resolves when all is written.
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

  /** No keep-alive is written between the slices of a long text. */
  #whenWritten(written: Promise<void> | undefined): Promise<void> | undefined {
    if (written === undefined) return undefined
    this.#isWriting = true
    return written.finally(() => {
      this.#isWriting = false
      this.#lastWrite = performance.now()
    })
  }
}
