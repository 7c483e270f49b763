import { isObject } from '../shared/json.ts'
import type { Unfolding } from '../shared/unfolding.ts'
import { resolve } from '../shared/schema-pointer.ts'

type Json = { readonly [key: string]: unknown }
type Draft = { [key: string]: unknown }

/** Keywords with the same meaning in both formats. All others are dropped, because an unknown keyword makes the endpoint reject the whole request. */
const COPIED: readonly string[] = [
  'title',
  'description',
  'default',
  'example',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'propertyOrdering',
]
const FORMATS: { readonly [type: string]: readonly string[] } = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
}
const TYPES: ReadonlySet<string> = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'])
const MAX_DEPTH = 24

/**
 * Converts a JSON Schema to the OpenAPI subset of the older fields. References are inlined (a recursive one ends in an object without members),
 * constants become enums with one value, lists of types become `nullable` or `anyOf`, `allOf` is merged, and types are in upper case. `unfolding` is
 * shared by the request: references beyond it end like recursive ones.
 */
export function toOpenApiSchema(schema: Json, unfolding: Unfolding): Json {
  return convert(schema, { root: schema, open: [], unfolding }, 0)
}

interface Scope {
  readonly root: Json
  /** The references being inlined: one that occurs again is recursive. */
  readonly open: readonly string[]
  readonly unfolding: Unfolding
}

function convert(node: unknown, scope: Scope, depth: number): Draft {
  if (!isObject(node)) return { type: 'STRING' }
  if (depth > MAX_DEPTH) return { type: 'OBJECT' }
  if (typeof node['$ref'] === 'string') return reference(node, node['$ref'], scope, depth)
  const merged = Array.isArray(node['allOf']) ? mergeAll(node, scope) : node
  const draft: Draft = {}
  for (const key of COPIED) if (merged[key] !== undefined && merged[key] !== null) draft[key] = merged[key]
  if (draft['example'] === undefined && Array.isArray(merged['examples']) && merged['examples'].length > 0) draft['example'] = merged['examples'][0]
  if (draft['minimum'] === undefined && typeof merged['exclusiveMinimum'] === 'number') draft['minimum'] = merged['exclusiveMinimum']
  if (draft['maximum'] === undefined && typeof merged['exclusiveMaximum'] === 'number') draft['maximum'] = merged['exclusiveMaximum']
  addType(draft, merged, scope, depth)
  addEnum(draft, merged)
  addMembers(draft, merged, scope, depth)
  addFormat(draft, merged)
  return draft
}

function reference(node: Json, ref: string, scope: Scope, depth: number): Draft {
  const description = typeof node['description'] === 'string' ? { description: node['description'] } : {}
  const found = scope.open.includes(ref) ? undefined : resolve(scope.root, ref)
  if (found === undefined || !scope.unfolding.takes(found)) return { type: 'OBJECT', ...description }
  return { ...convert(found, { ...scope, open: [...scope.open, ref] }, depth + 1), ...description }
}

/** Merges a conjunction into one schema. Members are combined; for any other keyword the last schema that states it wins. */
function mergeAll(node: Json, scope: Scope): Json {
  const { allOf, ...own } = node
  const merged: Draft = {}
  const properties: Draft = {}
  const required: unknown[] = []
  for (const each of [...(allOf as readonly unknown[]), own]) {
    const part = inPlace(each, scope)
    Object.assign(merged, part)
    if (isObject(part['properties'])) Object.assign(properties, part['properties'])
    if (Array.isArray(part['required'])) for (const name of part['required'] as readonly unknown[]) required.push(name)
  }
  delete merged['allOf']
  if (isObject(merged['properties'])) merged['properties'] = properties
  if (Array.isArray(merged['required'])) merged['required'] = required
  return merged
}

/** A part of a conjunction with its reference inlined. */
function inPlace(part: unknown, scope: Scope): Json {
  if (!isObject(part)) return {}
  if (typeof part['$ref'] !== 'string') return part
  const found = resolve(scope.root, part['$ref'])
  return { ...(found !== undefined && scope.unfolding.takes(found) ? found : {}), ...without(part, '$ref') }
}

function without(node: Json, key: string): Json {
  return Object.fromEntries(Object.entries(node).filter(([name]) => name !== key))
}

