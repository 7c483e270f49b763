import { withoutEnding } from '../../lib/without-ending.ts'
import { tryParseJson } from './json.ts'

const CLOSING: { readonly [opening: string]: string } = { '{': '}', '[': ']' }

/** The beginning of a JSON object or list as a complete value: what is open where it ends is closed. Undefined for anything else. */
export function parseCutJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  const open = openAtEnd(text)
  const complete = open.inString ? `${open.escaped ? text.slice(0, -1) : text.replace(/\\u[0-9a-f]{0,3}$/i, '')}"` : withoutEnding(text, ', \t\r\n')
  // The last token may be a key without its value, or a colon.
  for (const rest of ['', ':null', 'null']) {
    const value = tryParseJson(complete + rest + open.closing)
    if (value !== undefined) return value
  }
  return undefined
}

interface Open {
  readonly inString: boolean
  /** The last character is half of an escape. */
  readonly escaped: boolean
  readonly closing: string
}

function openAtEnd(text: string): Open {
  const closing: string[] = []
  let inString = false
  let escaped = false
  for (const char of text) {
    if (escaped) escaped = false
    else if (inString) {
      if (char === '\\') escaped = true
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (CLOSING[char] !== undefined) closing.push(CLOSING[char])
    else if (char === '}' || char === ']') closing.pop()
  }
  return { inString, escaped, closing: closing.toReversed().join('') }
}
