import type { AttemptRecord, Call } from '../core/call.ts'
import { asGatewayError, GatewayError } from '../core/error.ts'
import type { ModelEvent, Vector } from '../core/event.ts'
import type { ModelRequest } from '../core/request.ts'
import { addUsage, createUsage, type Usage } from '../core/usage.ts'
import { sleep } from '../lib/sleep.ts'
import { likelyPrompt } from '../router/estimate.ts'
import { createTarget, loadMedia, runAttempt, type AttemptDependencies, type AttemptInput } from './attempt.ts'
import { batchesOf } from './batches.ts'

/** Concurrent requests of one attempt: an upstream's limit per minute is shared by all callers. */
const AT_ONCE = 8
/** Of all vectors of a call, at eight bytes per number. They are held until the last one is there, and told in one piece. */
const MAX_VECTOR_BYTES = 64 * 1024 * 1024
/** Of the vectors being made: as text each takes two or three times as much. */
const MAX_UNDER_WAY_BYTES = 32 * 1024 * 1024
/** Longest pause before a batch that failed temporarily is tried again. */
const PAUSE_MS = 500
/** If the upstream asks for a longer pause, the fallback decides what to do. */
const MAX_PAUSE_MS = 2_000

export interface BatchDependencies extends AttemptDependencies {
  /** Whether the same endpoint may be asked again. */
  readonly retries: () => boolean
}

/** One try at one endpoint, in as many requests as it takes. See `runAttempt`. */
export function runBatched(deps: BatchDependencies, input: AttemptInput): AsyncGenerator<readonly ModelEvent[], void> {
  const batches = batchesOf(input.request, input.endpoint)
  return batches === undefined ? runAttempt(deps, input) : runBatches(deps, input, batches)
}

/** All batches or none: with a part of the vectors nobody could tell which inputs are missing. */
async function* runBatches(
  deps: BatchDependencies,
  input: AttemptInput,
  batches: readonly ModelRequest[],
): AsyncGenerator<readonly ModelEvent[], void> {
  const { record } = input
  record.requests = 0
  const startedAt = deps.clock.monotonic()
  try {
    await loadAll(deps, input)
    const parts = await new Batches(deps, input, batches, startedAt + input.limits.total).run()
    const { upstreamId } = parts[0]!
    const end = { type: 'response-end', reason: 'stop', vectors: parts.flatMap(({ vectors }) => vectors), usage: sumOf(parts) } as const
    delete record.counted
    yield upstreamId === undefined ? [end] : [{ type: 'response-start', upstreamId }, end]
  } finally {
    record.durationMs = deps.clock.monotonic() - startedAt
  }
}

/** Loads all media together and before anything is paid for. The limits of media are per call, and each batch later finds its own in the cache. */
async function loadAll(deps: BatchDependencies, input: AttemptInput): Promise<void> {
  const { request, endpoint } = input
  const urls = endpoint.connection.dialect.mediaUrls?.(request, createTarget(input))
  if (urls !== undefined && urls.length > 0) await loadMedia(deps, input, urls)
}

/** The result of one batch. */
interface Part {
  readonly vectors: readonly Vector[]
  readonly usage: Usage
  readonly upstreamId?: string | undefined
}

const sumOf = (parts: readonly Part[]): Usage => ofRequests(parts.length, parts.map(({ usage }) => usage).reduce(addUsage))

/** A vendor that charges by the request charges for each of them. */
const ofRequests = (requests: number, sum: Usage): Usage => createUsage({ ...sum, requests })

class Batches {
  readonly #deps: BatchDependencies
  readonly #input: AttemptInput
  readonly #batches: readonly ModelRequest[]
  /** When the total limit ends, on the monotonic clock. */
  readonly #endsAt: number
  readonly #parts: Part[] = []
  /** Ends the requests under way when one has failed or the caller leaves. */
  readonly #stop = new AbortController()
  readonly #call: Call
  #next = 0
  #done = 0
  #answered = 0
  #bytes = 0
  #failure: { readonly error: GatewayError } | undefined

  constructor(deps: BatchDependencies, input: AttemptInput, batches: readonly ModelRequest[], endsAt: number) {
    this.#deps = deps
    this.#input = input
    this.#batches = batches
    this.#endsAt = endsAt
    this.#call = { ...input.call, signal: AbortSignal.any([input.call.signal, this.#stop.signal]) }
  }

