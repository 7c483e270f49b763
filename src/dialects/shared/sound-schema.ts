import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'

/** Members whose value is a map from names to schemas, a list of schemas, or a schema. */
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const SCHEMAS = ['items', 'additionalProperties', 'not'] as const
const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
const MAX_DEPTH = 64

/**
 * A schema in the words of the draft that providers read (2020-12): those of older drafts, and what other languages make of an empty map, are
 * no schema to them, and they refuse all tools for one. Nothing that was said gets lost. The same object where nothing has to change.
 */
export function soundSchema(schema: JsonObject): JsonObject {
  return soundNode(schema, 0) as JsonObject
}

function soundNode(node: unknown, depth: number): unknown {
  if (!isObject(node) || depth > MAX_DEPTH) return node
  let out: { [keyword: string]: unknown } | undefined
  const set = (keyword: string, value: unknown): void => {
    out ??= { ...node }
    if (value === undefined) delete out[keyword]
    else out[keyword] = value
  }
  restate(node, set)
  const now: JsonObject = out ?? node
  for (const keyword of MAPS) {
    const map = now[keyword]
    if (!isObject(map)) continue
    const sound = soundMap(map, depth)
    if (sound !== map) set(keyword, sound)
  }
  for (const keyword of LISTS) {
    const list = now[keyword]
    if (!Array.isArray(list)) continue
    const sound = list.map((each) => soundNode(each, depth + 1))
    if (sound.some((each, at) => each !== list[at])) set(keyword, sound)
  }
  for (const keyword of SCHEMAS) {
    const sound = soundNode(now[keyword], depth + 1)
    if (sound !== now[keyword]) set(keyword, sound)
  }
  return out ?? node
}

function soundMap(map: JsonObject, depth: number): JsonObject {
  let out: { [name: string]: unknown } | undefined
  for (const name in map) {
    const sound = soundNode(map[name], depth + 1)
    if (sound !== map[name]) (out ??= { ...map })[name] = sound
  }
  return out ?? map
}

/** What one node says, without those inside it. */
function restate(node: JsonObject, set: (keyword: string, value: unknown) => void): void {
  const { type, items } = node
  if (typeof type === 'string' && !TYPES.has(type)) set('type', undefined)
  if (Array.isArray(node['properties'])) set('properties', {})
  if (node['required'] !== undefined && !Array.isArray(node['required'])) set('required', undefined)
  if (Array.isArray(node['enum']) && node['enum'].length === 0) set('enum', undefined)
  for (const [exclusive, inclusive] of BOUNDS) {
    const flag = node[exclusive]
    if (typeof flag !== 'boolean') continue
    const bound = flag ? node[inclusive] : undefined
    set(exclusive, bound)
    if (bound !== undefined) set(inclusive, undefined)
  }
  if (Array.isArray(items)) {
    set('prefixItems', items.length === 0 ? undefined : items)
    set('items', node['additionalItems'] ?? {})
    set('additionalItems', undefined)
  } else if (items === undefined && (type === 'array' || (Array.isArray(type) && type.includes('array')))) set('items', {})
}
