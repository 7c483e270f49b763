import type { Call, CallOrigin } from '../../core/call.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { FoldOf } from './fold.ts'

/** The contract's error envelope for a failure before the first byte. */
export interface ErrorEnvelope {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly metadata: { readonly error_type: string; readonly [field: string]: unknown }
  }
  readonly [beside: string]: unknown
}

interface AnswerFormat {
  readonly fold: FoldOf
  /** Maps a path of the request to the path in the door's own format; left out if they are the same. */
  readonly pathOf?: (path: string) => string
  /** How much of an item its reader sees while it is written; left out if each of its events is written. */
  readonly visibilityOf?: Call['visibilityOf']
  /** For streams other than server-sent events: their headers, and the keep-alive. */
  readonly streamed?: { readonly headers: { readonly [name: string]: string }; readonly sign: () => string }
}

/** A body in the terms of Responses that has not been validated yet. */
export interface Translated extends AnswerFormat {
  readonly body: unknown
}

/** For requests that Responses cannot express: a validated and complete request. */
export interface Requested extends AnswerFormat {
  readonly request: ModelRequest
}

export type Read = Translated | Requested

/** One of the gateway's own wire formats: how a body is read and how an answer is written. Everything in between is the same for all formats. */
export interface Door {
  readonly path: string
  /** For doors with a name between the path and the method: the endings of their addresses. */
  readonly methods?: readonly string[]
  readonly apiType: CallOrigin['apiType']
  /** Whether callers may name items of earlier answers by their ids. */
  readonly refersToItems: boolean
  /**
   * What a parsed body asks for, and what writes its answer. `exactly` parses the body again, so that numbers beyond a double's precision are kept as they
   * were sent; undefined if the text is not available. `url`: the request's address from its path on. Throws GatewayError for a body that this format does
   * not allow.
   */
  read(sent: unknown, exactly?: () => unknown, url?: string): Read
  /** The keep-alive of streams for callers who do not choose; default: comments, on which clients of some formats fail. */
  readonly signs?: 'event'
  /** A header in which clients of this format send their key, besides `authorization`. */
  readonly keyHeader?: string
  /** A query parameter in which some clients send their key. */
  readonly keyParameter?: string
  /** A header in which clients of this format look for the request id, besides `x-request-id`. */
  readonly idHeader?: string
  /** The error envelope in this format; default: unchanged. `retryAfterSeconds`: the value of that header. */
  readonly envelope?: (envelope: ErrorEnvelope, requestId: string, retryAfterSeconds?: number) => object
  /** If other formats share the path: whether a request is of this one. `path`: with a slash at its end. Default: always. */
  readonly ownsRequest?: (path: string, headers: { readonly [name: string]: unknown }) => boolean
  /** Whether a client speaks this format and no other, at any address. Default: unknown. */
  readonly isSpokenBy?: (headers: { readonly [name: string]: unknown }) => boolean
}

/** A door whose requests translate to Responses. */
export interface TranslatingDoor extends Door {
  read(sent: unknown, exactly?: () => unknown, url?: string): Translated
}
