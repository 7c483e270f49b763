import type { JsonObject } from '../../core/item.ts'
import { isJsonObject, MAX_JSON_DEPTH } from '../../lib/json.ts'

/**
 * Schemas of this format are a subset of OpenAPI 3.0: types in capitals, `nullable`, bounds that may be strings (their numbers are 64 bits wide), and
 * members in the order of `propertyOrdering`. https://ai.google.dev/api/caching#Schema
 */

/** 64-bit numbers, and therefore strings in JSON. */
const BOUNDS = ['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'] as const
/** Compound keywords, which the vendor also accepts under the names of its protocol (snake_case). */
const WORDS: readonly string[] = [...BOUNDS, 'anyOf', 'additionalProperties', 'prefixItems', 'propertyOrdering']
const SPELLINGS: ReadonlyMap<string, string> = new Map(WORDS.map((word) => [word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), word]))

const COPIED = ['title', 'description', 'format', 'pattern', 'default', 'minimum', 'maximum', 'enum', 'required', '$ref'] as const

/** The same as JSON Schema. `closed`: objects with members allow no others, as in the answers of this format. */
export function toJsonSchema(written: JsonObject, closed: boolean, depth = 0): JsonObject {
  if (depth > MAX_JSON_DEPTH) return {}
  const schema: JsonObject = Object.fromEntries(Object.entries(written).map(([word, value]) => [SPELLINGS.get(word) ?? word, value]))
  const inner = (value: unknown): unknown => (isJsonObject(value) ? toJsonSchema(value, closed, depth + 1) : value)
  const all = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]))
  const converted = plainKeywords(schema)
  const { properties, items, anyOf, $defs } = schema
  if (isJsonObject(properties)) converted['properties'] = all(inOrder(properties, schema['propertyOrdering']))
  if (schema['additionalProperties'] != null) converted['additionalProperties'] = inner(schema['additionalProperties'])
  else if (closed && isJsonObject(properties) && Object.keys(properties).length > 0) converted['additionalProperties'] = false
  if (items != null) converted['items'] = inner(items)
  if (Array.isArray(schema['prefixItems'])) converted['prefixItems'] = schema['prefixItems'].map(inner)
  if (Array.isArray(anyOf)) converted['anyOf'] = anyOf.map(inner)
  if (isJsonObject($defs)) converted['$defs'] = all($defs)
  return schema['nullable'] === true ? orNull(converted) : converted
}

/** The keywords that contain no schema. */
function plainKeywords(schema: JsonObject): { [keyword: string]: unknown } {
  const keywords: { [keyword: string]: unknown } = {}
  const type = typeof schema['type'] === 'string' ? schema['type'].toLowerCase() : schema['type']
  if (type != null && type !== 'type_unspecified') keywords['type'] = type
  for (const keyword of COPIED) if (schema[keyword] != null) keywords[keyword] = schema[keyword]
  for (const keyword of BOUNDS) if (schema[keyword] != null) keywords[keyword] = Number(schema[keyword])
  if (schema['example'] != null) keywords['examples'] = [schema['example']]
  return keywords
}

function inOrder(properties: JsonObject, order: unknown): JsonObject {
  if (!Array.isArray(order)) return properties
  const first = order.filter((name): name is string => typeof name === 'string' && Object.hasOwn(properties, name))
  return Object.fromEntries([...new Set([...first, ...Object.keys(properties)])].map((name) => [name, properties[name]]))
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf } = schema
  return {
    ...schema,
    ...(typeof type === 'string' ? { type: [type, 'null'] } : {}),
    ...(Array.isArray(values) ? { enum: [...(values as readonly unknown[]), null] } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: [...(anyOf as readonly unknown[]), { type: 'null' }] } : {}),
  }
}

/** Whether every object of a schema lists all its members and requires them, which is what vendors can enforce strictly. */
export function isComplete(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isComplete)
  if (!isJsonObject(schema)) return true
  const { type, properties, required, additionalProperties: more } = schema
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (isObject) {
    const names = isJsonObject(properties) ? Object.keys(properties) : []
    const needed = new Set(Array.isArray(required) ? (required as readonly unknown[]) : [])
    if (more !== false || names.length === 0 || names.some((name) => !needed.has(name))) return false
  }
  const inside = [properties, schema['$defs']].flatMap((each) => (isJsonObject(each) ? Object.values(each) : []))
  return [...inside, schema['items'], schema['anyOf'], schema['prefixItems']].every(isComplete)
}
