import type { JsonObject } from '../../core/item.ts'
import { isObject } from './json.ts'

type Draft = { [keyword: string]: unknown }
type Change = (node: JsonObject) => JsonObject

const MAX_DEPTH = 64

/** A schema with every schema in it changed, from the outside in. The same object if nothing changes. */
export function mapSchemas(schema: JsonObject, change: Change): JsonObject {
  return mapNode(schema, change, 0) as JsonObject
}

function mapNode(node: unknown, change: Change, depth: number): unknown {
  if (!isObject(node) || depth > MAX_DEPTH) return node
  const restated = change(node)
  let out: Draft | undefined
  for (const keyword in restated) {
    const value = restated[keyword]
    if (typeof value !== 'object' || value === null) continue
    const mapped = mapValue(keyword, value, change, depth + 1)
    if (mapped !== value) (out ??= { ...restated })[keyword] = mapped
  }
  return out ?? restated
}

/** The value of a keyword with its schemas changed; other values stay as they are, whatever they look like. */
function mapValue(keyword: string, value: object, change: Change, depth: number): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
    case '$defs':
    case 'definitions':
      return isObject(value) ? mapMembers(value, change, depth) : value
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return Array.isArray(value) ? mapList(value, change, depth) : value
    case 'items':
    case 'additionalProperties':
    case 'not':
      return mapNode(value, change, depth)
    default:
      return value
  }
}

function mapMembers(map: JsonObject, change: Change, depth: number): JsonObject {
  let out: Draft | undefined
  for (const name in map) {
    const mapped = mapNode(map[name], change, depth)
    if (mapped !== map[name]) (out ??= { ...map })[name] = mapped
  }
  return out ?? map
}

function mapList(list: readonly unknown[], change: Change, depth: number): readonly unknown[] {
  const mapped = list.map((each) => mapNode(each, change, depth))
  return mapped.some((each, at) => each !== list[at]) ? mapped : list
}
