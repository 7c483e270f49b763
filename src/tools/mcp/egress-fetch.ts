import { AsyncLocalStorage } from 'node:async_hooks'
import { EgressError, type Egress, type EgressStream } from '../../lib/egress.ts'
import { mendBody, mendEvents, wholeBody } from './mend-messages.ts'
import { MessageCount } from './message-count.ts'

/** One request of the protocol, with all HTTP requests it takes. */
export interface Exchange {
  /** Aborts all of them. */
  readonly signal: AbortSignal
  /** The exchange has ended, and nothing waits for its streams. */
  over?: boolean
  /** Called when the stream that should have brought the answer is gone for good. Later calls are ignored. */
  lost(error: Error): void
}

/** One of our messages that expects an answer. */
export class Question {
  /** How often the stream of its answer was resumed. */
  resumed = 0
  /** What came on all streams of its answer. */
  readonly count = new MessageCount({ max: MAX_MESSAGES, onMany: (error) => this.exchange?.lost(error) })
  /** Who waits for the answer. */
  exchange: Exchange | undefined
  #settled = false
  readonly #over = new AbortController()

  /** Answered, refused, or given up: its streams no longer matter. */
  get settled(): boolean {
    return this.#settled
  }

  /** Fires a moment after that. Most servers end a stream by themselves, which leaves its connection for the next request; others never do. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  settle(): void {
    if (this.#settled) return
    this.#settled = true
    setTimeout(() => this.#over.abort(), SETTLE_MS).unref()
  }
}

export interface EgressFetchOptions {
  readonly egress: Egress
  /** The only origin that is ever requested, so that credentials stay there. */
  readonly origin: string
  /** Whether the server's standing stream is wanted. Without it, requests get their answers on streams of their own. */
  readonly standing: boolean
  /** Total bytes that a standing stream may bring; default: 64 MiB. */
  readonly maxStandingBytes?: number | undefined
  /** Called when the server has begun its standing stream. */
  readonly onStanding?: (() => void) | undefined
  /** Called when the stream has brought half of them: later requests should use another connection. */
  readonly onWorn?: () => void
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** The longest wait for headers: some servers send none before a tool is done. Callers have shorter limits. */
const HEADERS_MS = 15 * 60_000
const MAX_BYTES = 8 * 1024 * 1024
const MAX_STANDING_BYTES = 64 * 1024 * 1024
const MAX_MESSAGES = 16_384
const MAX_STANDING_MESSAGES = 8 * MAX_MESSAGES
const FAREWELL_MS = 2_000
/** What has been read may still be in the parser when its stream ends. */
const SETTLE_MS = 250
/** For the text behind the status of what expects no answer. */
const UNREAD_MS = 500
/** A server may end its stream to spare a connection, and say how soon to resume it. This is the limit on resuming one answer. */
const MAX_RESUMED = 128
const BODYLESS = new Set([101, 204, 205, 304])

/** The server received a message, but what came was no answer. */
export class NoAnswer extends EgressError {
  constructor() {
    super('network', 'the server closed the connection before it answered')
  }
}

const exchanges = new AsyncLocalStorage<Exchange>()

/** Runs work whose HTTP requests, including the SDK's own, belong to this exchange. */
export async function within<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  try {
    return await exchanges.run(exchange, work)
  } finally {
    exchange.over = true
  }
}

const questions = new AsyncLocalStorage<Question | undefined>()

/** Runs the sending of a message: its HTTP requests, including those that resume its stream, belong to this question, or to none. */
export function sending<T>(question: Question | undefined, work: () => Promise<T>): Promise<T> {
  return questions.run(question, work)
}

/** `fetch` for the SDK through the egress. Redirects are returned as answers: the SDK follows those within the origin, and nothing follows others. */
export function createEgressFetch({
  egress,
  origin,
  standing,
  maxStandingBytes = MAX_STANDING_BYTES,
  onStanding = () => undefined,
  onWorn = () => undefined,
}: EgressFetchOptions): Fetch {
  return async (url, init = {}) => {
    const target = new URL(url)
    if (target.origin !== origin)
      throw new EgressError('refused', `the server sends us to another origin, ${target.host}: use that as server_url if it is meant`)
    const method = init.method ?? 'GET'
    const headers = Object.fromEntries(new Headers(init.headers))
    const resumes = headers['last-event-id'] !== undefined
    const exchange = exchanges.getStore()
    const question = questions.getStore()
    // With this status the SDK stops trying.
    if (method === 'GET' && !standing && !(resumes && mayResume(exchange, question))) return new Response(null, { status: 405 })
    const stands = method === 'GET' && !resumes
    const rest = restOf(question, stands)
    try {
      const answer = await egress.open({
        method,
        url: target.href,
        headers,
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        headersTimeoutMs: HEADERS_MS,
        maxResponseBytes: stands ? maxStandingBytes : MAX_BYTES,
        signal: signalOf([init.signal, rest.over], exchange),
      })
      rest.begin()
      if (resumes && answer.status !== 200) exchange?.lost(new EgressError('network', 'the connection broke before the answer'))
      if (stands) return standingResponse(answer, { maxStandingBytes, onStanding, onWorn })
      return toResponse(answer, countOf(question, exchange), standing ? undefined : (error) => question?.settled === false && exchange?.lost(error))
    } catch (error) {
      if (resumes && error instanceof Error) exchange?.lost(error)
      throw error
    }
  }
}

