import type { CallOrigin } from '../../core/call.ts'
import type { ModelRequest } from '../../core/request.ts'
import type { FoldOf } from './fold.ts'

/** The contract's envelope of a failure before the first byte. */
export interface ErrorEnvelope {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly metadata: { readonly error_type: string; readonly [field: string]: unknown }
  }
  readonly [beside: string]: unknown
}

interface Telling {
  readonly fold: FoldOf
  /** Where the door's own format has what stands at a path of the request; left out where that is the same. */
  readonly pathOf?: (path: string) => string
  /** Of a stream that is none of events: headers that say so, and what keeps a silent one alive. */
  readonly streamed?: { readonly headers: { readonly [name: string]: string }; readonly sign: () => string }
}

/** A body in the words of Responses, of which nothing is checked yet. */
export interface Translated extends Telling {
  readonly body: unknown
}

/** What those words could not say: a request that is checked and complete. */
export interface Requested extends Telling {
  readonly request: ModelRequest
}

export type Read = Translated | Requested

/** One of the gateway's own wire formats: how a body is read and how an answer is written. Everything between is the same for all of them. */
export interface Door {
  readonly path: string
  /** Where a name stands between the path and what is asked of it: what an address ends with. */
  readonly methods?: readonly string[]
  readonly apiType: CallOrigin['apiType']
  /** Whether callers may name items of earlier answers by their ids. */
  readonly refersToItems: boolean
  /**
   * What a parsed body asks for, and what tells its answer. `exactly` parses it once more, so that numbers no double holds are written as they
   * were sent; undefined where nobody has the text. `url`: the address it was sent to, from its path on. Throws GatewayError for a body this
   * format does not have.
   */
  read(sent: unknown, exactly?: () => unknown, url?: string): Read
  /** What keeps silent streams alive for callers who do not say; default: comments, which clients of some formats take for a fault. */
  readonly signs?: 'event'
  /** A header, beside `authorization`, in which clients of this format send their key. */
  readonly keyHeader?: string
  /** A parameter of the address in which some of them do. */
  readonly keyParameter?: string
  /** A header, beside `x-request-id`, in which clients of this format look for the id of a request. */
  readonly idHeader?: string
  /** The envelope as this format has it; default: as it is. `retryAfterSeconds`: what the header of that name says. */
  readonly envelope?: (envelope: ErrorEnvelope, requestId: string, retryAfterSeconds?: number) => object
  /** Where other formats ask below the same path: whether a request is of this one. `path`: with a slash at its end. Default: each is. */
  readonly isMeant?: (path: string, headers: { readonly [name: string]: unknown }) => boolean
  /** Whether a client speaks this format and no other, wherever it asks. Default: nobody can tell. */
  readonly isSpokenBy?: (headers: { readonly [name: string]: unknown }) => boolean
}

/** A door whose callers may say what those of Responses may. */
export interface TranslatingDoor extends Door {
  read(sent: unknown, exactly?: () => unknown, url?: string): Translated
}
