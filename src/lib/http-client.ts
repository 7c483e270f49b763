import type { Transform } from 'node:stream'
import type { Dispatcher } from 'undici'
import { decompressor } from './decompressor.ts'
import { HttpFailure, isLostConnection, toFailure } from './http-failure.ts'
import { PoolShelf, type PoolShelfOptions, type SentHandler } from './pool-shelf.ts'
import { atTurnEnd } from './turn-end.ts'
import type { Client } from './undici.ts'

export { HttpFailure } from './http-failure.ts'

export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Buffer
  readonly connectTimeoutMs: number
}

export interface ResponseHead {
  readonly status: number
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** One request and its answer, which the reader pulls: the socket is paused while unread bytes exceed the limit. */
export interface Exchange {
  /** Rejects with HttpFailure. */
  readonly head: Promise<ResponseHead>
  /** All bytes that arrived since the last read; waits if there are none. Undefined at the end. Rejects with HttpFailure. Only one reader at a time. */
  read(): Promise<readonly Buffer[] | undefined>
  /** Ends the exchange at once, in any phase; idempotent. A finished exchange has already returned its connection to the pool. */
  cancel(): void
  /** True once the whole answer has arrived (even if not all of it has been read): the connection is back in the pool. */
  readonly ended: boolean
}

export interface HttpClient {
  send(request: HttpRequest): Exchange
  /** Destroys all connections. */
  close(): Promise<void>
}

export interface HttpClientOptions extends PoolShelfOptions {
  /** Unread bytes per exchange before the socket is paused. */
  readonly highWaterBytes?: number
  /** A connection that is lost within this time after a request was sent is assumed to have been dead before. Default: two seconds. */
  readonly staleLossMs?: number
}

/** As many informational answers (`102 Processing`) as one a second makes in a quarter of an hour. */
const MAX_INFORMATIONAL = 900

/**
 * HTTP/1.1 over undici's dispatcher, with one pool per origin: no WHATWG streams, redirects or cookies, and no timeout except the connect limit (the
 * caller enforces the first-token, idle and total limits). Use few different connect limits, because each has its own connections.
 */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const pools = new PoolShelf(options)
  const highWater = options.highWaterBytes ?? 256 * 1024
  const staleLossMs = options.staleLossMs ?? 2_000

  return {
    send(request) {
      const slash = request.url.indexOf('/', request.url.indexOf('://') + 3)
      const origin = slash === -1 ? request.url : request.url.slice(0, slash)
      const sent: Dispatcher.DispatchOptions = {
        path: slash === -1 ? '/' : request.url.slice(slash),
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
      }
      const exchange = new DispatchedExchange(highWater, sent, performance.now() + staleLossMs)
      try {
        pools.take(origin, request.connectTimeoutMs).dispatch(sent, exchange)
      } catch (error) {
        exchange.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)))
      }
      return exchange
    },
    close: () => pools.destroy(),
  }
}

/** undici's handler and the reader's interface in one object, because this code runs for every upstream read. */
class DispatchedExchange implements Exchange, SentHandler {
  kept: Client | undefined
  /** The request, kept while it may have to be sent again. */
  #sent: Dispatcher.DispatchOptions | undefined
  readonly #sentAgainUntil: number
  #sentTwice = false
  readonly head: Promise<ResponseHead>
  readonly #highWater: number
  #resolveHead!: (head: ResponseHead) => void
  #rejectHead!: (error: HttpFailure) => void
  #controller: Dispatcher.DispatchController | undefined
  #queue: Buffer[] = []
  #queuedBytes = 0
  #waiting: { resolve: (chunks: readonly Buffer[] | undefined) => void; reject: (error: HttpFailure) => void } | undefined
  /** The head that arrived in this turn of the event loop; it is reported at the end of the turn. */
  #arrived: ResponseHead | undefined
  #telling = false
  /** Informational answers so far, which come before the answer and are skipped. */
  #informational = 0
  #ended = false
  #failure: HttpFailure | undefined
  #inflate: Transform | undefined
  #allArrived = false

