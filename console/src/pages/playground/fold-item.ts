import type { Item, StreamEvent } from './run.ts'

type Loose = { readonly [name: string]: unknown }

/** The member of an item, or of a part of it, that an event adds to. Parts are in `content`, by `content_index`, or in `summary`, by `summary_index`. */
interface Target {
  readonly list?: 'content' | 'summary'
  readonly partType?: string
  readonly member: string
}

const TEXTS: { readonly [event: string]: Target } = {
  'response.output_text': { list: 'content', partType: 'output_text', member: 'text' },
  'response.refusal': { list: 'content', partType: 'refusal', member: 'refusal' },
  'response.reasoning_text': { list: 'content', partType: 'reasoning_text', member: 'text' },
  'response.reasoning_summary_text': { list: 'summary', partType: 'summary_text', member: 'text' },
  'response.function_call_arguments': { member: 'arguments' },
  'response.mcp_call_arguments': { member: 'arguments' },
  'response.custom_tool_call_input': { member: 'input' },
  'response.code_interpreter_call_code': { member: 'code' },
}

const PARTS: { readonly [event: string]: 'content' | 'summary' } = {
  'response.content_part': 'content',
  'response.reasoning_summary_part': 'summary',
}

/** Keep-alives, which change nothing visible. */
export const isKnownQuiet = (type: string): boolean => type === 'keepalive'

/** The items after an event about one of them; undefined for any other event and for unknown types. */
export function applyToItem(items: readonly Item[], event: StreamEvent): readonly Item[] | undefined {
  const index = event['output_index']
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > items.length) return undefined
  if (event.type === 'response.output_item.added' || event.type === 'response.output_item.done')
    return isItem(event['item']) ? replaced(items, index, event['item']) : undefined
  const item = items[index]
  const changed = item === undefined ? undefined : changeItem(item, event)
  return changed === undefined ? undefined : replaced(items, index, changed)
}

function changeItem(item: Item, event: StreamEvent): Item | undefined {
  const dot = event.type.lastIndexOf('.')
  const [subject, verb] = [event.type.slice(0, dot), event.type.slice(dot + 1)]
  const target = TEXTS[subject]
  if (target !== undefined) return changeText(item, target, verb, event)
  const list = PARTS[subject]
  if (list !== undefined && isObject(event['part'])) return withPart(item, list, event, () => event['part'] as Loose)
  if (subject === 'response.output_text.annotation' && verb === 'added')
    return withPart(item, 'content', event, (part) => ({ ...part, annotations: [...listOf(part['annotations']), event['annotation']] }))
  // Events such as `response.web_search_call.searching` report the state of the item.
  return subject === `response.${item.type}` && typeof event['item_id'] === 'string' && !CARRIES.has(verb) ? { ...item, status: verb } : undefined
}

/** Suffixes of events whose content is only shown once it is complete. */
const CARRIES: ReadonlySet<string> = new Set(['partial_image', 'delta', 'done', 'added'])

function changeText(item: Item, { list, partType, member }: Target, verb: string, event: StreamEvent): Item | undefined {
  const complete = event[member]
  const change = (holder: Loose): Loose | undefined => {
    if (verb === 'delta' && typeof event['delta'] === 'string') return { ...holder, [member]: stringOf(holder[member]) + event['delta'] }
    return verb === 'done' && typeof complete === 'string' ? { ...holder, [member]: complete } : undefined
  }
  if (list === undefined) return change(item) as Item | undefined
  return withPart(item, list, event, (part) => change({ type: partType, ...part }))
}

function withPart(item: Item, list: 'content' | 'summary', event: StreamEvent, change: (part: Loose) => Loose | undefined): Item | undefined {
  const parts = listOf(item[list])
  const index = event[`${list}_index`]
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > parts.length) return undefined
  const part = parts[index]
  const changed = change(isObject(part) ? part : {})
  return changed === undefined ? undefined : { ...item, [list]: replaced(parts, index, changed) }
}

/** The list with another entry at that index, which exists or is the next. */
const replaced = <T>(list: readonly T[], index: number, entry: T): readonly T[] => [...list.slice(0, index), entry, ...list.slice(index + 1)]

const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value)
const isItem = (value: unknown): value is Item => isObject(value) && typeof value['type'] === 'string'
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
