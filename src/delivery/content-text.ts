import type { GenerationContent } from '../core/generation.ts'
import type { JsonObject } from '../core/item.ts'
import { isFreeJson, isOfGatewayTool, isOpaqueField } from '../core/opaque-field.ts'
import { isJsonObject, MAX_JSON_DEPTH } from '../lib/json.ts'

/** The texts of a conversation, joined for filter rules. Collected up to `maxChars`. */
export function inputText(content: GenerationContent, maxChars: number): string {
  const out = collector(maxChars)
  if (content.instructions) out.add(content.instructions)
  for (const item of content.input) addWords(item, out, 0)
  return out.text()
}

export function outputText(content: GenerationContent, maxChars: number): string {
  const out = collector(maxChars)
  for (const item of content.output) addWords(item, out, 0)
  return out.text()
}

interface Collector {
  add(text: string): void
  readonly full: boolean
  text(): string
}

function collector(maxChars: number): Collector {
  const parts: string[] = []
  let size = 0
  return {
    add(text) {
      if (text === '' || size >= maxChars) return
      parts.push(text.length > maxChars - size ? text.slice(0, maxChars - size) : text)
      size += text.length + 1
    },
    get full() {
      return size >= maxChars
    },
    text: () => parts.join('\n'),
  }
}

/** Fields that hold text, in the items and parts of the contract. */
const WORDS = [
  'text',
  'refusal',
  'arguments',
  'input',
  'output',
  'content',
  'summary',
  // What shells, patches, searches, servers and interpreters were asked and returned.
  'command',
  'commands',
  'diff',
  'query',
  'queries',
  'code',
  'stdout',
  'stderr',
  'logs',
  'outputs',
  'results',
  'error',
  'reason',
  'revised_prompt',
  'subagent_items',
] as const
/** What else may hold a tool's arguments. As a text it is a word of the contract. */
const HOLDERS = ['action', 'actions', 'operation'] as const
const MAX_DEPTH = 8
/** Which kind of thing an object is, in a word of the contract. */
const isKind = (field: string, value: unknown): boolean => field === 'type' && typeof value === 'string' && /^[a-z_]{1,32}$/.test(value)

function addWords(value: unknown, out: Collector, depth: number): void {
  if (out.full || depth > MAX_DEPTH) return
  if (typeof value === 'string') out.add(value)
  else if (Array.isArray(value)) for (const element of value) addWords(element, out, depth + 1)
  else if (isJsonObject(value) && isOfGatewayTool(value)) {
    // Each such tool has fields of its own, all of which say what it was asked and returned.
    for (const [field, inner] of Object.entries(value)) if (!isOpaqueField(field, inner, value)) addAll(inner, out, depth + 1)
  } else if (isJsonObject(value)) {
    for (const field of WORDS) addField(field, value, out, depth)
    for (const field of HOLDERS) if (typeof value[field] === 'object') addField(field, value, out, depth)
  }
}

function addField(field: string, fields: JsonObject, out: Collector, depth: number): void {
  const value = fields[field]
  if (value === undefined || value === null) return
  if (isFreeJson(field, value, fields)) addAll(value, out, depth + 1)
  else addWords(value, out, depth + 1)
}

/** Every text of a value whose fields have names of any kind. */
function addAll(value: unknown, out: Collector, depth: number): void {
  if (out.full || depth > MAX_JSON_DEPTH) return
  if (typeof value === 'string') out.add(value)
  else if (Array.isArray(value)) for (const element of value) addAll(element, out, depth + 1)
  else if (isJsonObject(value)) for (const [field, inner] of Object.entries(value)) if (!isKind(field, inner)) addAll(inner, out, depth + 1)
}
