import { GatewayError } from '../../core/error.ts'
import type { JsonObject } from '../../core/item.ts'
import { findFault, type Schema } from '../responses/schema-combinators.ts'
import { describeIssue, formatPath, toSentence } from '../responses/validation-message.ts'

/** Far more than any format has. Objects with hundreds of thousands of fields are copied at a hundredth of the usual speed. */
const MAX_FIELDS = 1_024

/** An error that names one path and one reason. */
export function refuse(type: 'invalid_request' | 'invalid_prompt' | 'unprocessable', path: string, reason: string): GatewayError {
  return new GatewayError(type, toSentence(path, reason), { path })
}

/**
 * Validates a parsed body in place. Throws GatewayError `invalid_request` for what the schema refuses, `invalid_prompt` for an unknown role in the list
 * `listField`.
 */
export function checkBody(schema: Schema, body: unknown, listField: string): void {
  if (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length > MAX_FIELDS)
    throw refuse('invalid_request', formatPath([]), `must have at most ${MAX_FIELDS} fields`)
  const fault = findFault(schema, body, describeIssue)
  if (fault === undefined) return
  const badRole = fault.path[0] === listField && fault.path.at(-1) === 'role'
  throw refuse(badRole ? 'invalid_prompt' : 'invalid_request', formatPath(fault.path), fault.message)
}

/** The fields that have a value. */
export function withValues(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
}
