import type { JsonObject } from '../../core/item.ts'
import { asString, isObject } from './json.ts'
import { resolve } from './schema-pointer.ts'
import type { Unfolding } from './unfolding.ts'

/** Keywords that structured output refuses; they move into the description. */
const REFUSED: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'maxItems',
  'uniqueItems',
  'additionalItems',
  'dependencies',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'contains',
  'minContains',
  'maxContains',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contentEncoding',
  'contentMediaType',
])
const FORMATS: ReadonlySet<string> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])
/** Keywords that do not affect the answer, and those that are rewritten as a whole. */
const HANDLED_APART: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'additionalProperties',
  '$defs',
  'definitions',
  'prefixItems',
])
const MAX_DEPTH = 64

/**
 * A JSON schema reduced to what Claude's structured output and strict tools accept, whoever serves it. The model is told about constraints that
 * cannot be enforced.
 */
export function sanitizeSchema(schema: JsonObject): JsonObject {
  return sanitize(schema, 0) as JsonObject
}

function sanitize(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return schema
  const reference = asString(schema['$ref'])
  // A reference stands alone; only the root may have definitions beside it.
  if (reference !== undefined) return { $ref: reference, ...definitionsOf(schema, depth) }
  const out: { [keyword: string]: unknown } = {}
  const constraints: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (HANDLED_APART.has(keyword) || (keyword === 'items' && saysNothing(value))) continue
    if (isRefused(keyword, value)) constraints.push(`${keyword}: ${JSON.stringify(value)}`)
    else out[keyword === 'oneOf' ? 'anyOf' : keyword] = sanitizeKeyword(keyword, value, depth + 1)
  }
  if (isObjectSchema(schema)) {
    if (isObject(schema['additionalProperties'])) constraints.push(`additionalProperties: ${JSON.stringify(schema['additionalProperties'])}`)
    out['additionalProperties'] = false
  }
  const first = schema['prefixItems']
  if (Array.isArray(first)) {
    const { items } = schema
    const further: readonly unknown[] = Array.isArray(items) ? items : isObject(items) && !saysNothing(items) ? [items] : []
    out['items'] = { anyOf: [...(first as readonly unknown[]), ...further].map((each) => sanitize(each, depth + 1)) }
    constraints.push(`the first ${first.length} items come in the order of items.anyOf`)
  }
  if (constraints.length > 0) {
    const note = `Constraints: ${constraints.join('; ')}`
    const description = asString(schema['description'])
    out['description'] = description === undefined || description === '' ? note : `${description}\n${note}`
  }
  return { ...out, ...definitionsOf(schema, depth) }
}

/** Items that may be anything are as good as none. */
const saysNothing = (items: unknown): boolean => isObject(items) && Object.keys(items).length === 0

function isRefused(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return !FORMATS.has(String(value))
  if (keyword === 'minItems') return value !== 0 && value !== 1
  return REFUSED.has(keyword)
}

/** The value of a keyword that stays, with its schemas sanitized. */
function sanitizeKeyword(keyword: string, value: unknown, depth: number): unknown {
  const inner = (each: unknown): unknown => sanitize(each, depth)
  switch (keyword) {
    case 'oneOf':
    case 'anyOf':
    case 'allOf':
      return Array.isArray(value) ? value.map(inner) : value
    case 'properties':
      return isObject(value) ? mapValues(value, inner) : value
    case 'items':
      return Array.isArray(value) ? { anyOf: value.map(inner) } : inner(value)
    default:
      return value
  }
}

function isObjectSchema(schema: JsonObject): boolean {
  const { type } = schema
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || (type === undefined && isObject(schema['properties']))
}

function definitionsOf(schema: JsonObject, depth: number): JsonObject {
  const out: { [keyword: string]: unknown } = {}
  for (const keyword of ['$defs', 'definitions']) {
    const definitions = schema[keyword]
    if (isObject(definitions)) out[keyword] = mapValues(definitions, (each) => sanitize(each, depth + 1))
  }
  return out
}

const mapValues = (object: JsonObject, change: (value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))

