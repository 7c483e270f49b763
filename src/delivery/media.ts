import type { Generation } from '../core/generation.ts'

/**
 * Media bytes never leave for an observability platform: data URLs and base64 payloads become a placeholder with type and size.
 * Found wherever they hide: in their proper fields, in tool arguments and results, in the middle of a text.
 */

const DATA_URL_HEAD = 'data:'
const BASE64_MARK = ';base64,'
const WHOLE_DATA_URL = /^data:([\w.+-]{1,80}\/[\w.+-]{1,80})[;,]/i
/** Runs this long are never words; shorter media (icons) are recognised by their first bytes. */
const LONG_RUN = 2048
const SHORT_RUN = 64
/** No honest content nests deeper; a recursion without an end would be the caller's to choose. */
const MAX_DEPTH = 100
/** First characters of the base64 of common formats, and their types. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
  ['SUQz', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['UEsDB', 'application/zip'],
  ['GkXfo', 'video/webm'],
]
/** Fields whose text is binary by contract. */
const BINARY_FIELDS: ReadonlyMap<string, string> = new Map([
  ['file_data', 'application/octet-stream'],
  ['b64_json', 'image/png'],
  ['partial_image_b64', 'image/png'],
  ['encrypted_content', 'application/octet-stream'],
  ['signature', 'application/octet-stream'],
])

export const placeholder = (mimeType: string, bytes: number): string => `[${mimeType}, ${bytes} bytes]`
const PLACEHOLDER = /^\[[\w.+-]+\/[\w.+-]+, \d+ bytes\]$/
export const isPlaceholder = (text: string): boolean => text.length < 200 && PLACEHOLDER.test(text)

/** 0-9 A-Z a-z + / - _ */
const isBase64Char = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 47 && code <= 57) || code === 43 || code === 45 || code === 95

const decodedSize = (chars: number): number => Math.floor((chars * 3) / 4)

function runEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && isBase64Char(text.charCodeAt(end))) end++
  return end
}
function runStart(text: string, from: number, least: number): number {
  let start = from
  while (start > least && isBase64Char(text.charCodeAt(start - 1))) start--
  return start
}
function padEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && end < from + 2 && text.charCodeAt(end) === 61) end++
  return end
}

/** Long runs count as binary only if mixed: a page of dashes or one repeated letter is text. */
function looksBinary(text: string, start: number, end: number): boolean {
  let upper = 0
  let lower = 0
  let digit = 0
  for (let i = start; i < Math.min(end, start + 512); i++) {
    const code = text.charCodeAt(i)
    if (code >= 97) lower++
    else if (code >= 65 && code <= 90) upper++
    else if (code >= 48 && code <= 57) digit++
  }
  return upper > 0 && lower > 0 && digit > 0
}

function magicType(text: string, start: number): string | undefined {
  return MAGIC.find(([magic]) => text.startsWith(magic, start))?.[1]
}

/** A text with every data URL and every bare base64 payload in it replaced. The same string when there is none. Linear in its length. */
export function replaceMediaInText(text: string): string {
  if (text.length < SHORT_RUN && !text.includes(DATA_URL_HEAD)) return text
  // A value that is one data URL as a whole, percent-encoded ones (SVG) included.
  const whole = WHOLE_DATA_URL.exec(text)
  if (whole && !text.slice(0, 200).includes(BASE64_MARK) && !/\s/.test(text))
    return placeholder(whole[1]!.toLowerCase(), text.length - whole[0].length)
  return replaceRuns(replaceDataUrls(text))
}

