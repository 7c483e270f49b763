import type { GatewayError } from '../../core/error.ts'

/** Answers that exist, but in no stream: of this model, beside tools, or for an account that has not shown who it is. */
const NO_STREAM =
  /support tool use in streaming mode|'stream' does not support true|`stream` is not supported for this model|must be verified to stream this model/i

/** A request of status 400 refused for being streamed may be sent again for a whole answer: the metadata of the error say so. */
export function markUnstreamed(status: number, error: GatewayError): GatewayError {
  if (status !== 400 || !NO_STREAM.test(error.message)) return error
  return error.with({ metadata: { ...error.details.metadata, ask_whole: true } })
}
