/** Where a JSON text is broken: the index of the first character that no valid document could have there, and what is wrong with it. */
export interface JsonFault {
  readonly position: number
  readonly reason: string
}

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const WORD = /true|false|null/y
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y
const OPEN_ARRAY = 1
const OPEN_OBJECT = 2

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

function show(text: string, at: number): string {
  return at >= text.length ? 'the text ends' : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))}`
}

/** The index after the string that opens at `at`, or the fault inside it. */
function skipString(text: string, at: number): number | JsonFault {
  let i = at + 1
  for (;;) {
    if (i >= text.length) return { position: at, reason: 'a string is not closed' }
    const code = text.charCodeAt(i)
    if (code === 34) return i + 1
    if (code < 32) return { position: i, reason: 'a control character inside a string must be escaped' }
    if (code === 92) {
      const end = match(ESCAPE, text, i + 1)
      if (end === -1) return { position: i, reason: i + 1 >= text.length ? 'a string is not closed' : 'unknown escape inside a string' }
      i = end
    } else i += 1
  }
}

interface Cursor {
  readonly text: string
  at: number
  /** Open brackets, innermost last. */
  readonly open: (typeof OPEN_ARRAY | typeof OPEN_OBJECT)[]
  expect: 'value' | 'value-or-close' | 'key' | 'key-or-close' | 'next'
}

/** Reads what may follow a value: a comma, a closing bracket, or the end. */
function readNext(cursor: Cursor): JsonFault | 'done' | undefined {
  const { text, at, open } = cursor
  const inside = open.at(-1)
  if (inside === undefined) return at >= text.length ? 'done' : { position: at, reason: `${show(text, at)} after the end of the document` }
  const char = text.charAt(at)
  const closer = inside === OPEN_ARRAY ? ']' : '}'
  if (char === closer) open.pop()
  else if (char === ',') cursor.expect = inside === OPEN_ARRAY ? 'value' : 'key'
  else return { position: at, reason: `${show(text, at)} where "," or "${closer}" belongs` }
  cursor.at += 1
  return undefined
}

function readKey(cursor: Cursor): JsonFault | undefined {
  const { text } = cursor
  const char = text.charAt(cursor.at)
  if (char === '}' && cursor.expect === 'key-or-close') return closeEmpty(cursor)
  if (char !== '"') return { position: cursor.at, reason: `${show(text, cursor.at)} where a key in double quotes belongs` }
  const end = skipString(text, cursor.at)
  if (typeof end !== 'number') return end
  const colon = match(SPACE, text, end)
  if (text.charAt(colon) !== ':') return { position: colon, reason: `${show(text, colon)} where ":" belongs` }
  cursor.at = colon + 1
  cursor.expect = 'value'
  return undefined
}

function readValue(cursor: Cursor): JsonFault | undefined {
  const { text, at } = cursor
  const char = text.charAt(at)
  if (char === ']' && cursor.expect === 'value-or-close') return closeEmpty(cursor)
  if (char === '{' || char === '[') {
    cursor.open.push(char === '[' ? OPEN_ARRAY : OPEN_OBJECT)
    cursor.expect = char === '[' ? 'value-or-close' : 'key-or-close'
    cursor.at += 1
    return undefined
  }
  const end = char === '"' ? skipString(text, at) : Math.max(match(NUMBER, text, at), match(WORD, text, at))
  if (typeof end !== 'number') return end
  if (end === -1) return { position: at, reason: `${show(text, at)} where a value belongs` }
  cursor.at = end
  cursor.expect = 'next'
  return undefined
}

function closeEmpty(cursor: Cursor): undefined {
  cursor.open.pop()
  cursor.expect = 'next'
  cursor.at += 1
}

/**
 * Finds the fault in a text that `JSON.parse` refused; undefined if there is none. `JSON.parse` quotes the caller's text in its messages and often omits
 * the position. Only broken requests pay for this second pass. Not recursive.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const cursor: Cursor = { text, at: 0, open: [], expect: 'value' }
  for (;;) {
    cursor.at = match(SPACE, text, cursor.at)
    const key = cursor.expect === 'key' || cursor.expect === 'key-or-close'
    const found = cursor.expect === 'next' ? readNext(cursor) : key ? readKey(cursor) : readValue(cursor)
    if (found === 'done') return undefined
    if (found !== undefined) return found
  }
}
