import type { ZodType } from 'zod'
import type { DeliveryRecord } from './delivery.ts'

/** The size limits of a destination. Bytes are counted before compression. */
export interface DestinationLimits {
  /** Records in one batch. */
  readonly records: number
  /** Bytes of one request body. */
  readonly bytes: number
  /** Characters of one value; longer values are cut and flagged. Default 10,000,000. */
  readonly valueChars?: number
  /** How long a batch waits to fill, milliseconds. Default 2,000. */
  readonly lingerMs?: number
  /**
   * Age from which on the platform drops a generation: older ones become dead letters instead of being sent. Default: no limit of the platform; only
   * generations that have waited for 7 days become dead letters.
   */
  readonly maxAgeMs?: number
  /** Time for one request, milliseconds. Default 30,000. */
  readonly timeoutMs?: number
  /** Concurrent batches to one destination. Default 2. */
  readonly concurrency?: number
}

/** An encoder's input besides the batch and the settings. The same context gives the same bytes. */
export interface DestinationContext {
  readonly destinationId: string
  /** `service.name` and related values; set by the operator. */
  readonly serviceName: string
  readonly serviceVersion: string
  /** The operator's base URL for this type, for types without one in their settings. */
  readonly baseUrl?: string
  /** Where types that write files may write: a directory of the workspace. Absent: nowhere. */
  readonly directory?: string
  /**
   * Milliseconds since the epoch; by the platform's clock if the platform reported that ours is wrong. For signatures only; times in the payload come
   * from the records.
   */
  readonly now: number
  /** 0 the first time this batch is sent, more if any part of it was sent before. */
  readonly attempt: number
  /** What `prepare` returned. */
  readonly prepared?: unknown
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Buffer
  /** The sender compresses the body and sets `content-encoding`. Default: no compression, which signed bodies require. */
  readonly compress?: 'gzip'
  /**
   * Positions of the records in the batch that this request carries; default all. A record counts as delivered if every request that carries it was
   * accepted. Requests are sent in order, and one that carries an already refused record is not sent.
   */
  readonly records?: readonly number[]
  /** Timeout of this request, in milliseconds; default: that of the limits. */
  readonly timeoutMs?: number
}

export interface OutgoingResponse {
  readonly status: number
  /** Names are in lower case. */
  readonly headers: { readonly [name: string]: string }
  /** Truncated at the sender's limit (4 MiB). */
  readonly body: Buffer
}

/** What a response means for the records of its request. `message` is shown to the owner, so it contains no secrets and no payload. */
export type DeliveryOutcome =
  /** Accepted. A `message` is a warning that the owner should see. */
  | { readonly kind: 'delivered'; readonly message?: string }
  /** Some records were refused permanently, the others accepted. Only `retry` is sent again. Positions refer to the request's own records. */
  | {
      readonly kind: 'partial'
      readonly message: string
      /** How many were refused, if the platform does not say which. */
      readonly rejectedCount?: number
      readonly rejected?: readonly { readonly index: number; readonly message: string }[]
      readonly retry?: readonly number[]
    }
  /**
   * Try again later. `afterMs`: the platform's own hint. `maxAttempts` limits attempts that are unlikely to help. At the last one, the culprit is
   * searched by halving the batch. The same happens from the fifth 500 on, and from the eleventh other failure of a platform that was reached.
   * `overload`: the platform is alive but busy, which the breaker does not count. `platformTime`: the platform refused because our clock is wrong;
   * this is its own time, which the next requests use.
   */
  | {
      readonly kind: 'retry'
      readonly message: string
      readonly afterMs?: number
      readonly maxAttempts?: number
      readonly overload?: boolean
      readonly platformTime?: number
    }
  /** Too large: the batch is halved; a single record is shortened. */
  | { readonly kind: 'split'; readonly message: string }
  /** Refused permanently. In a batch, the culprit is searched by halving; a single record becomes a dead letter. */
  | { readonly kind: 'reject'; readonly message: string }
  /**
   * Credentials or configuration are wrong. Nothing is lost: the destination pauses until its owner changes something. With 403, 404 and 410, the
   * batch is halved from the third time on: a record that is refused while others are accepted is refused permanently.
   */
  | { readonly kind: 'unauthorized'; readonly message: string }

/** Another request that is needed before the outcome is known, such as polling an asynchronous statement. */
export interface FollowUp {
  readonly request: OutgoingRequest
  readonly afterMs: number
}

/** One step of a connection test. */
export interface ProbeStep {
  /** Shown to the owner: `insert a span`, `read the table's columns`. */
  readonly name: string
  readonly request: OutgoingRequest
  /** Returns what is wrong with the response, as a sentence, or undefined. Default: the result of `classify`. */
  readonly check?: (response: OutgoingResponse) => string | undefined
}

/** Sends one request and resolves with the response, whatever its status. Rejects if none was received. */
export type SendRequest = (request: OutgoingRequest) => Promise<OutgoingResponse>

/**
 * One destination type, in one file in destinations/. It encodes records and interprets responses. Queueing, batching, retries, splitting,
 * compression, sending and timeouts are done by the engine (delivery/worker.ts). All functions are pure: no clock, no randomness, no sockets, no
 * state.
 */
export interface Destination<Settings = unknown> {
  /** The API name, in kebab-case. */
  readonly type: string
  /** The display name. */
  readonly name: string
  /** The schema of `config` in the API: strict, with defaults. Every type has `headers` (see destinations/shared/settings.ts). */
  readonly settings: ZodType<Settings>
  /** Paths of settings that can never be read again; `headers.*` means every value of the map. */
  readonly secrets: readonly string[]
  readonly limits: DestinationLimits
  /** Allowed schemes of the operator's base URL for this type (`destinations.base_urls`). Default: `https` and `http`. */
  readonly baseUrlSchemes?: readonly string[]
  /**
   * The requests that carry a batch. Throws if no batch with these records can be encoded; the culprit is then searched as for `reject`. The same
   * arguments give the same bytes, and ids are derived from the records, so that the platform recognises a record that is sent twice.
   */
  encode(batch: readonly DeliveryRecord[], settings: Settings, context: DestinationContext): EncodeResult | Promise<EncodeResult>
  /** Interprets a response. Default: `classifyHttp` of core/outcome.ts. */
  classify?(response: OutgoingResponse, request: OutgoingRequest): DeliveryOutcome
  /**
   * Whether only the body says that records were accepted, so that an incomplete response does not count. Default: the status decides, even if the
   * body does not arrive completely.
   */
  readonly answersInBody?: boolean
  /** Called with each response and the number of follow-ups so far; undefined if the response is final. */
  followUp?(response: OutgoingResponse, step: number, settings: Settings, context: DestinationContext): FollowUp | undefined
  /** Looked up once per destination and configuration (a bucket's region, a table's columns). Available as `context.prepared`. */
  prepare?(settings: Settings, context: DestinationContext, send: SendRequest): Promise<unknown>
  /** The connection test: the cheapest authenticated requests that prove the settings. They run in order until one fails. */
  probe(settings: Settings, context: DestinationContext): readonly ProbeStep[]
  /** A transport for types that do not use HTTP. It returns HTTP-like responses, so that everything else works unchanged. */
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
