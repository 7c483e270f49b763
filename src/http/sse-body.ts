import type { ServerResponse } from 'node:http'
import { GatewayError } from '../core/error.ts'
import { LiveSet } from '../lib/live-map.ts'

const KEEP_ALIVE_AFTER_MS = 10_000
const TICK_MS = 2_500
const STALL_MS = 60_000
const APART_MS = 30
const comment = (): string => ': keep-alive\n\n'
/** The slowest reader worth serving takes one within the time of a stall. */
const SLICE_CHARS = 64 * 1024

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
  readonly #stallMs: number
  readonly #place: number
  #lastWrite = performance.now()
  #isSlicing = false

  /** `headers`: read when the head is written. `sign`: what a silent stream is kept alive with. */
  constructor(
    response: ServerResponse,
    keepAlive: KeepAlive,
    headers: () => { readonly [name: string]: string },
    sign: () => string = comment,
    stallMs = STALL_MS,
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
    if (text.length > SLICE_CHARS) return this.#writeSlices(text)
    return this.#response.write(text) ? undefined : this.#drained()
  }

  /** Called for every body on each tick. */
  keepAlive(now: number): void {
    if (now - this.#lastWrite < KEEP_ALIVE_AFTER_MS || this.#response.writableNeedDrain || this.#isSlicing) return
    this.#head()
    this.#lastWrite = now
    this.#response.write(this.#sign())
  }

  end(text: string): void {
    this.#head()
    this.release()
    this.#response.end(text)
  }

  /**
   * The same with a last piece that is to be read by itself, and therefore comes a little later: readers join what comes together. Undefined
   * where there is none, else resolves when all is written.
   */
  endWith(text: string, rest: string): Promise<void> | undefined {
    if (rest === '') {
      this.end(text)
      return undefined
    }
    this.#head()
    this.release()
    this.#response.write(text)
    return new Promise((resolve) => setTimeout(() => resolve(void this.#response.end(rest)), APART_MS))
  }

  /** Stops the keep-alive; idempotent. */
  release(): void {
    this.#keepAlive.delete(this.#place, this)
  }

  #head(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, this.#headers())
  }

  /** Slice by slice, each when the one before is gone: how much of a single one a caller has taken, nobody can tell. */
  async #writeSlices(text: string): Promise<void> {
    this.#isSlicing = true
    try {
      for (let at = 0; at < text.length && !this.#response.destroyed;) {
        const end = endOfSlice(text, at)
        if (!this.#response.write(text.slice(at, end))) await this.#drained()
        at = end
      }
    } finally {
      this.#isSlicing = false
      this.#lastWrite = performance.now()
    }
  }

  #drained(): Promise<void> {
    const response = this.#response
    // It would wait for a drain that cannot come.
    if (response.destroyed) return Promise.resolve()
    return new Promise((resolve, reject) => {
      let taken = takenOf(response)
      const timer = setTimeout(() => {
        const now = takenOf(response)
        if (now !== taken) {
          taken = now
          timer.refresh()
          return
        }
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

/** Bytes that have left for the caller. */
const takenOf = ({ socket }: ServerResponse): number => (socket === null ? 0 : socket.bytesWritten - socket.writableLength)

/** A character of two code units is not cut in half. */
function endOfSlice(text: string, start: number): number {
  const end = Math.min(start + SLICE_CHARS, text.length)
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff && end < text.length ? end + 1 : end
}
