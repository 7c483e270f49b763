import type { AnswerHold } from '../core/call.ts'
import type { Decoder } from '../core/dialect.ts'
import { GatewayError } from '../core/error.ts'
import type { ModelEvent } from '../core/event.ts'
import { HttpFailure, type Exchange } from '../lib/http-client.ts'
import { whenLate } from '../lib/late.ts'
import type { AttemptTimer } from './attempt-timer.ts'
import { FRAMERS, framingOf, tellsFraming, type Framing } from './framing.ts'

const BOM = 0xfeff
const MAX_JSON_BODY = 64 * 1024 * 1024
const MAX_STREAM_BYTES = 256 * 1024 * 1024
/** Below this size nobody counts what of a stream is kept: usually its frames are a hundred times as long as their text. */
const UNCOUNTED_BYTES = 1024 * 1024
/** A longer frame counts as kept in full: a picture, or the arguments of a call. */
const LONG_FRAME = 16 * 1024
/** How long an upstream that has finished its answer may stay silent before the end is assumed (some never send their end mark). */
const SETTLED_IDLE_MS = 2_000
/** The same while something is still missing: the usage, or the error in its place. */
const OWING_IDLE_MS = 5_000

/** An upstream's answer as model events. */
export interface EventReader {
  /** The events of the next read that brought any; undefined at the end. Events decoded before a failure are returned before it is thrown. */
  next(): Promise<readonly ModelEvent[] | undefined>
}

export interface AnswerSource {
  readonly exchange: Exchange
  readonly contentType: string
  readonly framing: Framing
  readonly decoder: Decoder
  readonly timer: AttemptTimer
  /** The memory that the answer takes. Default: unlimited. */
  readonly hold?: AnswerHold | undefined
  /** Bytes of one streamed answer, 256 MiB by default: the most a decoder can be made to keep. */
  readonly maxStreamBytes?: number | undefined
}

/**
 * Reads until the bytes show what they are, because the first read may be blank lines or a single byte. The header alone does not decide: servers
 * answer JSON to stream requests, and the reverse.
 */
export async function beginReading(source: AnswerSource): Promise<EventReader> {
  let first: readonly Buffer[] = []
  while (!tellsFraming(first)) {
    const more = await source.exchange.read()
    if (more === undefined) break
    first = first.length === 0 ? more : [...first, ...more]
  }
  if (first.length === 0) throw new GatewayError('provider_unavailable', 'The provider answered with an empty body', { source: 'provider' })
  const framed = framingOf(source.contentType, source.framing, first)
  return framed === undefined ? new WholeReader(source, first) : new FrameReader(source, framed, first)
}

/** A class and not a generator: it runs once per upstream read, and each layer of generators costs as much as the step itself. */
class FrameReader implements EventReader {
  readonly #source: AnswerSource
  readonly #parser: ReturnType<(typeof FRAMERS)[Framing]>
  /** Read and not yet decoded. Removed when it is taken: a stream may be open for an hour, and must not keep it in memory. */
  #first: readonly Buffer[] | undefined
  readonly #maxBytes: number
  #left: number
  #events: ModelEvent[] = []
  /** Characters of a frame that spans reads, counted so far. */
  #begun = 0
  #isFramed = false
  /** Kept in memory and not counted yet. */
  #uncounted = 0
  #ended = false
  #failure: { readonly error: unknown } | undefined

