import type { JsonObject } from '../../core/item.ts'
import { soundSchema } from './sound-schema.ts'

const NOTHING: JsonObject = { type: 'object', properties: {} }

/** Where one of these stands the schema says elsewhere what it takes. */
const ELSEWHERE = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'enum', 'const']

/**
 * The parameters of a function as servers want them: an object that lists its members. Functions that take nothing, those of MCP servers above
 * all, leave the list out, or say nothing at all: sound JSON Schema, and refused.
 */
export function functionParameters(parameters: JsonObject | null | undefined): JsonObject {
  if (parameters == null) return NOTHING
  const sound = soundSchema(parameters)
  const { type, properties } = sound
  const isObject = (type == null || type === 'object') && ELSEWHERE.every((keyword) => sound[keyword] === undefined)
  return !isObject || (type === 'object' && properties !== undefined) ? sound : { ...sound, type: 'object', properties: properties ?? {} }
}
