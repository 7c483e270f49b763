import { asInlineFile, inlineText, isData } from '../../core/inline-file.ts'
import type { InputFile, InputItem, JsonObject } from '../../core/item.ts'
import { isFreeJson, isOpaqueField } from '../../core/opaque-field.ts'
import { readableIn } from '../../core/reasoning-envelope.ts'
import { wordsOfPlugin } from '../../core/plugin-words.ts'
import { GATEWAY_FIELDS, type ModelRequest } from '../../core/request.ts'
import { MAX_JSON_DEPTH } from '../../lib/json.ts'

/** One text of a request that a model may read. */
export interface TextSlot {
  readonly text: string
  /** What people wrote, or everything else: instructions, tools and their results. */
  readonly from: 'user' | 'other'
  /** It continues the slot before it, as a further part of one message. */
  readonly joins: boolean
}

/** Called with each text; returns its replacement. */
type Visit = (text: string, from: TextSlot['from'], joins: boolean) => string

/** Fields whose strings are names, which must not be changed. */
const NAMES: ReadonlySet<string> = new Set(['name', 'namespace', 'format', 'server_label'])
/** The form of a name. Any other string in such a field counts as text, because models read names, too. */
const NAME = /^[A-Za-z_][\w.:/-]{0,127}$/
/** JSON Schema keywords whose values are fixed words; any other string there counts as text. */
const SCHEMA_WORDS: ReadonlySet<string> = new Set(['type', 'format'])
/** May enclose text that the model is shown. If that text has to change the field is left out, because its vendor would not recognize it. */
const ENVELOPE = 'encrypted_content'
/** Items of another conversation, in an item of this one. */
const ITEMS_WITHIN = 'subagent_items'
const SCHEMA_WORD = /^[a-z][a-z-]{0,31}$/
/** Fields whose values are words of the contract. */
const NO_CONTENT: ReadonlySet<string> = new Set(['include', 'reasoning', 'service_tier', 'truncation'])

/** The state of one walk through a request. */
interface Walk {
  readonly visit: Visit
  /** Who wrote the part being read. */
  from: TextSlot['from']
  /** Texts visited so far. */
  texts: number
  /** Empty texts so far, which do not separate other texts. */
  empties: number
  /** Whether the next text continues the last one; decided by the outermost list in which it is the first text of an element. */
  joins: boolean | undefined
}

/** The texts of the request, in one fixed order: all, or the first `most`. */
export function collectTexts(request: ModelRequest, most = Infinity): readonly TextSlot[] {
  const slots: TextSlot[] = []
  try {
    walk(request, (text, from, joins) => {
      if (slots.length === most) throw new Enough()
      slots.push({ text, from, joins })
      return text
    })
  } catch (error) {
    if (!(error instanceof Enough)) throw error
  }
  return slots
}

/** Ends a walk. */
class Enough extends Error {}

/**
 * The request with texts replaced, by their index in `collectTexts`. The original is not changed. Reasoning that would have to be changed is left
 * out, because a provider refuses reasoning that is not its own word for word.
 */
export function replaceTexts(request: ModelRequest, texts: ReadonlyMap<number, string>): ModelRequest {
  let index = 0
  return walk(request, (text) => texts.get(index++) ?? text)
}

const UNREAD = '[NOT_READ]'

/**
 * What may be kept of a request that nobody has read: that it had texts, the ids of its trace, and its mode of choosing tools. Nothing else is looked
 * at, because there may be millions of texts, and whoever is refused would get such a walk for nothing.
 */
