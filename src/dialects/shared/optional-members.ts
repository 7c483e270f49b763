import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'
import { mapSchemas } from './schema-walk.ts'

/** What is said of a tool, or an answer, that is held to its schema by some vendors and may not be by this one. */
export const STRICT_WITH_OPTIONAL = 'strict: members that may be left out'

/** Whether an object of the schema has members that may be left out: some vendors refuse a strict schema for one, with the whole request. */
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
