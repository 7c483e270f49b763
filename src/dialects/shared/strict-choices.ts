import type { JsonObject } from '../../core/item.ts'
import { mapSchemas } from './schema-walk.ts'

/**
 * A strict schema with its choices as `anyOf`: OpenAI, and those who validate like it, refuse `oneOf` (which zod writes for discriminated unions). An
 * answer follows one branch with either keyword. The same object if nothing changes.
 */
export const strictChoices = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, (node) => {
    const { oneOf, ...rest } = node
    return Array.isArray(oneOf) && rest['anyOf'] === undefined ? { ...rest, anyOf: oneOf as readonly unknown[] } : node
  })
