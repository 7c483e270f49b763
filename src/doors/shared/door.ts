import type { CallOrigin } from '../../core/call.ts'
import type { AnswerWriter } from '../responses/answer-writer.ts'
import type { AssemblerOptions } from '../responses/assembler-options.ts'

export type WriterOf = (options: AssemblerOptions) => AnswerWriter

/** The contract's envelope of a failure before the first byte. */
export interface ErrorEnvelope {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly metadata: { readonly error_type: string; readonly [field: string]: unknown }
  }
  readonly [beside: string]: unknown
}

export interface Read {
  /** In the words of Responses. */
  readonly body: unknown
  readonly writer: WriterOf
  /** Where the door's own format has what stands at a path of `body`; left out where that is the same. */
  readonly pathOf?: (path: string) => string
}

/** One of the gateway's own wire formats: how a body is read and how an answer is written. Everything between is the same for all of them. */
export interface Door {
  readonly path: string
  readonly apiType: CallOrigin['apiType']
  /** Whether callers may name items of earlier answers by their ids. */
  readonly refersToItems: boolean
  /** A parsed body in the words of Responses, and what writes its answer. Throws GatewayError for a body this format does not have. */
  read(sent: unknown): Read
  /** A header, beside `authorization`, in which clients of this format send their key. */
  readonly keyHeader?: string
  /** A header, beside `x-request-id`, in which clients of this format look for the id of a request. */
  readonly idHeader?: string
  /** The envelope as this format has it; default: as it is. */
  readonly envelope?: (envelope: ErrorEnvelope, requestId: string) => object
}
