import type { GatewayError } from '../../core/error.ts'

/** Answers that exist, but not as a stream: of this model, with tools, or for an account that is not verified. */
const NO_STREAM =
  /support tool use in streaming mode|'stream' does not support true|`stream` is not supported for this model|must be verified to stream this model/i

/** A request refused with status 400 because it asked for a stream may be sent again for a whole answer; the error's metadata say so. */
export function markUnstreamed(status: number, error: GatewayError): GatewayError {
  if (status !== 400 || !NO_STREAM.test(error.message)) return error
  return error.with({ metadata: { ...error.details.metadata, ask_whole: true } })
}