  constructor(highWater: number, sent: Dispatcher.DispatchOptions, sentAgainUntil: number) {
    this.#highWater = highWater
    this.#sent = sent
    this.#sentAgainUntil = sentAgainUntil
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve
      this.#rejectHead = reject
    })
    // A cancelled exchange whose head nobody awaits must not count as an unhandled rejection.
    this.head.catch(() => undefined)
  }

  read(): Promise<readonly Buffer[] | undefined> {
    if (this.#queue.length > 0) return Promise.resolve(this.#take())
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#ended) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  get ended(): boolean {
    return this.#ended
  }

  cancel(): void {
    if (this.#ended || this.#failure !== undefined) return
    this.#abort(new HttpFailure('cancelled', 'cancelled', this.#controller !== undefined))
    this.#queue = []
    this.#inflate?.destroy()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure !== undefined) controller.abort(this.#failure)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHead['headers']): void {
    // Raw headers are a dozen buffers that would live as long as the answer; only handlers that want the original bytes need them.
    controller.rawHeaders = null
    this.#sent = undefined
    if (status < 200) {
      if (++this.#informational > MAX_INFORMATIONAL)
        this.#abort(new HttpFailure('protocol', `the answer is announced for ever (status ${status})`, true))
      return
    }
    this.#sentTwice = false
    const encoding = headers['content-encoding']
    this.#arrived = { status, headers }
    this.#tellLater()
    if (encoding === undefined) return
    const inflate = decompressor(encoding)
    if (inflate === 'none') return
    if (inflate === undefined) {
      return this.#abort(
        new HttpFailure('protocol', `the answer is compressed in a way that cannot be undone (${String(encoding).slice(0, 60)})`, true),
      )
    }
    this.#inflate = inflate
    inflate.on('data', (chunk: Buffer) => this.#accept(chunk))
    inflate.on('drain', () => this.#resume())
    // What follows the compressed text is dropped; until all has arrived the exchange goes on and can be cancelled.
    inflate.on('end', () => (this.#allArrived ? this.#finish() : this.#resume()))
    inflate.on('error', (error) => this.#abort(new HttpFailure('protocol', 'the compressed answer is damaged', true, error)))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#inflate === undefined) this.#accept(chunk)
    else if (!this.#inflate.readableEnded && !this.#inflate.write(chunk)) this.#controller?.pause()
  }

  onResponseEnd(): void {
    this.#allArrived = true
    if (this.#inflate === undefined || this.#inflate.readableEnded) this.#finish()
    else this.#inflate.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isSentAgain(error)) return
    const failure = toFailure(error, this.#controller !== undefined)
    if (failure.kind === 'reset') failure.twice = this.#sentTwice
    this.#fail(failure)
  }

  /**
   * A kept connection may be dead without anyone having noticed: a proxy, a firewall or the server has forgotten it, often together with all others. If it
   * breaks at once and before the first byte of an answer, the server is not at fault, and the request is sent again, once, over a new connection. If it
   * breaks later, the server may have processed the request, so a retry is up to the caller. Nobody else can use the client that has just lost its
   * connection before this returns.
   */
  #isSentAgain(error: Error): boolean {
    const { kept } = this
    const sent = this.#sent
    this.#sent = undefined
    if (kept === undefined || sent === undefined || this.#failure !== undefined) return false
    if (!isLostConnection(error) || performance.now() > this.#sentAgainUntil) return false
    this.#sentTwice = true
    kept.dispatch(sent, this)
    return true
  }

  #accept(chunk: Buffer): void {
    if (this.#failure !== undefined) return
    this.#queue.push(chunk)
    this.#queuedBytes += chunk.length
    if (this.#waiting !== undefined) this.#tellLater()
    if (this.#queuedBytes > this.#highWater) {
      this.#controller?.pause()
      this.#inflate?.pause()
    }
  }

  /** One read returns all chunks of an event-loop turn. */
  #tellLater(): void {
    if (this.#telling) return
    this.#telling = true
    atTurnEnd(this.#tell)
  }

  readonly #tell = (): void => {
    this.#telling = false
    if (this.#arrived !== undefined) this.#resolveHead(this.#arrived)
    this.#arrived = undefined
    const waiting = this.#waiting
    if (waiting === undefined || (this.#queue.length === 0 && !this.#ended)) return
    this.#waiting = undefined
    waiting.resolve(this.#queue.length > 0 ? this.#take() : undefined)
  }

  #take(): readonly Buffer[] {
    const chunks = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    if (this.#inflate?.isPaused()) this.#inflate.resume()
    this.#resume()
    return chunks
  }

  #resume(): void {
    if (!this.#controller?.paused || this.#queuedBytes > this.#highWater) return
    if (this.#inflate === undefined || this.#inflate.readableEnded || !this.#inflate.writableNeedDrain) this.#controller.resume()
  }

  #finish(): void {
    this.#ended = true
    if (this.#waiting !== undefined) this.#tellLater()
  }

  #abort(failure: HttpFailure): void {
    this.#fail(failure)
    this.#controller?.abort(failure)
  }

  #fail(failure: HttpFailure): void {
    if (this.#ended || this.#failure !== undefined) return
    this.#failure = failure
    // Data that arrived before the failure is still delivered, although the reader has not been told of it yet.
    this.#tell()
    this.#rejectHead(failure)
    this.#waiting?.reject(failure)
    this.#waiting = undefined
  }
}