  constructor(source: AnswerSource, framing: Framing, first: readonly Buffer[]) {
    const { decoder, maxStreamBytes = MAX_STREAM_BYTES } = source
    this.#source = source
    this.#first = first
    this.#maxBytes = maxStreamBytes
    this.#left = maxStreamBytes
    this.#parser = FRAMERS[framing]((data, event) => {
      this.#isFramed = true
      if (data.length > LONG_FRAME) this.#uncounted += Math.max(0, data.length - this.#begun)
      this.#begun = 0
      if (!decoder.finished) decoder.push(data, event, this.#events)
    })
  }

  async next(): Promise<readonly ModelEvent[] | undefined> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#ended) return undefined
    const { decoder, exchange, timer } = this.#source
    try {
      for (;;) {
        if (decoder.settled === true) timer.limitIdle(decoder.entire === false ? OWING_IDLE_MS : SETTLED_IDLE_MS)
        const chunks = this.#takeFirst() ?? (await exchange.read())
        if (chunks === undefined) {
          this.#parser.end()
          break
        }
        timer.progress()
        this.#push(chunks)
        this.#ended = decoder.finished
        const room = this.#count()
        if (room !== undefined) await waitFor(room, timer)
        if (this.#events.length > 0) return this.#take()
        if (this.#ended) return undefined
      }
    } catch (error) {
      if (!endsWell(error, decoder, timer)) {
        this.#failure = { error }
        if (this.#events.length > 0) return this.#take()
        throw error
      }
    }
    this.#ended = true
    if (!decoder.finished) decoder.end(this.#events)
    return this.#events.length > 0 ? this.#take() : undefined
  }

  /** All chunks at once: turning bytes into text has a cost per call. */
  #push(chunks: readonly Buffer[]): void {
    const before = this.#left
    for (const chunk of chunks) this.#left -= chunk.length
    if (this.#left < 0) throw tooLarge(this.#maxBytes)
    this.#isFramed = false
    this.#parser.push(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    if (this.#isFramed) return
    this.#begun += before - this.#left
    this.#uncounted += before - this.#left
  }

  /** Undefined if there is memory for what was read; otherwise resolves when there is. */
  #count(): Promise<void> | undefined {
    const { hold } = this.#source
    if (hold === undefined) return undefined
    if (this.#maxBytes - this.#left > UNCOUNTED_BYTES)
      for (const event of this.#events) if ('delta' in event && event.delta.length <= LONG_FRAME) this.#uncounted += event.delta.length
    const chars = this.#uncounted
    this.#uncounted = 0
    return chars === 0 ? undefined : hold.add(chars)
  }

  #takeFirst(): readonly Buffer[] | undefined {
    const first = this.#first
    this.#first = undefined
    return first
  }

  #take(): readonly ModelEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }
}

/** One JSON document. */
class WholeReader implements EventReader {
  readonly #source: AnswerSource
  #first: readonly Buffer[] | undefined

  constructor(source: AnswerSource, first: readonly Buffer[]) {
    this.#source = source
    this.#first = first
  }

  async next(): Promise<readonly ModelEvent[] | undefined> {
    const first = this.#first
    if (first === undefined) return undefined
    this.#first = undefined
    const { decoder } = this.#source
    const text = await readText(this.#source, first)
    const events: ModelEvent[] = []
    decoder.body(text.charCodeAt(0) === BOM ? text.slice(1) : text, events)
    decoder.end(events)
    return events
  }
}

/** A settled answer that falls silent has ended. One whose connection breaks has ended only if nothing of it can be missing. */
function endsWell(error: unknown, decoder: Decoder, timer: AttemptTimer): boolean {
  if (decoder.settled !== true || !(error instanceof HttpFailure) || timer.expired === 'total') return false
  return error.kind === 'cancelled' || decoder.entire !== false
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('provider_unavailable', `The provider's answer is larger than ${maxBytes} bytes`, { source: 'provider' })

/** Waiting for memory does not count as silence of the upstream. */
async function waitFor(room: Promise<void>, timer: AttemptTimer): Promise<void> {
  timer.hold()
  try {
    await room
  } finally {
    timer.release()
  }
}

async function readText({ exchange, hold, timer }: AnswerSource, first: readonly Buffer[]): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for (let read: readonly Buffer[] | undefined = first; read !== undefined; read = await exchange.read()) {
    const before = size
    for (const chunk of read) {
      size += chunk.length
      chunks.push(chunk)
    }
    if (size > MAX_JSON_BODY) throw tooLarge(MAX_JSON_BODY)
    const room = hold?.add(size - before)
    if (room !== undefined) await waitFor(room, timer)
  }
  return chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString()
}

/** The beginning of a body, up to `maxBytes`, or to where it broke off or was cancelled. If it takes longer than `ms`, the exchange is cancelled. */
export async function readStart(exchange: Exchange, maxBytes: number, ms: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const callOff = whenLate(ms, () => exchange.cancel())
  try {
    for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) {
      chunks.push(...read)
      size += read.reduce((sum, chunk) => sum + chunk.length, 0)
      if (size >= maxBytes) break
    }
  } catch {
    // Whatever has arrived must do.
  } finally {
    callOff()
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString()
}