/**
 * What ends the rest of a body that nobody needs: of a question once it is settled, of other messages soon after the status, because the SDK only waits for
 * their end. A standing stream is needed.
 */
function restOf(question: Question | undefined, stands: boolean): { readonly over: AbortSignal | undefined; readonly begin: () => void } {
  if (stands || question !== undefined) return { over: stands ? undefined : question?.over, begin: () => undefined }
  const unread = new AbortController()
  return { over: unread.signal, begin: () => void setTimeout(() => unread.abort(), UNREAD_MS).unref() }
}

interface StandingOptions {
  readonly maxStandingBytes: number
  readonly onStanding: () => void
  readonly onWorn: () => void
}

function standingResponse(answer: EgressStream, { maxStandingBytes, onStanding, onWorn }: StandingOptions): Response {
  if (answer.status === 200 && isStream(answer.headers)) onStanding()
  const body = counted(answer.body, maxStandingBytes / 2, onWorn)
  return toResponse({ ...answer, body }, new MessageCount({ max: MAX_STANDING_MESSAGES, onHalf: onWorn }), undefined)
}

/** What the streams of an answer may bring. */
function countOf(question: Question | undefined, exchange: Exchange | undefined): MessageCount {
  if (question === undefined) return new MessageCount({ max: MAX_MESSAGES })
  question.exchange = exchange
  return question.count
}

/** The signal that ends a request. After its exchange has ended, the request that tells the server so still gets a bounded time. */
function signalOf(own: readonly (AbortSignal | null | undefined)[], exchange: Exchange | undefined): AbortSignal {
  const outer = exchange?.signal.aborted === true ? AbortSignal.timeout(FAREWELL_MS) : exchange?.signal
  return AbortSignal.any([...own, outer].filter((signal) => signal != null))
}

/** Whether something still waits for what this stream should bring. */
function mayResume(exchange: Exchange | undefined, question: Question | undefined): boolean {
  if (exchange === undefined || question === undefined || question.settled || exchange.over || exchange.signal.aborted) return false
  question.resumed++
  if (question.resumed <= MAX_RESUMED) return true
  exchange.lost(new EgressError('network', 'the server broke off its answer again and again'))
  return false
}

type Lost = (error: Error) => void

const typeOf = (headers: EgressStream['headers']): string => headers['content-type']?.toLowerCase() ?? ''
/** The same distinction as in the SDK. */
const isStream = (headers: EgressStream['headers']): boolean => typeOf(headers).split(';')[0]!.trim() === 'text/event-stream'

function toResponse({ status, headers, body }: EgressStream, count: MessageCount, lost: Lost | undefined): Response {
  const streams = isStream(headers)
  const isAnswer = status >= 200 && status < 300
  const read = isAnswer && streams ? mendEvents(body, count) : isAnswer && typeOf(headers).includes('json') ? mendBody(body) : wholeBody(body)
  const content = BODYLESS.has(status) ? null : ReadableStream.from(isAnswer && lost !== undefined ? watch(read, streams, lost) : read)
  return new Response(content as ConstructorParameters<typeof Response>[0], { status, headers })
}

async function* counted(body: AsyncIterable<Buffer>, much: number, onMuch: () => void): AsyncGenerator<Buffer> {
  let left = much
  for await (const chunk of body) {
    if (left > 0 && chunk.length >= left) onMuch()
    left -= chunk.length
    yield chunk
  }
}

/** A carriage return at the end may be half a line break: the SDK, too, waits for what follows. */
const LINE_BREAK = /\r\n|\r(?!$)|\n/
const ID = /^id(?:$|: ?(.*))/

/** Whether a stream has had an event that the SDK resumes it from: one with an id and with words, be they empty. It drops an event without words. */
class ResumePoint {
  found = false
  #hasId = false
  #hasWords = false
  #rest: string | undefined

  read(text: string): void {
    // The SDK does not see a byte order mark.
    const lines = (this.#rest === undefined ? text.replace(/^\u00EF\u00BB\u00BF/, '') : this.#rest + text).split(LINE_BREAK)
    this.#rest = lines.pop()
    for (const line of lines) {
      const [isId, id = ''] = ID.exec(line) ?? []
      if (line === '') {
        this.found ||= this.#hasId && this.#hasWords
        this.#hasId = false
        this.#hasWords = false
      } else if (isId === undefined) this.#hasWords ||= /^data(?::|$)/.test(line)
      else if (!id.includes('\0')) this.#hasId = id !== ''
    }
  }
}

/** A stream without event ids cannot be resumed: whoever still waits for its answer is told when it ends. */
async function* watch(body: AsyncIterable<Buffer>, streams: boolean, lost: Lost): AsyncGenerator<Buffer> {
  const point = new ResumePoint()
  let failure: unknown
  try {
    for await (const chunk of body) {
      if (streams && !point.found) point.read(chunk.toString('latin1'))
      yield chunk
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (!point.found) {
      const error = failure instanceof EgressError ? failure : new NoAnswer()
      setTimeout(() => lost(error), SETTLE_MS).unref()
    }
  }
}
