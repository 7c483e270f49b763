import type { JsonObject } from '../../core/item.ts'
import { asString, isObject } from './json.ts'
import { decodeStep, resolve } from './schema-pointer.ts'
import { mapSchemas } from './schema-walk.ts'

const DEFINITION = /^#\/(\$defs|definitions)\/([^/]+)$/

/** Whether a reference to a place in its own schema finds nothing there. */
export function leadsNowhere(root: JsonObject, reference: string): boolean {
  if (!reference.startsWith('#/')) return false
  // Nearly all references are to a definition at the root, by a name that needs no decoding.
  if (reference.startsWith('#/$defs/') && isObject(root['$defs'])) {
    const name = reference.slice('#/$defs/'.length)
    if (!/[%~/]/.test(name) && Object.hasOwn(root['$defs'], name) && isObject(root['$defs'][name])) return false
  }
  return resolve(root, reference) === undefined
}

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
    const definitions = (moved[keyword] ??= isObject(known) ? { ...known } : {})
    // One name may be written in many ways.
    if (!Object.hasOwn(definitions, name)) definitions[name] = mapSchemas(definition, withoutDefinitions)
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
    if (reference !== undefined && !seen.has(reference)) {
      seen.add(reference)
      if (leadsNowhere(schema, reference)) missing.add(reference)
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

/** Definitions inside of one that moves are moved by themselves: a copy in each would make the whole as many times as long as they are deep. */
function withoutDefinitions(node: JsonObject): JsonObject {
  if (node['$defs'] === undefined && node['definitions'] === undefined) return node
  const { $defs: _defs, definitions: _definitions, ...rest } = node
  return rest
}

function withoutReference(node: JsonObject, missing: ReadonlySet<string>): JsonObject {
  const { $ref: reference, ...rest } = node
  return typeof reference === 'string' && missing.has(reference) ? rest : node
}
