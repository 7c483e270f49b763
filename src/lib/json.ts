import { isUtf8 } from 'node:buffer'
import { findJsonFault } from './json-syntax.ts'

export interface JsonLimits {
  /** The most arrays and objects that may be open inside one another; `MAX_JSON_DEPTH` by default. */
  readonly maxDepth?: number
  /** The most keys of all objects together; 250,000 by default. A few million would keep the process busy for seconds. */
  readonly maxKeys?: number
}

/** Text that is not acceptable JSON. `reason` never quotes more than one character of the caller's text. */
export class JsonError extends Error {
  readonly reason: string
  /** An offset: in bytes for encoding faults, otherwise in UTF-16 code units of the decoded text. */
  readonly position: number

  constructor(reason: string, position: number) {
    super(`${reason} (position ${position})`)
    this.name = 'JsonError'
    this.reason = reason
    this.position = position
  }
}

/** A JSON object: neither null nor an array. */
export const isJsonObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Code that walks a request body must be able to go this deep. */
export const MAX_JSON_DEPTH = 256
const DEFAULT_MAX_KEYS = 250_000
/** The shortest key with its value is `"":1,`. */
const MIN_CHARS_PER_KEY = 5
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/** A key that spells `__proto__`, possibly with escapes. In valid JSON an unescaped quote opens or closes a string, so a match is always a key. */
const PROTO_KEY = /"(?:_|\\u005[fF]){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[fF])(?:t|\\u0074)(?:o|\\u006[fF])(?:_|\\u005[fF]){2}"[ \t\n\r]*:/
/** An escaped half of a surrogate pair. Whether it stands alone is checked in the parsed strings, because counting backslashes in the text is error-prone. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/**
 * Parses one JSON document from the bytes of a request body; throws JsonError.
 *
 * - A byte order mark is skipped. Bytes that are not UTF-8 are refused, with the offset of the first.
 * - Nesting beyond the limit is refused before anything is built, so that no later code recurses too deep.
 * - Too many keys are refused as well, because building millions of them takes seconds in which nobody else is served.
 * - A key `__proto__` is refused: as an own property it is harmless until someone assigns it. `constructor` and `prototype` are ordinary keys.
 * - Unpaired surrogates (from a client that cut a string in the middle of an emoji) become U+FFFD, in keys as well.
 * - Of equal keys the last wins. Numbers are doubles: large integers are rounded, and `1e400` is Infinity, which every schema refuses.
 */
export function parseJson(bytes: Buffer, limits: JsonLimits = {}): unknown {
  if (!isUtf8(bytes)) {
    throw new JsonError('the text is not valid UTF-8', firstInvalidByte(bytes))
  }
  const start = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const text = bytes.toString('utf8', start)
  assertLimits(text, limits)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const fault = text.trim() === '' ? { reason: 'the text is empty', position: 0 } : findJsonFault(text)
    throw new JsonError(fault?.reason ?? 'the text is not JSON', fault?.position ?? 0)
  }
  const escaped = text.includes('\\u')
  if (escaped || text.includes('__proto__')) {
    const match = PROTO_KEY.exec(text)
    if (match !== null) throw new JsonError('the key "__proto__" is not accepted', match.index)
  }
  return escaped && SURROGATE_ESCAPE.test(text) ? replaceLoneSurrogates(value) : value
}

/**
 * Parses JSON that is text inside something else, such as the arguments of calls or the answers of servers that callers name. Throws JsonError beyond the
 * limits, and SyntaxError for invalid JSON.
 */
export function parseJsonText(text: string): unknown {
  assertLimits(text, {})
  return JSON.parse(text)
}

/**
 * Whether a text nests deeper than JSON may. Ask this before parsing untrusted text: a parser takes a microsecond or more per open bracket, so a few
 * megabytes of brackets keep the process busy for seconds.
 */
export function nestsTooDeep(text: string, maxDepth = MAX_JSON_DEPTH): boolean {
  try {
    assertLimits(text, { maxDepth, maxKeys: Infinity })
    return false
  } catch {
    return true
  }
}