export function withoutTexts({ user, metadata, trace, tool_choice: choice }: ModelRequest): ModelRequest {
  return {
    input: [{ type: 'message', role: 'user', content: UNREAD }],
    ...(user == null ? {} : { user: UNREAD }),
    ...(metadata == null ? {} : { metadata: { [UNREAD]: UNREAD } }),
    ...(trace == null ? {} : { trace: idsOf(trace) }),
    ...(typeof choice === 'string' ? { tool_choice: choice } : {}),
  }
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

/** Unknown fields are passed on to providers, and their names may hold anything. */
const nameOf = (field: string, state: Walk): string => (NAME.test(field) ? field : (walkValue(field, state, 'plain', 0) as string))

function walkField(field: string, value: unknown, state: Walk): unknown {
  if (field === 'input') return walkInput(value as ModelRequest['input'], state)
  if (field === 'metadata') return walkMetadata(value, state)
  if (field === 'trace') return walkTrace(value as NonNullable<ModelRequest['trace']>, state)
  if (field === 'plugins') return walkPlugins(value as NonNullable<ModelRequest['plugins']>, state)
  if (field === 'image_config') return walkValue(value, state, 'plain', 0)
  if (field === 'prompt') return walkPrompt(value, state)
  if (field === 'tool_choice') return walkChoice(value, state)
  if (field === 'initial_settings') return walkInitial(value as NonNullable<ModelRequest['initial_settings']>, state)
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

/** The variables of a stored prompt have names of the caller's own, which say nothing about their values. */
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

/** It names tools, and has to keep the names that they get. Its modes are words of the contract. */
function walkChoice(choice: unknown, state: Walk): unknown {
  if (typeof choice !== 'object' || choice === null) return choice
  const { mode, ...rest } = choice as JsonObject
  const mapped = walkFields(rest, state, 'named', 0) as JsonObject
  if (mapped === rest) return choice
  return mode === undefined ? mapped : { ...mapped, mode }
}

/** Endpoints that read changes of settings in the input are sent the settings of before, too. */
function walkInitial(initial: NonNullable<ModelRequest['initial_settings']>, state: Walk): NonNullable<ModelRequest['initial_settings']> {
  const text = walkValue(initial.text, state, 'named', 0) as typeof initial.text
  return text === initial.text ? initial : { ...initial, text }
}

/** Keys of metadata are the caller's own words, too. */
function walkMetadata(metadata: unknown, state: Walk): unknown {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return walkValue(metadata, state, 'plain', 0)
  const before = Object.entries(metadata)
  const after = before.map(([name, value]) => [walkValue(name, state, 'plain', 0) as string, walkValue(value, state, 'plain', 0)] as const)
  return after.every(([name, value], i) => name === before[i]![0] && value === before[i]![1]) ? metadata : Object.fromEntries(after)
}

/** Ids that link records and destinations: changed, they would name another trace. */
const TRACE_IDS: ReadonlySet<string> = new Set(['trace_id', 'parent_span_id'])
const TRACE_NAMES: ReadonlySet<string> = new Set(['trace_name', 'span_name', 'generation_name'])

/** No model reads it, but every destination of the workspace does: names of spans, and whatever else the caller puts there, as in metadata. */
function walkTrace(trace: NonNullable<ModelRequest['trace']>, state: Walk): NonNullable<ModelRequest['trace']> {
  const before = Object.entries(trace).filter(([name]) => !TRACE_IDS.has(name))
  const after = before.map(([name, value]) => {
    const shown = TRACE_NAMES.has(name) ? name : (walkValue(name, state, 'plain', 0) as string)
    return [shown, walkValue(value, state, 'plain', 0)] as const
  })
  if (after.every(([name, value], i) => name === before[i]![0] && value === before[i]![1])) return trace
  return { ...idsOf(trace), ...Object.fromEntries(after) }
}

const idsOf = (trace: NonNullable<ModelRequest['trace']>): NonNullable<ModelRequest['trace']> =>
  Object.fromEntries([...TRACE_IDS].filter((name) => Object.hasOwn(trace, name)).map((name) => [name, trace[name]]))

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

/** `named`: skip fields that hold no text. `free`: a schema, whose keys are the caller's own words, too. */
type Reading = 'named' | 'free' | 'plain'

/** Strings anywhere in a value, as deep as the parser allows. */
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

/** Adjacent parts are read as one text, whichever field holds it. */
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
    const file = reading === 'named' ? fileIn(field, value, fields) : undefined
    if (file !== undefined) {
      const left = walkFile(file, state)
      changed ||= left !== value
      return [field, left]
    }
    if (isPassedOver(field, value, fields, reading)) return [field, value]
    if (reading === 'named' && field === ITEMS_WITHIN && isItems(value)) {
      const left = walkInput(value, state)
      changed ||= left !== value
      return [field, left]
    }
    const name = nameOf(field, state)
    const mapped = walkValue(value, state, reading === 'named' && isFreeJson(field, value, fields) ? 'free' : reading, depth + 1)
    changed ||= name !== field || mapped !== value
    return [name, mapped]
  })
  return changed ? Object.fromEntries(after) : fields
}

/** Where a part may contain a file as a data URL. */
const ADDRESSES: ReadonlySet<string> = new Set(['file_data', 'file_url', 'image_url', 'video_url'])

/** The file's data, as it was unless its text has to change. */
function walkFile(file: InputFile, state: Walk): unknown {
  const text = inlineText(file)
  if (text === undefined || text === '') return file.file_data
  const left = visitText(text, state)
  return left === text ? file.file_data : asInlineFile(file, left)
}

/** The file that a field of a part contains. Each field by itself, because formats differ in which one counts. */
function fileIn(field: string, value: unknown, { type, filename }: JsonObject): InputFile | undefined {
  if (typeof value !== 'string' || !ADDRESSES.has(field)) return undefined
  const isFile = type === 'input_file' && field === 'file_data'
  if (!isFile && !isData(value)) return undefined
  return { type: 'input_file', file_data: value, filename: typeof filename === 'string' ? filename : null }
}

const isItems = (value: unknown): value is readonly InputItem[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)

function isPassedOver(field: string, value: unknown, fields: JsonObject, reading: Reading): boolean {
  if (reading === 'plain') return false
  if (reading === 'free') return SCHEMA_WORDS.has(field) && typeof value === 'string' && SCHEMA_WORD.test(value)
  return isOpaqueField(field, value, fields) || (NAMES.has(field) && typeof value === 'string' && NAME.test(value))
}
