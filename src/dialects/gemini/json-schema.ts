import { isObject } from '../shared/json.ts'

type Json = { readonly [key: string]: unknown }

/** Beside a reference only these may stand. */
const BESIDE_REF: ReadonlySet<string> = new Set(['description', 'default'])
const MAX_DEPTH = 100

/** Members whose value is a map from names to schemas, and those that hold values instead of schemas. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'])
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required'])

/**
 * A JSON Schema as the newer fields take it: `definitions` become `$defs`, and what stands beside a `$ref` goes, because it makes the
 * whole request fail. Everything else stays; keywords that are not enforced are ignored there.
 */
export function fitJsonSchema(schema: Json): Json {
  return fitNode(schema, 0) as Json
}

function fitNode(node: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(node)) return node.map((each) => fitNode(each, depth + 1))
  if (!isObject(node)) return node
  const hasRef = typeof node['$ref'] === 'string'
  const fitted: { [key: string]: unknown } = {}
  for (const [key, value] of Object.entries(node)) {
    if (key === '$schema' || (hasRef && !key.startsWith('$') && !BESIDE_REF.has(key) && key !== 'definitions')) continue
    if (key === '$ref' && typeof value === 'string') fitted[key] = value.replace(/^#\/definitions\//, '#/$defs/')
    else if (VALUES.has(key)) fitted[key] = value
    else if (MAPS.has(key) && isObject(value)) {
      const map = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fitNode(inner, depth + 1)]))
      if (key === 'definitions') fitted['$defs'] = { ...map, ...(isObject(fitted['$defs']) ? fitted['$defs'] : {}) }
      else fitted[key] = key === '$defs' && isObject(fitted['$defs']) ? { ...fitted['$defs'], ...map } : map
    } else fitted[key] = fitNode(value, depth + 1)
  }
  return fitted
}