function replaceDataUrls(text: string): string {
  let at = text.indexOf(DATA_URL_HEAD)
  if (at === -1) return text
  let out = ''
  let copied = 0
  while (at !== -1) {
    const next = at + DATA_URL_HEAD.length
    // The type and its parameters are short; a mark further away belongs to something else.
    const mark = text.slice(next, next + 200).indexOf(BASE64_MARK)
    const head = mark === -1 ? '' : text.slice(next, next + mark)
    if (mark !== -1 && !/[\s"'<>]/.test(head)) {
      const start = next + mark + BASE64_MARK.length
      const end = runEnd(text, start)
      out += text.slice(copied, at) + placeholder(head.split(';')[0] || 'text/plain', decodedSize(end - start))
      copied = padEnd(text, end)
      at = text.indexOf(DATA_URL_HEAD, copied)
    } else at = text.indexOf(DATA_URL_HEAD, next)
  }
  return copied === 0 ? text : out + text.slice(copied)
}

/** A run that long covers one of every SHORT_RUN characters: between those nobody needs to look. */
function replaceRuns(text: string): string {
  let out = ''
  let copied = 0
  let at = SHORT_RUN - 1
  while (at < text.length) {
    if (!isBase64Char(text.charCodeAt(at))) {
      at += SHORT_RUN
      continue
    }
    const start = runStart(text, at, copied)
    const end = runEnd(text, at)
    const type = end - start >= SHORT_RUN ? magicType(text, start) : undefined
    if (type !== undefined || (end - start >= LONG_RUN && looksBinary(text, start, end))) {
      out += text.slice(copied, start) + placeholder(type ?? 'application/octet-stream', decodedSize(end - start))
      copied = padEnd(text, end)
    }
    // The character at `end` is in no run; one behind the padding may be.
    at = Math.max(end + SHORT_RUN, copied + SHORT_RUN - 1)
  }
  return copied === 0 ? text : out + text.slice(copied)
}

type Node = { readonly [key: string]: unknown }

const binaryType = (key: string, parent: Node): string | undefined => {
  if (key === 'data' && typeof parent['format'] === 'string') return `audio/${parent['format']}`
  if (key === 'data' && (typeof parent['media_type'] === 'string' || typeof parent['mimeType'] === 'string'))
    return String(parent['media_type'] ?? parent['mimeType'])
  if (key === 'result' && parent['type'] === 'image_generation_call') return 'image/png'
  return BINARY_FIELDS.get(key)
}

/** What becomes of one field of an object. */
type ReplaceField = (key: string, value: unknown, parent: Node, depth: number) => unknown

const byName: ReplaceField = (key, value, parent, depth) => {
  if (typeof value !== 'string') return replaceEach(value, byName, depth)
  const type = binaryType(key, parent)
  if (type === undefined || value === '' || isPlaceholder(value)) return replaceMediaInText(value)
  const text = replaceMediaInText(value)
  if (text !== value) return text
  // A field that may hold a URL or a file id as well keeps those.
  return /^https?:\/\//.test(value) ? value : placeholder(type, decodedSize(value.length))
}

const byText: ReplaceField = (_key, value, _parent, depth) => replaceEach(value, byText, depth)

/** Of a generation, what the caller may fill with names of its own. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['trace', 'metadata', 'parameters'] satisfies (keyof Generation)[])
const ofGeneration: ReplaceField = (key, value, parent, depth) => (OWN_FIELDS.has(key) ? byText : byName)(key, value, parent, depth)

/** Items and contents, with all media replaced; shares every part that has none with the original. */
export const replaceMedia = <T>(value: T): T => replaceEach(value, byName, 0)

/** The same for values whose fields the caller named: `signature` or `data` says nothing there, only the text counts. */
export const replaceMediaInValues = <T>(value: T): T => replaceEach(value, byText, 0)

export const replaceMediaInGeneration = (generation: Generation): Generation => replaceEach(generation, ofGeneration, 0)

function replaceEach<T>(value: T, replaceField: ReplaceField, depth: number): T {
  if (typeof value === 'string') return replaceMediaInText(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '[nested too deeply]' as T
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i]
      const replaced = replaceEach(element, replaceField, depth + 1)
      if (replaced !== element) (copy ??= [...value])[i] = replaced
    }
    return (copy ?? value) as T
  }
  const node = value as Node
  let copy: Record<string, unknown> | undefined
  // `in` rather than `Object.entries`: nearly all values stay as they are, and the pairs were half of what a delivery throws away.
  for (const key in node) {
    if (!Object.hasOwn(node, key)) continue
    const replaced = replaceField(key, node[key], node, depth + 1)
    if (replaced !== node[key]) (copy ??= { ...node })[key] = replaced
  }
  return (copy ?? value) as T
}
