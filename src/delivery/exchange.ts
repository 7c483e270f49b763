import { setTimeout as delay } from 'node:timers/promises'
import {
  DESTINATION_DEFAULTS,
  type DeliveryOutcome,
  type Destination,
  type DestinationContext,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../core/destination.ts'
import { classifyHttp, redact } from '../core/outcome.ts'
import { parseRetryAfter } from '../lib/backoff.ts'
import { EgressError } from '../lib/egress-policy.ts'
import { createBlanking } from './blank-secrets.ts'
import type { Transport } from './transport.ts'

/** Who is asked, and by which means. */
export interface ExchangeParts {
  readonly type: Destination
  readonly settings: unknown
  readonly context: DestinationContext
  readonly transport: Transport
  readonly signal: AbortSignal
  /** Called before every request: renews the lease if it is about to expire. */
  readonly beforeRequest: () => Promise<void>
  readonly now: () => number
}

/** We gave up, so nothing is known about the request. */
export interface Aborted {
  readonly kind: 'aborted'
  readonly message: string
}

/** Try later: nobody was reached, whatever was to be sent. */
export type Unreached = Extract<DeliveryOutcome, { readonly kind: 'retry' }> & { readonly isUnreached?: true }

export type Unanswered = Aborted | Unreached | Extract<DeliveryOutcome, { readonly kind: 'unauthorized' }>

export type EncodedRequest = OutgoingRequest & { readonly body?: Buffer }

/** A body of megabytes is converted to bytes once; measuring, bounding and sending text would each do it again. */
export function toBytes({ body, ...request }: OutgoingRequest): EncodedRequest {
  return body === undefined ? request : { ...request, body: typeof body === 'string' ? Buffer.from(body) : body }
}

const MAX_FOLLOW_UPS = 120

interface Judged {
  readonly outcome: DeliveryOutcome | Unreached | Aborted
  readonly status: number
}

/** Requests to one destination, each followed by its polls until the platform is done. */
export class Exchange {
  readonly #parts: ExchangeParts
  readonly #blank: (response: OutgoingResponse) => OutgoingResponse

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    this.#blank = createBlanking(parts.type, parts.settings)
  }

  /** What the final answer means, or that there was none. Never rejects. */
  async ask(request: OutgoingRequest): Promise<Judged> {
    const { type, settings, context, now, signal } = this.#parts
    try {
      let response = await this.#send(request)
      for (let step = 0; type.followUp !== undefined; step++) {
        const next = type.followUp(response, step, settings, context)
        if (next === undefined) break
        if (step >= MAX_FOLLOW_UPS) return { outcome: { kind: 'retry', message: 'the platform did not finish in time' }, status: response.status }
        await delay(next.afterMs, undefined, { signal })
        response = await this.#send(next.request)
      }
      const outcome = type.classify?.(response, request) ?? classifyHttp(response)
      return { outcome: outcome.kind === 'retry' ? withHint(outcome, response, now()) : outcome, status: response.status }
    } catch (error) {
      return this.#judgeBegun(request, error) ?? { outcome: unanswered(error, signal), status: 0 }
    }
  }

  /**
   * What an answer means whose body did not arrive completely, whoever gave up. Sent again, an accepted batch would be stored twice, and once more with
   * every try. The status says enough, unless it refuses what was sent: the reasons are in the body.
   */
  #judgeBegun(request: OutgoingRequest, error: unknown): Judged | undefined {
    const { type, now, signal } = this.#parts
    const begun = error instanceof EgressError ? error.begun : undefined
    if (begun === undefined) return undefined
    const { status } = begun
    if (type.answersInBody === true && status >= 200 && status < 300) return undefined
    const response = this.#blank({ ...begun, body: Buffer.alloc(0) })
    const outcome = type.classify?.(response, request) ?? classifyHttp(response)
    if (outcome.kind === 'delivered') return { outcome, status }
    if (signal.aborted) return undefined
    if (outcome.kind === 'retry') return { outcome: withHint(outcome, response, now()), status }
    return outcome.kind === 'split' || outcome.kind === 'unauthorized' ? { outcome, status } : undefined
  }

  async #send(request: OutgoingRequest): Promise<OutgoingResponse> {
    const { type, context, transport, signal, beforeRequest } = this.#parts
    await beforeRequest()
    const limitMs = request.timeoutMs ?? type.limits.timeoutMs ?? DESTINATION_DEFAULTS.timeoutMs
    return this.#blank(await (type.transport?.(request, context, signal) ?? transport(request, limitMs, signal)))
  }
}

/** Includes the time that the platform names, if any. */
export function withHint(outcome: Unreached, { headers }: OutgoingResponse, now: number): Unreached {
  const afterMs = outcome.afterMs ?? parseRetryAfter(headers['retry-after'], now)
  return afterMs === undefined ? outcome : { ...outcome, afterMs }
}

/** There was no answer: we gave up, policy forbids it (a configuration error, so nothing is lost), or it is worth another try. */
export function unanswered(error: unknown, signal: AbortSignal): Unanswered {
  const message = errorText(error)
  if (signal.aborted) return { kind: 'aborted', message }
  if (error instanceof EgressError && error.kind === 'refused') return { kind: 'unauthorized', message }
  const isUnreached = error instanceof EgressError && (error.kind === 'connect' || error.kind === 'dns')
  return { kind: 'retry', message, ...(isUnreached ? { isUnreached } : {}) }
}

/** The text of an error, safe to show to the destination's owner. */
export const errorText = (error: unknown): string => redact(error instanceof Error ? error.message : String(error), 500)
