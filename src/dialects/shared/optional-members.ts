import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'
import { mapSchemas } from './schema-walk.ts'

/** The note for a tool or answer that some vendors could hold to its schema, but this one must not. */
export const STRICT_WITH_OPTIONAL = 'strict: members that may be left out'

/** Whether an object in the schema has optional members: some vendors refuse a whole request for a strict schema with one. */
export function hasOptionalMembers(schema: JsonObject): boolean {
  let found = false
  mapSchemas(schema, (node) => {
    const { properties, required } = node
    if (!found && isObject(properties)) {
      const names = new Set<unknown>(Array.isArray(required) ? required : [])
      found = Object.keys(properties).some((name) => !names.has(name))
    }
    return node
  })
  return found
}