/** Refuses what would cost too much to build, before anything is built. */
function assertLimits(text: string, { maxDepth = MAX_JSON_DEPTH, maxKeys = DEFAULT_MAX_KEYS }: JsonLimits): void {
  if (mayBeDeeper(text, maxDepth)) depthBehind(text, 0, maxDepth)
  if (text.length > maxKeys * MIN_CHARS_PER_KEY && mayHaveMoreKeys(text, maxKeys)) assertKeys(text, maxKeys)
}

/** Decoding replaces malformed bytes, so the first byte that differs after a round trip is where the text is broken. */
function firstInvalidByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'), 'utf8')
  let i = 0
  while (i < bytes.length && bytes[i] === again[i]) i += 1
  return i
}

/**
 * Whether there are more opening brackets than the limit, including those inside strings: two native searches that stop at the limit. A document that
 * nests deeper also has to close its brackets, so a text of up to twice the limit needs no search.
 */
function mayBeDeeper(text: string, max: number): boolean {
  return text.length > 2 * max && countUpTo(text, '[', max + 1) + countUpTo(text, '{', max + 1) > max
}

function countUpTo(text: string, what: string, most: number): number {
  let count = 0
  for (let at = text.indexOf(what); at !== -1 && count < most; at = text.indexOf(what, at + 1)) count += 1
  return count
}

/**
 * The number of brackets that are open after a text, if `depth` were open before it. The native search for the closing quote skips strings. Throws
 * JsonError if the number exceeds `max`.
 */
export function depthBehind(text: string, depth = 0, max = MAX_JSON_DEPTH): number {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = closingQuote(text, i)
      if (i === -1) return depth
    } else if (code === 91 || code === 123) {
      depth += 1
      if (depth > max) throw new JsonError(`arrays and objects are nested more than ${max} deep`, i)
    } else if ((code === 93 || code === 125) && depth > 0) depth -= 1
  }
  return depth
}

/** Whether more quotes precede a colon than the limit, including those inside strings. */
function mayHaveMoreKeys(text: string, max: number): boolean {
  let keys = 0
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let before = colon - 1
    while (isSpace(text.charCodeAt(before))) before -= 1
    if (text.charCodeAt(before) !== QUOTE) continue
    keys += 1
    if (keys > max) return true
  }
  return false
}

/** Counts keys exactly: colons outside of strings. */
function assertKeys(text: string, max: number): void {
  let keys = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = closingQuote(text, i)
      if (i === -1) return
    } else if (code === COLON) {
      keys += 1
      if (keys > max) throw new JsonError(`the objects have more than ${max} keys`, i)
    }
  }
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

function closingQuote(text: string, open: number): number {
  let at = text.indexOf('"', open + 1)
  while (at !== -1) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at
    at = text.indexOf('"', at + 1)
  }
  return -1
}

type Container = unknown[] | { [key: string]: unknown }

/** An escaped backslash, which may precede anything, or an unpaired surrogate as JSON.stringify writes it. */
const BACKSLASH_OR_HALF = /\\\\|\\ud[89a-f][0-9a-f]{2}/g

/**
 * The output of JSON.stringify with unpaired surrogates replaced by U+FFFD. Request bodies contain none, but JSON inside their strings may, if a tool cut
 * a text in the middle of an emoji and wrote it as JSON.
 */
export function wellFormedJson(text: string): string {
  return text.includes('\\ud') ? text.replace(BACKSLASH_OR_HALF, (match) => (match.length === 2 ? match : '\\ufffd')) : text
}

/** Changes the tree in place, because it has just been parsed and nothing else refers to it. */
function replaceLoneSurrogates(root: unknown): unknown {
  if (typeof root === 'string') return root.toWellFormed()
  const queue: Container[] = []
  const repaired = (value: unknown): unknown => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'object' && value !== null) queue.push(value as Container)
    return value
  }
  repaired(root)
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (Array.isArray(node)) {
      for (let i = 0; i < node.length; i += 1) node[i] = repaired(node[i])
      continue
    }
    for (const [key, value] of Object.entries(node)) {
      if (key.isWellFormed()) node[key] = repaired(value)
      else {
        Reflect.deleteProperty(node, key)
        node[key.toWellFormed()] = repaired(value)
      }
    }
  }
  return root
}