function addType(draft: Draft, node: Json, scope: Scope, depth: number): void {
  const listed = (Array.isArray(node['type']) ? (node['type'] as readonly unknown[]) : [node['type']]).flatMap((type) =>
    typeof type === 'string' ? [type.toUpperCase()] : [],
  )
  // Each type once, because everything inside is written out for each of them.
  const types = [...new Set(listed)].filter((type) => TYPES.has(type))
  if (listed.includes('NULL') || node['nullable'] === true) draft['nullable'] = true
  const choices = [node['anyOf'], node['oneOf']].find(Array.isArray) as readonly unknown[] | undefined
  if (choices !== undefined && choices.length > 0) return addChoices(draft, choices, scope, depth)
  if (types.length > 1) draft['anyOf'] = types.map((type) => convert({ ...node, type: type.toLowerCase(), description: undefined }, scope, depth + 1))
  else draft['type'] = types[0] ?? impliedType(node)
}

/** A choice between one schema and null becomes that schema, nullable. */
function addChoices(draft: Draft, choices: readonly unknown[], scope: Scope, depth: number): void {
  const real = choices.filter((choice) => !(isObject(choice) && (choice['type'] === 'null' || choice['const'] === null)))
  if (real.length < choices.length) draft['nullable'] = true
  if (real.length === 1) {
    const only = convert(real[0], scope, depth + 1)
    for (const [key, value] of Object.entries(only)) draft[key] ??= value
  } else if (real.length === 0) draft['type'] = 'STRING'
  else draft['anyOf'] = real.map((choice) => convert(choice, scope, depth + 1))
}

function impliedType(node: Json): string {
  if (isObject(node['properties']) || 'additionalProperties' in node) return 'OBJECT'
  if ('items' in node || 'prefixItems' in node) return 'ARRAY'
  const sample = 'const' in node ? node['const'] : Array.isArray(node['enum']) ? (node['enum'] as readonly unknown[])[0] : undefined
  if (typeof sample === 'boolean') return 'BOOLEAN'
  if (typeof sample === 'number') return Number.isInteger(sample) ? 'INTEGER' : 'NUMBER'
  if (sample === undefined && ('minimum' in node || 'maximum' in node)) return 'NUMBER'
  return sample === undefined && Object.keys(node).length === 0 ? 'OBJECT' : 'STRING'
}

/** Only strings can have enums. Other values are added to the description, where the model can at least read them. */
function addEnum(draft: Draft, node: Json): void {
  const values = 'const' in node ? [node['const']] : Array.isArray(node['enum']) ? (node['enum'] as readonly unknown[]) : undefined
  if (values === undefined) return
  const real = values.filter((value) => value !== null)
  if (real.length < values.length) draft['nullable'] = true
  if (real.length === 0) return
  if (draft['type'] === 'STRING' && real.every((value) => typeof value === 'string' && value !== '')) {
    draft['enum'] = real
    draft['format'] = 'enum'
    return
  }
  const note = `One of: ${real.map((value) => JSON.stringify(value)).join(', ')}.`
  draft['description'] = typeof draft['description'] === 'string' ? `${draft['description']} ${note}` : note
}

function addMembers(draft: Draft, node: Json, scope: Scope, depth: number): void {
  if (draft['type'] === 'OBJECT' && isObject(node['properties']) && draft['properties'] === undefined) {
    const names = new Set<unknown>(Object.keys(node['properties']))
    if (names.size > 0) {
      draft['properties'] = Object.fromEntries(Object.entries(node['properties']).map(([name, member]) => [name, convert(member, scope, depth + 1)]))
    }
    // A required member that is not declared makes the endpoint reject the request.
    const required = Array.isArray(node['required']) ? [...new Set<unknown>(node['required'])].filter((name) => names.has(name)) : []
    if (required.length > 0) draft['required'] = required
  }
  if (draft['type'] === 'ARRAY' && draft['items'] === undefined) {
    const tuple = Array.isArray(node['prefixItems']) ? node['prefixItems'] : Array.isArray(node['items']) ? node['items'] : undefined
    if (tuple === undefined) draft['items'] = convert(node['items'], scope, depth + 1)
    else draft['items'] = tuple.length === 1 ? convert(tuple[0], scope, depth + 1) : { anyOf: tuple.map((each) => convert(each, scope, depth + 1)) }
  }
}

function addFormat(draft: Draft, node: Json): void {
  const { format } = node
  if (draft['format'] !== undefined || typeof format !== 'string' || typeof draft['type'] !== 'string') return
  if (FORMATS[draft['type']]?.includes(format) === true) draft['format'] = format
}
