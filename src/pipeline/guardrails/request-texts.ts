import type { InputItem, JsonObject } from '../../core/item.ts'
import { isFreeJson, isOpaqueField } from '../../core/opaque-field.ts'
import { readableIn } from '../../core/reasoning-envelope.ts'
import { wordsOfPlugin } from '../../core/plugin-words.ts'
import { GATEWAY_FIELDS, type ModelRequest } from '../../core/request.ts'
import { MAX_JSON_DEPTH } from '../../lib/json.ts'

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

/** Strings that are names: of no use when changed. */
const NAMES: ReadonlySet<string> = new Set(['name', 'namespace', 'format', 'server_label'])
/** What names look like. Any other string is a text, wherever it stands: models read names, too. */
const NAME = /^[A-Za-z_][\w.:/-]{0,127}$/
/** Words of JSON Schema by which a value is told; anything else in their place is a text. */
const SCHEMA_WORDS: ReadonlySet<string> = new Set(['type', 'format'])
/** What it encloses is told to the model; changed, its vendor would not know it again, and it is left out. */
const ENVELOPE = 'encrypted_content'
const SCHEMA_WORD = /^[a-z][a-z-]{0,31}$/
/** Fields whose values are words of the contract. */
const NO_CONTENT: ReadonlySet<string> = new Set(['include', 'reasoning', 'service_tier', 'tool_choice', 'truncation'])

/** One walk through a request. */
interface Walk {
  readonly visit: Visit
  /** Who wrote what is read now. */
  from: TextSlot['from']
  /** Texts so far. */
  texts: number
  /** Texts with nothing in them so far: they stand between no others. */
  empties: number
  /** Whether the next text goes on where the last ends: said by the outermost list it is the first text of an element of. */
  joins: boolean | undefined
}

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
  const state: Walk = { visit, from: 'other', texts: 0, empties: 0, joins: undefined }
  const result: { [field: string]: unknown } = {}
  let changed = false
  for (const [field, value] of Object.entries(request)) {
    const name = isContent(field) ? nameOf(field, state) : field
    const mapped = walkField(field, value, state)
    if (mapped !== value || name !== field) changed = true
    result[name] = mapped
  }
  return changed ? (result as unknown as ModelRequest) : request
}

/** A field nobody knows is carried to providers, and its name may be anything. */
const nameOf = (field: string, state: Walk): string => (NAME.test(field) ? field : (walkValue(field, state, 'plain', 0) as string))

function walkField(field: string, value: unknown, state: Walk): unknown {
  if (field === 'input') return walkInput(value as ModelRequest['input'], state)
  if (field === 'metadata') return walkMetadata(value, state)
  if (field === 'trace') return walkTrace(value as NonNullable<ModelRequest['trace']>, state)
  if (field === 'plugins') return walkPlugins(value as NonNullable<ModelRequest['plugins']>, state)
  if (field === 'image_config') return walkValue(value, state, 'plain', 0)
  if (field === 'prompt') return walkPrompt(value, state)
  return isContent(field) ? walkValue(value, state, 'named', 0) : value
}

function walkPlugins(plugins: NonNullable<ModelRequest['plugins']>, state: Walk): NonNullable<ModelRequest['plugins']> {
  const mapped = plugins.map((entry) => {
    const words = wordsOfPlugin(entry)
    const changed = walkFields(words, state, 'named', 0) as JsonObject
    return changed === words ? entry : { ...entry, ...changed }
  })
  return mapped.every((entry, index) => entry === plugins[index]) ? plugins : mapped
}

/** Values of a stored prompt go by names of the caller's own, which say nothing of what they hold. */
function walkPrompt(prompt: unknown, state: Walk): unknown {
  const { variables } = prompt as { readonly variables?: unknown }
  if (typeof variables !== 'object' || variables === null) return walkValue(prompt, state, 'named', 0)
  const before = Object.entries(variables)
  const after = before.map(([name, value]) => [name, walkValue(value, state, 'named', 0)] as const)
  const { variables: _, ...rest } = prompt as JsonObject
  const others = walkFields(rest, state, 'named', 0)
  if (others === rest && after.every(([, value], i) => value === before[i]![1])) return prompt
  return { ...(others as JsonObject), variables: Object.fromEntries(after) }
}

/** Its names are the caller's own words, too. */
function walkMetadata(metadata: unknown, state: Walk): unknown {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return walkValue(metadata, state, 'plain', 0)
  const before = Object.entries(metadata)
  const after = before.map(([name, value]) => [walkValue(name, state, 'plain', 0) as string, walkValue(value, state, 'plain', 0)] as const)
  return after.every(([name, value], i) => name === before[i]![0] && value === before[i]![1]) ? metadata : Object.fromEntries(after)
}

