import type { JsonObject } from '../../core/item.ts'
import { mapSchemas } from './schema-walk.ts'

type Draft = { [keyword: string]: unknown }

const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/**
 * A schema in the draft that providers read (2020-12). Keywords of older drafts, and what other languages write for an empty map, are invalid to
 * them, and one such schema has all tools refused. Nothing it says gets lost. The same object if nothing has to change.
 */
export function soundSchema(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (node) => (isUnsound(node) ? restate(node) : node))
}

/** Whether a node itself uses keywords that are not accepted; the nodes inside it do not count. */
function isUnsound(node: JsonObject): boolean {
  let isList = false
  let hasItems = false
  for (const keyword in node) {
    const value = node[keyword]
    switch (keyword) {
      case 'type':
        if (typeof value === 'string' && !TYPES.has(value)) return true
        isList = value === 'array' || (Array.isArray(value) && value.includes('array'))
        break
      case 'items':
        if (Array.isArray(value)) return true
        hasItems = value !== undefined
        break
      case 'properties':
        if (Array.isArray(value)) return true
        break
      case 'required':
        if (!Array.isArray(value)) return true
        break
      case 'enum':
        if (Array.isArray(value) && value.length === 0) return true
        break
      case 'exclusiveMinimum':
      case 'exclusiveMaximum':
        if (typeof value === 'boolean') return true
    }
  }
  return isList && !hasItems
}

function restate(node: JsonObject): JsonObject {
  const out: Draft = { ...node }
  const { type, items } = node
  if (typeof type === 'string' && !TYPES.has(type)) delete out['type']
  if (Array.isArray(node['properties'])) out['properties'] = {}
  if (!Array.isArray(node['required'])) delete out['required']
  if (Array.isArray(node['enum']) && node['enum'].length === 0) delete out['enum']
  for (const [exclusive, inclusive] of BOUNDS) {
    const flag = node[exclusive]
    if (typeof flag !== 'boolean') continue
    delete out[exclusive]
    if (!flag || node[inclusive] === undefined) continue
    out[exclusive] = node[inclusive]
    delete out[inclusive]
  }
  if (Array.isArray(items)) {
    if (items.length > 0) out['prefixItems'] = items
    out['items'] = node['additionalItems'] ?? {}
    delete out['additionalItems']
  } else if (items === undefined && (type === 'array' || (Array.isArray(type) && type.includes('array')))) out['items'] = {}
  return out
}
