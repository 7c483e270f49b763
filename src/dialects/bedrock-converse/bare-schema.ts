import type { JsonObject } from '../../core/item.ts'
import { isObject } from '../shared/json.ts'
import { toolInputSchema } from '../shared/sanitize-schema.ts'
import { resolve } from '../shared/schema-pointer.ts'
import type { Unfolding } from '../shared/unfolding.ts'

const MAX_DEPTH = 64
/**
 * Keywords whose values are named schemas, and those whose values are schemas or lists of them. Elsewhere, what looks like a reference is not one.
 */
const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties'])
const SCHEMAS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items', 'additionalProperties', 'not'])

interface Scope {
  readonly root: JsonObject
  /** The references being resolved: one that occurs again is recursive. */
  readonly open: readonly string[]
  readonly unfolding: Unfolding
}

/**
 * The schema of a tool's input for models that accept nothing at its top level except type, members and required members. A choice of schemas is
 * merged into one object. Definitions are inlined where they are referred to, because there is no place for them; a recursive one ends in any object.
 * `unfolding` is shared by the request: references beyond it end like recursive ones.
 */
export function bareSchema(parameters: JsonObject, unfolding: Unfolding): JsonObject {
  const { properties, required } = toolInputSchema(parameters, unfolding)
  const scope = { root: parameters, open: [], unfolding }
  return {
    type: 'object',
    properties: isObject(properties) ? mapValues(properties, (each) => inPlace(each, scope, 0)) : {},
    ...(Array.isArray(required) && required.length > 0 ? { required } : {}),
  }
}

const mapValues = (map: JsonObject, change: (value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]))

/** A schema with its references inlined. */
function inPlace(schema: unknown, scope: Scope, depth: number): unknown {
  if (!isObject(schema)) return schema
  if (depth > MAX_DEPTH) return {}
  const { $ref: ref, $defs: _defs, definitions: _definitions, ...rest } = schema
  const inner = (each: unknown): unknown => inPlace(each, scope, depth + 1)
  const own = Object.fromEntries(
    Object.entries(rest).map(([keyword, value]) => {
      if (MAPS.has(keyword) && isObject(value)) return [keyword, mapValues(value, inner)]
      if (!SCHEMAS.has(keyword)) return [keyword, value]
      return [keyword, Array.isArray(value) ? value.map(inner) : inner(value)]
    }),
  )
  if (typeof ref !== 'string') return own
  const found = scope.open.includes(ref) ? undefined : resolve(scope.root, ref)
  if (found === undefined || !scope.unfolding.takes(found)) return { type: 'object', ...own }
  return { ...(inPlace(found, { ...scope, open: [...scope.open, ref] }, depth + 1) as JsonObject), ...own }
}
