import type { ZodType } from 'zod'
import type { DeliveryRecord } from './delivery.ts'

/** Sizes a destination takes. Bytes are counted before compression. */
export interface DestinationLimits {
  /** Records in one batch. */
  readonly records: number
  /** Bytes of one request body. */
  readonly bytes: number
  /** Characters of one value; longer ones are cut and flagged. Default 10,000,000. */
  readonly valueChars?: number
  /** How long a batch waits to fill, milliseconds. Default 2,000. */
  readonly lingerMs?: number
  /** Age after which the platform drops a generation: older ones become dead letters instead of being sent. Default: none, only what has waited for 7 days does. */
  readonly maxAgeMs?: number
  /** Time for one request, milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  /** Batches on their way to one destination at a time. Default 2. */
  readonly concurrency?: number
}

/** What an encoder may know besides the batch and the settings. Equal context, equal bytes. */
export interface DestinationContext {
  readonly destinationId: string
  /** `service.name` and its kin; the operator's choice. */
  readonly serviceName: string
  readonly serviceVersion: string
  /** The operator's base URL for this type, for types whose settings have none. */
  readonly baseUrl?: string
  /** Where types that write files may write: a folder of the workspace's own. Absent: nowhere. */
  readonly directory?: string
  /**
   * Milliseconds since the epoch, by the platform's clock if it has said that ours is wrong. For signatures only; times in the payload come from the
   * records.
   */
  readonly now: number
  /** 0 for the first time this batch is sent, more when any of it was sent before. */
  readonly attempt: number
  /** What `prepare` returned. */
  readonly prepared?: unknown
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Buffer
  /** The sender compresses the body and sets `content-encoding`. Default: sent as it is (signed bodies must be). */
  readonly compress?: 'gzip'
  /**
   * Which records of the batch it carries, by position; default all. A record counts as delivered when every request that carries it was accepted;
   * requests are sent in order, and one that carries a record refused before is not sent.
   */
  readonly records?: readonly number[]
  /** Time for this request, milliseconds; default from the limits. */
  readonly timeoutMs?: number
}

export interface OutgoingResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** Cut at the sender's limit (4 MiB). */
  readonly body: Buffer
}

/** What an answer means for the records of the request it answers. `message` is shown to the owner: no secrets, no payload. */
export type DeliveryOutcome =
  /** Accepted. A `message` is a warning worth showing. */
  | { readonly kind: 'delivered'; readonly message?: string }
  /** Some were refused for good, the others accepted; nothing is sent again except `retry`. Positions count the request's own records. */
  | {
      readonly kind: 'partial'
      readonly message: string
      /** How many were refused when the platform does not say which. */
      readonly rejectedCount?: number
      readonly rejected?: readonly { readonly index: number; readonly message: string }[]
      readonly retry?: readonly number[]
    }
  /**
   * Try later. `afterMs`: the platform's own hint. `maxAttempts` bounds tries that are unlikely to help; at the last one (and from the fifth 500 on,
   * and the eleventh other failure of a platform that was reached) the culprit is searched by halving. `overload`: alive but busy, which the breaker
   * does not count. `platformTime`: the platform refused because our clock is wrong, and this is its own time, which the next requests use.
   */
  | {
      readonly kind: 'retry'
      readonly message: string
      readonly afterMs?: number
      readonly maxAttempts?: number
      readonly overload?: boolean
      readonly platformTime?: number
    }
  /** Too large: halve the batch; a single record is shortened. */
  | { readonly kind: 'split'; readonly message: string }
  /** Refused for good. In a batch the culprit is searched by halving; alone it becomes a dead letter. */
  | { readonly kind: 'reject'; readonly message: string }
  /**
   * Credentials or configuration are wrong: nothing is lost, the destination pauses until its owner changes something. With 403, 404 and 410, from the third
   * time on, a batch is halved: what is forbidden while others are let in is refused for good.
   */
  | { readonly kind: 'unauthorized'; readonly message: string }

/** Another request needed before the outcome is known: the poll of an asynchronous statement. */
export interface FollowUp {
  readonly request: OutgoingRequest
  readonly afterMs: number
}

/** One step of a connection test. */
export interface ProbeStep {
  /** Said to the owner: `insert a span`, `read the table's columns`. */
  readonly name: string
  readonly request: OutgoingRequest
  /** What is wrong with the answer, in a sentence, or undefined. Default: what `classify` finds. */
  readonly check?: (response: OutgoingResponse) => string | undefined
}

/** Sends one request and resolves with the answer, whatever its status. Rejects when none was received. */
export type SendRequest = (request: OutgoingRequest) => Promise<OutgoingResponse>

/**
 * One destination type; one file in destinations/. It encodes and reads answers; queueing, batching, retries, splitting, compression,
 * sending and time limits are the engine's (delivery/worker.ts). All functions are pure: no clock, no randomness, no sockets, no state.
 */
export interface Destination<Settings = unknown> {
  /** Its name in the API, kebab-case. */
  readonly type: string
  /** Its name for people. */
  readonly name: string
  /** `config` of the API: strict, with defaults. Every type takes `headers` (see destinations/shared/settings.ts). */
  readonly settings: ZodType<Settings>
  /** Paths of settings that are never readable again; `headers.*` means every value of the map. */
  readonly secrets: readonly string[]
  readonly limits: DestinationLimits
  /** Schemes an operator's address for this type may have (`destinations.base_urls`). Default: `https` and `http`. */
  readonly baseUrlSchemes?: readonly string[]
  /**
   * The requests that carry a batch. Throwing says that no batch with these records can be encoded: the culprit is searched as for `reject`.
   * Equal arguments give equal bytes, and ids derive from the records: a record sent twice is recognised by the platform.
   */
  encode(batch: readonly DeliveryRecord[], settings: Settings, context: DestinationContext): EncodeResult | Promise<EncodeResult>
  /** What an answer means. Default: `classifyHttp` of core/outcome.ts. */
  classify?(response: OutgoingResponse, request: OutgoingRequest): DeliveryOutcome
  /** Whether acceptance is told in the body, so that an answer which breaks off is none. Default: the status tells it, whether or not the rest arrives. */
  readonly answersInBody?: boolean
  /** Called with each answer and the number of follow-ups made so far; undefined when the answer is final. */
  followUp?(response: OutgoingResponse, step: number, settings: Settings, context: DestinationContext): FollowUp | undefined
  /** Looked up once per destination and configuration (a bucket's region, a table's columns); available as `context.prepared`. */
  prepare?(settings: Settings, context: DestinationContext, send: SendRequest): Promise<unknown>
  /** The connection test: the cheapest authenticated calls that prove the settings. Run in order until one fails. */
  probe(settings: Settings, context: DestinationContext): readonly ProbeStep[]
  /** Types that do not speak HTTP bring their own way out; they answer in HTTP's terms so that everything else stays the same. */
  transport?(request: OutgoingRequest, context: DestinationContext, signal: AbortSignal): Promise<OutgoingResponse>
}

export type EncodeResult = readonly OutgoingRequest[]

export const DESTINATION_DEFAULTS = {
  valueChars: 10_000_000,
  lingerMs: 2_000,
  maxAgeMs: 7 * 24 * 3_600_000,
  timeoutMs: 30_000,
  concurrency: 2,
} as const
