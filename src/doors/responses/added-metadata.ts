import type { JsonObject } from '../../core/item.ts'
import { refuse } from '../shared/check-body.ts'
import { findFault } from './schema-combinators.ts'
import { metadata } from './schema-options.ts'
import { describeIssue, formatPath } from './validation-message.ts'

const HEADER = 'x-gateway-metadata'

/**
 * The metadata of a request merged with the pairs of the header `x-gateway-metadata`, a JSON object, for programs that can only set headers; pairs of the
 * body win. Throws GatewayError `invalid_request` naming the header if it is no such object, or if the result is more than metadata may hold.
 */
export function withAddedMetadata(own: unknown, header: string): JsonObject {
  const added = parsed(header)
  if (typeof added !== 'object' || added === null || Array.isArray(added)) {
    throw refuse('invalid_request', HEADER, 'must be a JSON object with a text for each key, such as {"team": "search"}')
  }
  const together = { ...(added as JsonObject), ...(own as JsonObject | undefined) }
  const fault = findFault(metadata, together, describeIssue)
  if (fault !== undefined) throw refuse('invalid_request', formatPath([HEADER, ...fault.path]), fault.message)
  return together
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
