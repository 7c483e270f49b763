import { jsonrepair } from 'jsonrepair'
import { z } from 'zod'
import type { JsonObject } from '../../core/item.ts'
import { isJsonObject, parseJsonText } from '../../lib/json.ts'
import { withinTime } from '../../lib/within-time.ts'

/** No caller would repair longer answers by hand. */
const MAX_CHARS = 4 * 1024 * 1024
/** On texts made for that purpose, the repair takes quadratic or even cubic time, during which all other calls wait. */
const MAX_MS = 50
/** Shorter texts cannot take that long by themselves, and are healed even on a busy machine. */
const ALWAYS_CHARS = 2048
/** Limit for schemas: a few definitions that refer to one another can unfold without end, whatever the value. */
const SCHEMA_MS = 250

/**
 * The JSON in a text that should have been nothing but JSON: extracted from a fence or from surrounding text, with its syntax repaired. Undefined if the
 * text is JSON already, if it contains no object or list, if the result does not match the schema, or if it takes too long.
 */
export function healJson(text: string, schema: JsonObject | undefined): string | undefined {
  if (text.length > MAX_CHARS || parse(text) !== undefined) return undefined
  if (text.length > ALWAYS_CHARS) return withinTime(MAX_MS, () => heal(text, schema))
  return schema === undefined ? heal(text, schema) : withinTime(SCHEMA_MS, () => heal(text, schema))
}

function heal(text: string, schema: JsonObject | undefined): string | undefined {
  const fits = schema === undefined ? isJsonObject : validator(schema)
  for (const candidate of candidatesIn(text)) {
    const parsed = parse(candidate)
    if (parsed !== undefined && fits(parsed.value)) return candidate
  }
  for (const candidate of candidatesIn(text)) {
    const repaired = repair(candidate)
    const read = repaired === undefined ? undefined : parse(repaired)
    // The repair turns any prose into a string, so only objects and lists count.
    if (read !== undefined && typeof read.value === 'object' && read.value !== null && fits(read.value)) return repaired
  }
  return undefined
}

/** Parts of the text that may be the JSON, the likeliest first. Regular expressions would scan runs of blanks again and again. */
function candidatesIn(text: string): readonly string[] {
  const fenced = fencedIn(text)
  const start = text.search(/[{[]/)
  if (start === -1) return fenced
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  const unfenced = end > start ? [text.slice(start, end + 1)] : []
  const rest = text.slice(start).trimEnd()
  return [...new Set([...fenced, ...unfenced, rest.endsWith(FENCE) ? rest.slice(0, -FENCE.length).trim() : rest])]
}

const FENCE = '```'
/** A word after a fence names a language. */
const MAX_LANGUAGE = 64

/** The text between a fence, followed by at most the name of a language, and the next fence. */
function fencedIn(text: string): readonly string[] {
  const found: string[] = []
  let line = -1
  for (let open = text.indexOf(FENCE); open !== -1;) {
    const after = open + FENCE.length
    if (line < after) line = text.indexOf('\n', after)
    if (line === -1) break
    let next = open + 1
    if (line - after <= MAX_LANGUAGE && /^[\w-]*$/.test(text.slice(after, line).trim())) {
      const close = text.indexOf(FENCE, line + 1)
      if (close === -1) break
      found.push(text.slice(line + 1, close).trim())
      next = close + FENCE.length
    }
    open = text.indexOf(FENCE, next)
  }
  return found
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJsonText(text) }
  } catch {
    return undefined
  }
}

function repair(text: string): string | undefined {
  try {
    return jsonrepair(text).trim()
  } catch {
    return undefined
  }
}

/** A JSON Schema validator without the caller's regular expressions, which could stall the process. An unreadable schema admits any structure. */
function validator(schema: JsonObject): (value: unknown) => boolean {
  let read: z.ZodType
  try {
    read = z.fromJSONSchema(withoutPatterns(schema) as Parameters<typeof z.fromJSONSchema>[0])
  } catch {
    return () => true
  }
  return (value) => {
    try {
      return read.safeParse(value).success
    } catch {
      return true
    }
  }
}

/** The values of keywords are schemas, but under these every key is a name chosen by the caller. */
const NAMED = new Set(['properties', '$defs', 'definitions'])
const UNREAD = new Set(['pattern', 'patternProperties', 'format'])
const VALUES = new Set(['const', 'enum', 'default', 'examples'])

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries: readonly (readonly [string, unknown])[] = Object.entries(schema).filter(([key]) => !UNREAD.has(key))
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (VALUES.has(key)) return [key, value]
      if (!NAMED.has(key) || typeof value !== 'object' || value === null) return [key, withoutPatterns(value)]
      const inner: readonly (readonly [string, unknown])[] = Object.entries(value)
      return [key, Object.fromEntries(inner.map(([name, one]) => [name, withoutPatterns(one)]))]
    }),
  )
}
