import { inlineText, isData } from '../../core/inline-file.ts'
import type { JsonObject } from '../../core/item.ts'
import { isFreeJson, isOpaqueField } from '../../core/opaque-field.ts'
import { readableIn } from '../../core/reasoning-envelope.ts'
import { wordsOfPlugin } from '../../core/plugin-words.ts'
import { GATEWAY_FIELDS, type ModelRequest } from '../../core/request.ts'
import { MAX_JSON_DEPTH } from '../../lib/json.ts'

/** Fields of the request that no model reads: settings, and identifiers of users and caches. */
const NO_CONTENT: ReadonlySet<string> = new Set([
  'include',
  'reasoning',
  'service_tier',
  'tool_choice',
  'truncation',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
])

/**
 * Everything in a caller's request that a model may read, one text for each item and field: instructions, messages, calls and their results, descriptions
 * in tools and formats, texts for plugins and image models, and inline text files. Unlike the texts that guardrails may change, these include names,
 * because they are only read here.
 */
export function spokenTexts(request: ModelRequest): readonly string[] {
  const { instructions, input, ...rest } = request
  const fields = Object.entries(rest).filter(([field]) => !GATEWAY_FIELDS.has(field) && !NO_CONTENT.has(field))
  const tools = fields.flatMap(([field, value]): readonly unknown[] =>
    field === 'prompt' ? partsOfPrompt(value) : Array.isArray(value) ? value : [value],
  )
  const settings = [...(request.plugins ?? []).map(wordsOfPlugin), request.image_config, request.initial_settings?.text]
  return [instructions, ...input, ...tools, ...settings].map(textOfAll).filter((text) => text !== '')
}

/** Values of a stored prompt have names chosen by the caller, which say nothing about the content. */
function partsOfPrompt(prompt: unknown): readonly unknown[] {
  const { variables, ...rest } = prompt as { readonly variables?: JsonObject | null }
  return [rest, ...Object.values(variables ?? {})]
}

function textOfAll(value: unknown): string {
  const texts: string[] = []
  collect(value, false, texts, 0)
  return texts.join('\n').trim()
}

function collect(value: unknown, free: boolean, into: string[], depth: number): void {
  if (typeof value === 'string') {
    if (value !== '') into.push(value)
  } else if (Array.isArray(value)) {
    if (depth <= MAX_JSON_DEPTH) for (const one of value) collect(one, free, into, depth + 1)
  } else if (typeof value === 'object' && value !== null && depth <= MAX_JSON_DEPTH) collectFields(value as JsonObject, free, into, depth)
}

function collectFields(fields: JsonObject, free: boolean, into: string[], depth: number): void {
  if (!free && fields['type'] === 'input_file') return collectFile(fields, into)
  for (const [field, value] of Object.entries(fields)) {
    if (free) into.push(field)
    else if (isOpaqueField(field, value, fields)) {
      // Anybody can write one of our envelopes, and its content is shown to the model.
      if (field === 'encrypted_content') collect(readableIn(value), false, into, depth + 1)
      continue
    }
    collect(value, free || isFreeJson(field, value, fields) || (field === 'parameters' && typeof value === 'object'), into, depth + 1)
  }
}

/** Text files are read as text; the content of other files would take a parser. In an item of an unknown type, fields may hold anything. */
function collectFile({ filename, file_data, file_url }: JsonObject, into: string[]): void {
  const name = typeof filename === 'string' ? filename : null
  if (name) into.push(name)
  for (const data of [file_data, isData(file_url) ? file_url : undefined]) {
    const text = typeof data === 'string' ? inlineText({ type: 'input_file', filename: name, file_data: data }) : undefined
    if (text !== undefined) into.push(text)
  }
}
