import { jsonrepair } from 'jsonrepair'
import { z } from 'zod'
import type { JsonObject } from '../../core/item.ts'

/** More is no answer somebody parses by hand. */
const MAX_CHARS = 4 * 1024 * 1024
const FENCED = /```[^\S\n]*[\w-]*[^\S\n]*\n([\s\S]*?)\n?[^\S\n]*```/g

/**
 * The JSON in a text that should have been JSON and nothing else: out of a fence or the words around it, its syntax repaired. Undefined
 * when the text is JSON already, when there is no object or list in it, or when what comes out does not fit the schema.
 */
export function healJson(text: string, schema: JsonObject | undefined): string | undefined {
  if (text.length > MAX_CHARS || parse(text) !== undefined) return undefined
  const fits = schema === undefined ? isObject : validator(schema)
  for (const candidate of candidatesIn(text)) {
    const whole = parse(candidate)
    if (whole !== undefined && fits(whole.value)) return candidate
  }
  for (const candidate of candidatesIn(text)) {
    const repaired = repair(candidate)
    const read = repaired === undefined ? undefined : parse(repaired)
    // The repair makes a string of any prose: only what has a structure was meant as JSON.
    if (read !== undefined && typeof read.value === 'object' && read.value !== null && fits(read.value)) return repaired
  }
  return undefined
}

/** Pieces that may be the JSON, the likeliest first. */
function candidatesIn(text: string): readonly string[] {
  const fenced = [...text.matchAll(FENCED)].map(([, inside = '']) => inside.trim())
  const start = text.search(/[{[]/)
  if (start === -1) return fenced
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  const bare = end > start ? [text.slice(start, end + 1)] : []
  return [
    ...new Set([
      ...fenced,
      ...bare,
      text
        .slice(start)
        .replace(/\n?[^\S\n]*```\s*$/, '')
        .trim(),
    ]),
  ]
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
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

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A check by JSON Schema, without the caller's regular expressions: those could stall the process. A schema nobody can read admits any structure. */
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

/** Keywords hold schemas, but under these every key is a name of the caller's. */
const NAMED = new Set(['properties', '$defs', 'definitions'])
const UNREAD = new Set(['pattern', 'patternProperties', 'format'])
const VALUES = new Set(['const', 'enum', 'default', 'examples'])

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept: readonly (readonly [string, unknown])[] = Object.entries(schema).filter(([key]) => !UNREAD.has(key))
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (VALUES.has(key)) return [key, value]
      if (!NAMED.has(key) || typeof value !== 'object' || value === null) return [key, withoutPatterns(value)]
      const inner: readonly (readonly [string, unknown])[] = Object.entries(value)
      return [key, Object.fromEntries(inner.map(([name, one]) => [name, withoutPatterns(one)]))]
    }),
  )
}
