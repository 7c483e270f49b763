import type { InputItem, JsonObject } from '../../core/item.ts'
import { GATEWAY_FIELDS, type ModelRequest } from '../../core/request.ts'

/** One text of a request that a model may read. */
export interface TextSlot {
  readonly text: string
  /** What people wrote, or all else: instructions, tools, what came of them. */
  readonly from: 'user' | 'other'
  /** It goes on where the slot before it ends: a further part of one message. */
  readonly joins: boolean
}

/** Takes a text and answers with what is to stand in its place. */
type Visit = (text: string, from: TextSlot['from'], joins: boolean) => string

/** Strings that are names, references, bytes and credentials: no texts, and of no use when changed. */
const NO_TEXT: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'item_id',
  'file_id',
  'status',
  'role',
  'phase',
  'name',
  'namespace',
  'format',
  'syntax',
  'detail',
  'encrypted_content',
  'signature',
  'data',
  'file_data',
  'file_url',
  'image_url',
  'video_url',
  'result',
  'imageB64',
  'server_url',
  'server_label',
  'authorization',
])
/** Credentials in a mapping. */
const OPAQUE = 'headers'
/** Fields whose values are words of the contract. */
const NO_CONTENT: ReadonlySet<string> = new Set(['include', 'reasoning', 'service_tier', 'tool_choice', 'truncation'])
/** Deeper than any request that means something. */
const MAX_DEPTH = 64

/** Every text of the request, in one fixed order. */
export function collectTexts(request: ModelRequest): readonly TextSlot[] {
  const slots: TextSlot[] = []
  walk(request, (text, from, joins) => {
    slots.push({ text, from, joins })
    return text
  })
  return slots
}

/**
 * The request with texts exchanged, by their place among those of `collectTexts`. Nothing of the original is changed. Reasoning that had
 * to be changed is left out: a provider refuses reasoning that is not its own, word by word.
 */
export function replaceTexts(request: ModelRequest, texts: ReadonlyMap<number, string>): ModelRequest {
  let index = 0
  return walk(request, (text) => texts.get(index++) ?? text)
}

function walk(request: ModelRequest, visit: Visit): ModelRequest {
  const result: { [field: string]: unknown } = {}
  let changed = false
  for (const [field, value] of Object.entries(request)) {
    const mapped = field === 'input' ? walkInput(request.input, visit) : isContent(field) ? walkValue(value, visit, field !== 'metadata', 0) : value
    if (mapped !== value) changed = true
    result[field] = mapped
  }
  return changed ? (result as unknown as ModelRequest) : request
}

const isContent = (field: string): boolean => !GATEWAY_FIELDS.has(field) && !NO_CONTENT.has(field)

function walkInput(input: readonly InputItem[], visit: Visit): readonly InputItem[] {
  let changed: InputItem[] | undefined
  input.forEach((item, index) => {
    const mapped = walkItem(item, visit)
    if (mapped === item) changed?.push(item)
    else {
      changed ??= input.slice(0, index)
      if (mapped.type !== 'reasoning') changed.push(mapped)
    }
  })
  return changed ?? input
}

function walkItem(item: InputItem, visit: Visit): InputItem {
  const from = (item as JsonObject)['role'] === 'user' ? 'user' : 'other'
  return walkValue(item, (text, _, joins) => visit(text, from, joins), true, 0) as InputItem
}

/** Strings anywhere in a value. `named`: fields that hold no text are passed over. */
function walkValue(value: unknown, visit: Visit, named: boolean, depth: number): unknown {
  if (typeof value === 'string') return value === '' ? value : visit(value, 'other', false)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  return Array.isArray(value) ? walkList(value, visit, named, depth) : walkFields(value as JsonObject, visit, named, depth)
}

/** Parts that follow each other are read as one text, whatever field they have it in. */
function walkList(list: readonly unknown[], visit: Visit, named: boolean, depth: number): unknown {
  let result: unknown[] | undefined
  let joins = false
  list.forEach((value, index) => {
    let texts = 0
    const mapped = walkValue(value, (text, from, inner) => visit(text, from, texts++ === 0 ? joins : inner), named, depth + 1)
    joins = texts > 0
    if (mapped !== value) result ??= list.slice(0, index)
    result?.push(mapped)
  })
  return result ?? list
}

function walkFields(fields: JsonObject, visit: Visit, named: boolean, depth: number): unknown {
  let result: { [field: string]: unknown } | undefined
  for (const [field, value] of Object.entries(fields)) {
    if (named && (field === OPAQUE || (typeof value === 'string' && NO_TEXT.has(field)))) continue
    const mapped = walkValue(value, visit, named, depth + 1)
    if (mapped === value) continue
    result ??= { ...fields }
    result[field] = mapped
  }
  return result ?? fields
}
