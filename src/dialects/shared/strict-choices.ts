import type { JsonObject } from '../../core/item.ts'
import { mapSchemas } from './schema-walk.ts'

/**
 * A strict schema with its choices as `anyOf`: what is refused as `oneOf` (which zod writes for kinds that a member tells apart) by OpenAI and those who
 * validate as it does. An answer is made along one branch of either word. The same object where nothing changes.
 */
export const strictChoices = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, (node) => {
    const { oneOf, ...rest } = node
    return Array.isArray(oneOf) && rest['anyOf'] === undefined ? { ...rest, anyOf: oneOf as readonly unknown[] } : node
  })
