import { isObject } from './json.ts'
import type { Unfolding } from './unfolding.ts'
import { resolve } from './schema-pointer.ts'

type Json = { readonly [key: string]: unknown }

/** The only keywords that may stand beside a reference. */
const BESIDE_REF: ReadonlySet<string> = new Set(['description', 'default'])
const MAX_DEPTH = 100

/** Keywords whose value is a map from names to schemas, and those that hold values instead of schemas. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'])
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required'])

interface Fitting {
  /** Nodes with a reference whose target may have to be moved. */
  readonly referring: { $ref?: string }[]
  /** Definitions that are nested deeper, where the endpoint does not look. */
  readonly inner: Map<string, unknown>
}

/**
 * A JSON Schema for the newer fields: `definitions` become `$defs`, definitions that references name are moved to the root, and everything beside a
 * `$ref` is removed, because otherwise the whole request fails. Everything else stays; keywords that are not enforced are ignored there. `unfolding`
 * is the request's: a definition that would have to be copied beyond it is left open.
 */
export function fitJsonSchema(schema: Json, unfolding: Unfolding): Json {
  const fitting: Fitting = { referring: [], inner: new Map() }
  return withDefinitions(fitNode(schema, 0, fitting) as Json, fitting, unfolding)
}

const DEFINITION = /^#\/\$defs\/([^/]+)$/

function withDefinitions(root: Json, { referring, inner }: Fitting, unfolding: Unfolding): Json {
  const named: { [name: string]: unknown } = {}
  const defs: Json = isObject(root['$defs']) ? root['$defs'] : {}
  const names = new Map<unknown, string>()
  const freeName = nameSource(defs, named, inner)
  for (const node of referring) {
    const ref = node.$ref!
    const name = DEFINITION.exec(ref)?.[1]
    // A reference to the whole schema refers to no definition, and is a recursion.
    if (ref === '#' || (name !== undefined && (Object.hasOwn(defs, name) || Object.hasOwn(named, name)))) continue
    const target = name !== undefined && inner.has(name) ? inner.get(name) : resolve(root, ref)
    if (!isObject(target) || (!names.has(target) && !unfolding.takes(target))) {
      delete node.$ref
      continue
    }
    const known = names.get(target) ?? (name !== undefined && inner.has(name) ? name : freeName())
    names.set(target, known)
    named[known] = target
    node.$ref = `#/$defs/${known}`
  }
  return names.size === 0 ? root : { ...root, $defs: { ...defs, ...named } }
}

/** Names that nothing has. What exists is counted for the first alone, because there may be tens of thousands of each. */
function nameSource(...taken: readonly (Json | ReadonlyMap<string, unknown>)[]): () => string {
  const isTaken = (name: string): boolean => taken.some((names) => (names instanceof Map ? names.has(name) : Object.hasOwn(names, name)))
  let count: number | undefined
  return () => {
    count ??= taken.reduce((sum, names) => sum + (names instanceof Map ? names.size : Object.keys(names).length), 0)
    while (isTaken(`shared${count}`)) count++
    return `shared${count}`
  }
}

function fitNode(node: unknown, depth: number, fitting: Fitting): unknown {
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(node)) return node.map((each) => fitNode(each, depth + 1, fitting))
  if (!isObject(node)) return node
  const hasRef = typeof node['$ref'] === 'string'
  const fitted: { [key: string]: unknown } = {}
  if (hasRef) fitting.referring.push(fitted)
  for (const [key, value] of Object.entries(node)) {
    if (key === '$schema' || (hasRef && !key.startsWith('$') && !BESIDE_REF.has(key) && key !== 'definitions')) continue
    if (key === '$ref' && typeof value === 'string') fitted[key] = value.replace(/^#\/definitions\//, '#/$defs/')
    else if (VALUES.has(key)) fitted[key] = value
    else if (MAPS.has(key) && isObject(value)) fitMap(fitted, key, value, depth, fitting)
    else fitted[key] = fitNode(value, depth + 1, fitting)
  }
  return fitted
}

function fitMap(fitted: { [key: string]: unknown }, key: string, value: Json, depth: number, fitting: Fitting): void {
  const map = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fitNode(inner, depth + 1, fitting)]))
  if (depth > 0 && (key === '$defs' || key === 'definitions')) {
    for (const name in map) if (!fitting.inner.has(name)) fitting.inner.set(name, map[name])
  }
  if (key === 'definitions') fitted['$defs'] = { ...map, ...(isObject(fitted['$defs']) ? fitted['$defs'] : {}) }
  else fitted[key] = key === '$defs' && isObject(fitted['$defs']) ? { ...fitted['$defs'], ...map } : map
}
