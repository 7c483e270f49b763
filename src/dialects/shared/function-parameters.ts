import type { JsonObject } from '../../core/item.ts'
import { soundSchema } from './sound-schema.ts'

const NOTHING: JsonObject = { type: 'object', properties: {} }

/** If one of these keywords is present, the schema says elsewhere what it takes. */
const ELSEWHERE = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'enum', 'const']

/**
 * The parameters of a function as servers want them: an object that lists its members. Functions without parameters, especially those of MCP servers,
 * leave the list or everything out, which is valid JSON Schema and refused.
 */
export function functionParameters(parameters: JsonObject | null | undefined): JsonObject {
  if (parameters == null) return NOTHING
  const sound = soundSchema(parameters)
  const { type, properties } = sound
  const isObject = (type == null || type === 'object') && ELSEWHERE.every((keyword) => sound[keyword] === undefined)
  return !isObject || (type === 'object' && properties !== undefined) ? sound : { ...sound, type: 'object', properties: properties ?? {} }
}
