import { redactText, type Redaction } from './hit-list.ts'
import { parseJsonText } from '../../lib/json.ts'

/**
 * A text with its hits replaced. What was JSON stays JSON, because upstreams refuse calls with arguments that are none. An escape that a hit cuts is
 * replaced whole or not at all, and a number with a hit becomes a string. A hit that spans several values is replaced as it stands.
 */
export function redact(text: string, hits: readonly Redaction[]): string {
  const redacted = redactText(text, hits)
  return isJson(text) && !isJson(redacted) ? redactText(text, fitted(text, hits)) : redacted
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    parseJsonText(text)
    return true
  } catch {
    return false
  }
}

interface Value {
  readonly start: number
  readonly end: number
  readonly isString: boolean
}

const NUMBER = /-?\d[\d.eE+-]*/y

/** The strings and numbers of a JSON text. Strings are scanned by hand: a regular expression with an alternative per character fails at some ten million. */
function* valuesOf(text: string): Generator<Value, undefined> {
  for (let start = 0; start < text.length;) {
    const isString = text[start] === '"'
    const end = isString ? endOfString(text, start) : endOfNumber(text, start)
    if (end !== undefined) yield { start, end, isString }
    start = end ?? start + 1
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfNumber(text: string, start: number): number | undefined {
  NUMBER.lastIndex = start
  return NUMBER.test(text) ? NUMBER.lastIndex : undefined
}

function fitted(text: string, hits: readonly Redaction[]): readonly Redaction[] {
  const values = valuesOf(text)
  let value = values.next().value
  return hits
    .toSorted((a, b) => a.start - b.start)
    .map((hit) => {
      while (value !== undefined && value.end <= hit.start) value = values.next().value
      if (value === undefined) return hit
      const { start, end, isString } = value
      if (!isString) return start <= hit.start && hit.end <= end ? { ...hit, start, end, quoted: true } : hit
      return start < hit.start && hit.end < end ? { ...hit, ...betweenEscapes(text, hit) } : hit
    })
}

/** The bounds of a hit in a string, moved so that no escape is cut. */
function betweenEscapes(text: string, hit: Redaction): { readonly start: number; readonly end: number } {
  const first = escapeAround(text, hit.start)
  const end = escapeAround(text, hit.end)?.end ?? hit.end
  if (first === undefined) return { start: hit.start, end }
  // The letter of `\n` belongs to the line break and not to the next word, so it stays; a cut `\u0041` is replaced whole.
  const isShort = first.end - first.start === SHORT
  return { start: isShort && first.end < end ? first.end : first.start, end }
}

const SHORT = 2
/** The length of an escape like `\u0041`. */
const LONG = 6

/** The escape that begins before a place and ends after it. */
function escapeAround(text: string, place: number): { readonly start: number; readonly end: number } | undefined {
  for (let start = place - 1; start > place - LONG; start--) {
    if (text[start] !== '\\' || isEscaped(text, start)) continue
    const end = start + (text[start + 1] === 'u' ? LONG : SHORT)
    return end > place ? { start, end } : undefined
  }
  return undefined
}

/** Whether the number of backslashes before a place is odd. */
function isEscaped(text: string, place: number): boolean {
  let from = place
  while (text[from - 1] === '\\') from--
  return (place - from) % 2 === 1
}
