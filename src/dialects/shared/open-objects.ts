import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'
import { mapSchemas } from './schema-walk.ts'

/** The note for a tool or answer that is not held to its schema, because it could then have no members in a map. */
export const STRICT_WITH_MAPS = 'strict: objects whose members are not named'

const hasAny = (members: unknown): boolean => isObject(members) && Object.keys(members).length > 0

/** If one of these keywords is present, the schema says elsewhere what it takes. */
const ELSEWHERE = ['anyOf', 'oneOf', 'allOf', 'enum', 'const'] as const

/**
 * Whether an object in the schema names none of its members (a map from names to values). Where all objects must be closed, it would always be empty.
 * An object that names some and takes others as well only loses those.
 */
export function hasOpenObjects(schema: JsonObject): boolean {
  let found = false
  mapSchemas(schema, (node) => {
    found ||= isMap(node)
    return node
  })
  return found
}

function isMap(node: JsonObject): boolean {
  const { type, properties, additionalProperties: more } = node
  // What stands beside a reference is not sent.
  if (node['$ref'] !== undefined || hasAny(properties)) return false
  if (hasAny(node['patternProperties'])) return true
  if (more !== undefined) return more !== false
  const isObjectType = type === 'object' || (Array.isArray(type) && type.includes('object'))
  return isObjectType && properties === undefined && ELSEWHERE.every((keyword) => node[keyword] === undefined)
}
