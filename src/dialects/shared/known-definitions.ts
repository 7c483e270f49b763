import type { JsonObject } from '../../core/item.ts'
import { asString, isObject } from './json.ts'
import { decodeStep, resolve } from './schema-pointer.ts'
import { mapSchemas } from './schema-walk.ts'

const DEFINITION = /^#\/(\$defs|definitions)\/([^/]+)$/

/**
 * A schema whose references lead somewhere. Tools that are put together from the schemas of their parameters have definitions inside a parameter and
 * references to the root: those definitions move there. A reference to nothing says nothing and is left out. The same object if nothing has to change.
 */
export function withKnownDefinitions(schema: JsonObject): JsonObject {
  const { missing, inner } = readReferences(schema)
  if (missing.size === 0) return schema
  const moved: { [keyword: string]: { [name: string]: unknown } } = {}
  for (const reference of missing) {
    const [, keyword = '', step = ''] = DEFINITION.exec(reference) ?? []
    const name = decodeStep(step)
    const definition = inner.get(name)
    if (keyword === '' || definition === undefined) continue
    missing.delete(reference)
    const known = schema[keyword]
    ;(moved[keyword] ??= isObject(known) ? { ...known } : {})[name] = definition
  }
  const whole = { ...schema, ...moved }
  return missing.size === 0 ? whole : mapSchemas(whole, (node) => withoutReference(node, missing))
}

interface References {
  /** Those that lead nowhere. */
  readonly missing: Set<string>
  /** Definitions below the root, by name. */
  readonly inner: ReadonlyMap<string, JsonObject>
}

function readReferences(schema: JsonObject): References {
  const seen = new Set<string>()
  const missing = new Set<string>()
  const inner = new Map<string, JsonObject>()
  mapSchemas(schema, (node) => {
    const reference = asString(node['$ref'])
    if (reference?.startsWith('#/') && !seen.has(reference)) {
      seen.add(reference)
      if (resolve(schema, reference) === undefined) missing.add(reference)
    }
    if (node === schema) return node
    for (const definitions of [node['$defs'], node['definitions']]) {
      for (const [name, definition] of isObject(definitions) ? Object.entries(definitions) : [])
        if (isObject(definition) && !inner.has(name)) inner.set(name, definition)
    }
    return node
  })
  return { missing, inner }
}

function withoutReference(node: JsonObject, missing: ReadonlySet<string>): JsonObject {
  const { $ref: reference, ...rest } = node
  return typeof reference === 'string' && missing.has(reference) ? rest : node
}