  /**
   * The results of all batches, in order. Throws the first failure once nothing is under way any more. The first batch runs alone: it shows whether
   * the endpoint serves at all and how large its vectors are.
   */
  async run(): Promise<readonly Part[]> {
    await this.#work(1)
    await Promise.all(Array.from({ length: this.#width() }, async () => this.#work(this.#batches.length)))
    if (this.#failure !== undefined) throw this.#failure.error
    return this.#parts
  }

  /** How many batches run at a time; fewer if vectors are long. */
  #width(): number {
    if (this.#failure !== undefined) return 0
    if (this.#hasOnePlace()) return 1
    const longest = Math.max(...this.#batches.map(({ input }) => input.length))
    const fitting = Math.floor(MAX_UNDER_WAY_BYTES / ((this.#bytes / this.#done) * longest))
    return Math.min(AT_ONCE, this.#batches.length - 1, Math.max(1, fitting))
  }

  /** Whether the endpoint limits concurrent requests, of which the attempt has taken one place. */
  #hasOnePlace(): boolean {
    const { endpoint, record } = this.#input
    return record.isByok !== true && endpoint.limits?.some(({ concurrentRequests }) => concurrentRequests !== undefined) === true
  }

  /** Runs batches one after the other, up to this place, until one fails. */
  async #work(end: number): Promise<void> {
    try {
      while (this.#failure === undefined && this.#next < end) {
        const place = this.#next++
        this.#keep(place, await this.#ask(this.#batches[place]!))
      }
    } catch (error) {
      this.#failure ??= { error: asGatewayError(error) }
      this.#stop.abort(this.#failure.error)
    }
  }

  /** All vectors of a model have the same length, so the first batch tells the size of all. */
  #keep(place: number, part: Part): void {
    this.#parts[place] = part
    this.#done += part.vectors.length
    for (const vector of part.vectors) this.#bytes += typeof vector === 'string' ? vector.length : vector.length * 8
    const { record, request } = this.#input
    record.counted = ofRequests(++this.#answered, record.counted === undefined ? part.usage : addUsage(record.counted, part.usage))
    if ((this.#bytes / this.#done) * request.input.length <= MAX_VECTOR_BYTES) return
    const message = `The vectors of ${request.input.length} inputs would be larger than ${MAX_VECTOR_BYTES} bytes: send fewer at a time`
    throw new GatewayError('payload_too_large', message, { failover: 'never', path: 'input' })
  }

  /** A batch that fails temporarily is tried once more if others succeeded, because failing over would pay for all of them again. */
  async #ask(request: ModelRequest): Promise<Part> {
    const first = await this.#try(request)
    if ('vectors' in first) return first
    const { errorType, failover, details } = first.error
    const wait = Math.max(details.retryAfterMs ?? 0, Math.floor(this.#call.random() * PAUSE_MS))
    const passes = failover === 'retry' || errorType === 'rate_limit_exceeded'
    if (!passes || this.#done === 0 || wait > MAX_PAUSE_MS || !this.#deps.retries()) throw this.#failed(first)
    // If the call was given up meanwhile, the second try ends at once.
    await sleep(wait, this.#call.signal).catch(() => undefined)
    const second = await this.#try(request)
    if ('vectors' in second) return second
    throw this.#failed(second)
  }

  async #try(request: ModelRequest): Promise<Part | Failed> {
    const { endpoint, limits, record: attempt } = this.#input
    const record: AttemptRecord = {
      endpoint,
      status: 0,
      startedAt: this.#call.clock.now(),
      ...(attempt.isByok === undefined ? {} : { isByok: attempt.isByok }),
    }
    attempt.requests = (attempt.requests ?? 0) + 1
    const total = Math.max(1, this.#endsAt - this.#deps.clock.monotonic())
    let upstreamId: string | undefined
    let part: Part | undefined
    try {
      for await (const events of runAttempt(this.#deps, { ...this.#input, call: this.#call, request, record, limits: { ...limits, total } })) {
        for (const event of events) {
          if (event.type === 'response-start') ({ upstreamId } = event)
          else if (event.type === 'response-end') part = { vectors: event.vectors ?? [], usage: event.usage ?? estimateOf(request), upstreamId }
        }
      }
    } catch (error) {
      return { error: asGatewayError(error), record }
    }
    if (this.#failure === undefined) this.#note(record)
    return part ?? { error: new GatewayError('provider_unavailable', `${endpoint.providerName} sent no answer`, { source: 'provider' }), record }
  }

  /** The first failure decides what becomes of the attempt; batches that it ends report nothing. */
  #failed({ error, record }: Failed): GatewayError {
    const { record: attempt, call } = this.#input
    if (this.#failure !== undefined) return error
    this.#failure = { error }
    this.#note(record)
    if (record.error !== undefined) attempt.error = record.error
    if (record.abandoned === true && call.signal.aborted) attempt.abandoned = true
    return error
  }

  #note({ status, firstTokenMs, dropped, echo }: AttemptRecord): void {
    const { record: attempt } = this.#input
    attempt.status = status
    // Limits are for one request, and must allow the slowest.
    if (firstTokenMs !== undefined) attempt.firstTokenMs = Math.max(firstTokenMs, attempt.firstTokenMs ?? 0)
    if (dropped !== undefined) attempt.dropped ??= dropped
    if (echo !== undefined) attempt.echo ??= echo
  }
}

interface Failed {
  readonly error: GatewayError
  readonly record: AttemptRecord
}

function estimateOf(request: ModelRequest): Usage {
  return createUsage({ ...likelyPrompt(request), estimated: true })
}