/**
 * The schema of a tool's input in the form that tools require: an object at the top, without a choice of schemas. Branches are merged into one
 * object: all their properties, required if every branch (for `allOf`: any branch) requires them. `unfolding` is the request's.
 */
export function toolInputSchema(parameters: JsonObject, unfolding: Unfolding): JsonObject {
  const branching = ['anyOf', 'oneOf', 'allOf'].filter((keyword) => Array.isArray(parameters[keyword]))
  const reference = asString(parameters['$ref'])
  if (branching.length === 0 && reference === undefined) {
    return parameters['type'] === 'object' ? parameters : { ...parameters, type: 'object' }
  }
  const merged = foldBranches(parameters, { root: parameters, unfolding }, 0)
  const { anyOf: _anyOf, oneOf: _oneOf, allOf: _allOf, $ref: _reference, ...rest } = parameters
  return {
    ...rest,
    type: 'object',
    properties: merged.properties,
    ...(merged.required.length === 0 ? {} : { required: merged.required }),
  }
}

/**
 * The same for servers that refuse other keywords about the whole at the top, too (`Invalid schema for function`), as well as a reference there and an
 * object without a list of members: one such tool has all of them refused.
 */
export function objectAtTop(parameters: JsonObject, unfolding: Unfolding): JsonObject {
  const schema = toolInputSchema(parameters, unfolding)
  const { not, enum: values, properties } = schema
  if (not === undefined && values === undefined && properties !== undefined) return schema
  const { not: _not, enum: _enum, ...rest } = schema
  return properties === undefined ? { ...rest, properties: {} } : rest
}

interface Folded {
  readonly properties: JsonObject
  readonly required: readonly string[]
}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [])

interface FoldScope {
  readonly root: JsonObject
  readonly unfolding: Unfolding
}

function foldBranches(schema: unknown, scope: FoldScope, depth: number): Folded {
  if (!isObject(schema) || depth > 8) return { properties: {}, required: [] }
  const properties: { [name: string]: unknown } = {}
  const add = (more: JsonObject): void => {
    for (const name in more) if (!Object.hasOwn(properties, name)) properties[name] = more[name]
  }
  if (isObject(schema['properties'])) add(schema['properties'])
  const required = new Set(strings(schema['required']))
  const reference = asString(schema['$ref'])
  const target = reference === undefined ? undefined : resolve(scope.root, reference)
  // A reference to the whole adds nothing to the whole.
  if (target !== undefined && target !== scope.root && scope.unfolding.takes(target)) {
    const referred = foldBranches(target, scope, depth + 1)
    add(referred.properties)
    for (const name of referred.required) required.add(name)
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const list = schema[keyword]
    if (!Array.isArray(list) || list.length === 0) continue
    const branches = list.map((branch) => foldBranches(branch, scope, depth + 1))
    if (keyword === 'allOf') for (const branch of branches) add(branch.properties)
    else add(choicesOf(branches))
    for (const name of keyword === 'allOf' ? branches.flatMap((branch) => branch.required) : requiredByAll(branches)) required.add(name)
  }
  return { properties, required: [...required] }
}

/** What each member may be: often one thing in one branch and another in the next, like the member that tells the branches apart. */
function choicesOf(branches: readonly Folded[]): JsonObject {
  const choices = new Map<string, unknown[]>()
  for (const { properties } of branches) {
    for (const name in properties) {
      const known = choices.get(name)
      if (known === undefined) choices.set(name, [properties[name]])
      else known.push(properties[name])
    }
  }
  return Object.fromEntries([...choices].map(([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : anyOfThese(schemas)]))
}

function anyOfThese(schemas: readonly unknown[]): unknown {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return different.length === 1 ? different[0] : { anyOf: different }
}

function requiredByAll(branches: readonly Folded[]): string[] {
  const times = new Map<string, number>()
  for (const branch of branches) for (const name of new Set(branch.required)) times.set(name, (times.get(name) ?? 0) + 1)
  return [...times].flatMap(([name, count]) => (count === branches.length ? [name] : []))
}
