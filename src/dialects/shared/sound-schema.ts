import type { JsonObject } from '../../core/item.ts'
import { leadsNowhere, withKnownDefinitions } from './known-definitions.ts'
import { isObject } from './json.ts'
import { mapSchemas } from './schema-walk.ts'

type Draft = { [keyword: string]: unknown }

const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** Keywords for which null is a value like any other; everywhere else it is how some languages write a field that is not set. */
const MAY_BE_NULL: ReadonlySet<string> = new Set(['default', 'const', 'example'])

/** The value that providers accept for a keyword: the same if it is valid, undefined to leave the keyword out. */
type Restated = (value: unknown) => unknown

/** More names than this are compared with a set, because a schema may be as large as a body. */
const FEW = 16

function hasTwice(list: readonly unknown[]): boolean {
  if (list.length > FEW) return new Set(list).size < list.length
  for (let at = 1; at < list.length; at++) for (let before = 0; before < at; before++) if (list[before] === list[at]) return true
  return false
}

const typeName = (type: unknown): unknown => {
  const name = typeof type === 'string' && !TYPES.has(type) ? type.toLowerCase() : type
  return TYPES.has(name) ? name : undefined
}

function typeOf(type: unknown): unknown {
  if (!Array.isArray(type)) return typeName(type)
  if (type.length > 0 && type.every((each) => TYPES.has(each)) && !hasTwice(type)) return type
  const names = [...new Set(type.map(typeName))]
  // One that is unknown may be anything, and so may the value.
  return names.length === 0 || names.includes(undefined) ? undefined : names.length === 1 ? names[0] : names
}

const filled: Restated = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined)
const words: Restated = (value) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined)
/** Some protocols write 64-bit numbers as text. */
const bound: Restated = (value) => {
  if (typeof value !== 'string') return value
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined
}

const RULES: ReadonlyMap<string, Restated> = new Map<string, Restated>([
  ['type', typeOf],
  ['properties', (value) => (isObject(value) ? value : {})],
  ['required', (value): unknown => (Array.isArray(value) ? (hasTwice(value) ? [...new Set(value)] : value) : undefined)],
  ['examples', (value): unknown => (Array.isArray(value) ? value : [value])],
  ...['enum', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].map((keyword) => [keyword, filled] as const),
  ...['title', 'description', 'pattern', 'format'].map((keyword) => [keyword, words] as const),
  ...[
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
  ].map((keyword) => [keyword, bound] as const),
])

/**
 * A schema in the draft that providers read (2020-12). Keywords of older drafts, what other languages write for an empty map or a field that is not
 * set, and references to nothing are invalid to them, and one such schema has all tools refused. Nothing it says gets lost. The same object if nothing
 * has to change.
 */
export function soundSchema(schema: JsonObject): JsonObject {
  const seen: Seen = { root: schema, refers: false, isLost: false }
  const sound = mapSchemas(schema, (node) => (isUnsound(node, seen) ? restate(node) : node))
  // What has changed may have led somewhere before.
  return seen.isLost || (seen.refers && sound !== schema) ? withKnownDefinitions(sound) : sound
}

interface Seen {
  readonly root: JsonObject
  /** Whether there are references at all, and any to nothing. */
  refers: boolean
  isLost: boolean
}

/**
 * Whether a node itself uses keywords that are not accepted; the nodes inside it do not count. Notes references. In one loop that allocates nothing,
 * because every schema of every tool is looked at in every call.
 */
function isUnsound(node: JsonObject, seen: Seen): boolean {
  let isList = false
  let hasItems = false
  let unsound = false
  for (const keyword in node) {
    const value = node[keyword]
    if (keyword === 'description' && typeof value === 'string') continue
    if (keyword === 'type') {
      if (value === 'array') isList = true
      else if (typeof value !== 'string') isList = isListType(value)
    } else if (keyword === 'items') hasItems = value !== undefined
    else if (keyword === '$ref' && typeof value === 'string') {
      seen.refers = true
      seen.isLost ||= leadsNowhere(seen.root, value)
    }
    if (isUnsoundValue(keyword, value)) unsound = true
  }
  return unsound || (isList && !hasItems)
}

/** Common keywords first and without their rules, because nearly all values are valid. */
function isUnsoundValue(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case 'type':
      return typeof value === 'string' ? !TYPES.has(value) : typeOf(value) !== value
    case 'title':
    case 'format':
      return typeof value !== 'string'
    case 'properties':
      return !isObject(value)
    case 'required':
      return !Array.isArray(value) || hasTwice(value)
    case 'items':
      return value === null || Array.isArray(value)
    case 'additionalProperties':
    case '$ref':
    case '$defs':
      return value === null
    case 'enum':
    case 'anyOf':
      return !Array.isArray(value) || value.length === 0
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value !== 'number'
    case 'default':
      return false
    default:
      return value === null ? !MAY_BE_NULL.has(keyword) : restated(keyword, value) !== value
  }
}

function restated(keyword: string, value: unknown): unknown {
  const rule = RULES.get(keyword)
  return rule === undefined ? value : rule(value)
}

const isListType = (type: unknown): boolean => type === 'array' || (Array.isArray(type) && type.includes('array'))

function restate(node: JsonObject): JsonObject {
  const out: Draft = {}
  for (const [keyword, value] of Object.entries(node)) {
    if (value === null && !MAY_BE_NULL.has(keyword)) continue
    const accepted = restated(keyword, value)
    if (accepted !== undefined) out[keyword] = accepted
  }
  for (const [exclusive, inclusive] of BOUNDS) {
    const flag = out[exclusive]
    if (typeof flag !== 'boolean') continue
    delete out[exclusive]
    if (!flag || out[inclusive] === undefined) continue
    out[exclusive] = out[inclusive]
    delete out[inclusive]
  }
  const { items } = out
  if (Array.isArray(items)) {
    if (items.length > 0) out['prefixItems'] = items
    out['items'] = out['additionalItems'] ?? {}
    delete out['additionalItems']
  } else if (items === undefined && isListType(out['type'])) out['items'] = {}
  return out
}