/** Members by which records and destinations find each other: changed, they would name another trace. */
const TRACE_IDS: ReadonlySet<string> = new Set(['trace_id', 'parent_span_id'])
const TRACE_NAMES: ReadonlySet<string> = new Set(['trace_name', 'span_name', 'generation_name'])

/** No model reads it, and every destination of the workspace does: names of spans, and what else the caller notes there, like metadata. */
function walkTrace(trace: NonNullable<ModelRequest['trace']>, state: Walk): NonNullable<ModelRequest['trace']> {
  const before = Object.entries(trace).filter(([name]) => !TRACE_IDS.has(name))
  const after = before.map(([name, value]) => {
    const shown = TRACE_NAMES.has(name) ? name : (walkValue(name, state, 'plain', 0) as string)
    return [shown, walkValue(value, state, 'plain', 0)] as const
  })
  if (after.every(([name, value], i) => name === before[i]![0] && value === before[i]![1])) return trace
  const ids = Object.entries(trace).filter(([name]) => TRACE_IDS.has(name))
  return Object.fromEntries([...ids, ...after])
}

const isContent = (field: string): boolean => !GATEWAY_FIELDS.has(field) && !NO_CONTENT.has(field)

function walkInput(input: readonly InputItem[], state: Walk): readonly InputItem[] {
  let changed: InputItem[] | undefined
  input.forEach((item, index) => {
    const mapped = walkItem(item, state)
    if (mapped === item) changed?.push(item)
    else {
      changed ??= input.slice(0, index)
      if (mapped.type !== 'reasoning') changed.push(mapped)
    }
  })
  return changed ?? input
}

function walkItem(item: InputItem, state: Walk): InputItem {
  state.from = (item as JsonObject)['role'] === 'user' ? 'user' : 'other'
  const mapped = walkValue(item, state, 'named', 0) as InputItem
  state.from = 'other'
  return mapped
}

/** `named`: fields that hold no text are passed over. `free`: a schema, whose names are the caller's own words, too. */
type Reading = 'named' | 'free' | 'plain'

/** Strings anywhere in a value, as deep as the parser lets it be. */
function walkValue(value: unknown, state: Walk, reading: Reading, depth: number): unknown {
  if (value === '') state.empties++
  if (typeof value === 'string') return value === '' ? value : visitText(value, state)
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return value
  return Array.isArray(value) ? walkList(value, state, reading, depth) : walkFields(value as JsonObject, state, reading, depth)
}

function visitText(text: string, state: Walk): string {
  const joins = state.joins ?? false
  state.joins = undefined
  state.texts += 1
  return state.visit(text, state.from, joins)
}

/** Parts that follow each other are read as one text, whatever field they have it in. */
function walkList(list: readonly unknown[], state: Walk, reading: Reading, depth: number): unknown {
  let result: unknown[] | undefined
  let joins = false
  list.forEach((value, index) => {
    const decides = state.joins === undefined
    if (decides) state.joins = joins
    const { texts, empties } = state
    const mapped = walkValue(value, state, reading, depth + 1)
    const hasText = state.texts > texts
    joins = hasText || (joins && state.empties > empties)
    if (decides && !hasText) state.joins = undefined
    if (mapped !== value) result ??= list.slice(0, index)
    result?.push(mapped)
  })
  return result ?? list
}

function walkFields(fields: JsonObject, state: Walk, reading: Reading, depth: number): unknown {
  const before = Object.entries(fields)
  let changed = false
  const after = before.map(([field, value]): readonly [string, unknown] => {
    const enclosed = reading === 'named' && field === ENVELOPE ? readableIn(value) : undefined
    if (enclosed !== undefined) {
      const left = walkValue(enclosed, state, reading, depth + 1) === enclosed ? value : undefined
      changed ||= left !== value
      return [field, left]
    }
    if (isPassedOver(field, value, fields, reading)) return [field, value]
    const name = nameOf(field, state)
    const mapped = walkValue(value, state, reading === 'named' && isFreeJson(field, value, fields) ? 'free' : reading, depth + 1)
    changed ||= name !== field || mapped !== value
    return [name, mapped]
  })
  return changed ? Object.fromEntries(after) : fields
}

function isPassedOver(field: string, value: unknown, fields: JsonObject, reading: Reading): boolean {
  if (reading === 'plain') return false
  if (reading === 'free') return SCHEMA_WORDS.has(field) && typeof value === 'string' && SCHEMA_WORD.test(value)
  return isOpaqueField(field, value, fields) || (NAMES.has(field) && typeof value === 'string' && NAME.test(value))
}
