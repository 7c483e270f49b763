import type { JsonObject } from '../../core/item.ts'
import { asString } from '../shared/json.ts'
import { mapSchemas } from '../shared/schema-walk.ts'

/** Keywords from which servers with grammars cannot build one, or only one that is too large. */
const BOUNDS = ['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'not'] as const

const PATTERNS = ['pattern'] as const

/**
 * A tool's schema with its bounds, or only its patterns, moved into the description, for servers that refuse all tools if they cannot build a grammar
 * for one.
 */
export function boundsInDescription(schema: JsonObject, only?: 'patterns'): JsonObject {
  const keywords: readonly string[] = only === 'patterns' ? PATTERNS : BOUNDS
  return mapSchemas(schema, (node) => {
    const present = keywords.filter((keyword) => node[keyword] !== undefined)
    if (present.length === 0) return node
    const rest: { [keyword: string]: unknown } = { ...node }
    for (const keyword of present) delete rest[keyword]
    const note = `Constraints: ${present.map((keyword) => `${keyword}: ${JSON.stringify(node[keyword])}`).join('; ')}`
    const description = asString(node['description'])
    return { ...rest, description: description === undefined || description === '' ? note : `${description}\n${note}` }
  })
}
