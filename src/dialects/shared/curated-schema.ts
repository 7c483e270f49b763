import type { JsonObject } from '../../core/item.ts'
import { memoize } from '../../lib/memoize.ts'
import { asString, isObject } from './json.ts'
import { fitJsonSchema } from './rooted-schema.ts'
import { resolve } from './schema-pointer.ts'
import { mapSchemas } from './schema-walk.ts'
import type { Unfolding } from './unfolding.ts'

type Draft = { [keyword: string]: unknown }

/** Keywords for one type: if a value may have several types, each gets its own. */
const OF_TYPE: { readonly [keyword: string]: string } = {
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  maxItems: 'array',
  uniqueItems: 'array',
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  pattern: 'string',
  minLength: 'string',
  maxLength: 'string',
  format: 'string',
}

/**
 * A schema in a curated subset of JSON Schema, for vendors that refuse all tools if one says the same in other words: a choice is `anyOf`, with the
 * type in each branch instead of beside it; a value of several types is such a choice; references lead to definitions of the root and stand alone.
 * `unfolding` is the request's.
 */
export function curateSchema(schema: JsonObject, unfolding: Unfolding): JsonObject {
  const rooted = fitJsonSchema(schema, unfolding)
  // A definition may be as large as a body, and referred to tens of thousands of times.
  const standsAlone = memoize<JsonObject>((target) => !JSON.stringify(target).includes('"$ref"'))
  const replaces = (target: JsonObject): boolean => standsAlone(target) && unfolding.takes(target)
  return mapSchemas(rooted, (node) => typed(referring(node, rooted, replaces)))
}

/**
 * Keywords beside a reference are kept if the definition can replace the reference, which requires that it refers to nothing itself, and that the copies of
 * one request are not too much.
 */
function referring(node: JsonObject, root: JsonObject, replaces: (target: JsonObject) => boolean): JsonObject {
  const reference = asString(node['$ref'])
  if (reference === undefined) return node
  const { $ref: _, $defs: definitions, ...siblings } = node
  const kept = definitions === undefined ? {} : { $defs: definitions }
  if (Object.keys(siblings).length === 0) return node
  const target = resolve(root, reference)
  if (target === undefined || !replaces(target)) return { $ref: reference, ...kept }
  return { ...target, ...siblings, ...kept }
}

function typed(node: JsonObject): JsonObject {
  const plain = withoutFreeTail(node)
  const { anyOf, oneOf, type, ...rest } = plain
  const choices = [anyOf, oneOf].find(Array.isArray) as readonly unknown[] | undefined
  if (choices !== undefined) {
    if (type === undefined && oneOf === undefined) return plain
    return { ...rest, anyOf: choices.map((branch) => withType(branch, type)) }
  }
  if (!Array.isArray(type)) return plain
  const types = type as readonly unknown[]
  if (types.length === 1) return { ...rest, type: types[0] }
  return branches(rest, types)
}

/** After a tuple anything may follow. That is the default, and the keywords for it are refused. */
function withoutFreeTail(node: JsonObject): JsonObject {
  const { items, ...rest } = node
  return Array.isArray(node['prefixItems']) && (typeof items === 'boolean' || (isObject(items) && Object.keys(items).length === 0)) ? rest : node
}

/** A branch without a type gets that of the whole, if that is a single type. */
function withType(branch: unknown, type: unknown): unknown {
  if (!isObject(branch) || typeof type !== 'string') return branch
  const hasType = ['type', '$ref', 'anyOf', 'oneOf'].some((keyword) => branch[keyword] !== undefined)
  return hasType ? branch : { type, ...branch }
}

function branches(node: JsonObject, types: readonly unknown[]): JsonObject {
  const shared: Draft = {}
  const own = new Map<unknown, Draft>(types.map((type) => [type, { type }]))
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === 'enum' && Array.isArray(value)) {
      for (const [type, branch] of own) if (type !== 'null') branch['enum'] = value.filter((each) => isOf(each, type))
    } else if (OF_TYPE[keyword] === undefined) shared[keyword] = value
    else {
      const branch = own.get(OF_TYPE[keyword])
      if (branch !== undefined) branch[keyword] = value
    }
  }
  const listed = [...own.values()].filter((branch) => !(Array.isArray(branch['enum']) && branch['enum'].length === 0))
  return { ...shared, anyOf: listed }
}

function isOf(value: unknown, type: unknown): boolean {
  if (type === 'integer' || type === 'number') return typeof value === 'number'
  if (type === 'array') return Array.isArray(value)
  return type === 'object' ? isObject(value) : typeof value === type
}
