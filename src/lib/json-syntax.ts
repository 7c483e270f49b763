/** Where a JSON text breaks: the index of the first character no valid document could have there, and what is wrong with it. */
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

/** Index after the string that opens at `at`, or what is wrong inside it. */
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

/**
 * Finds the fault in a text `JSON.parse` refused; undefined when there is none. `JSON.parse` quotes the caller's text in its messages
 * and often leaves the position out, hence this second look, which only broken requests pay for. No recursion.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: number[] = []
  let at = match(SPACE, text, 0)
  let expect: 'value' | 'value-or-close' | 'key' | 'key-or-close' | 'next' = 'value'
  for (;;) {
    at = match(SPACE, text, at)
    const char = text.charAt(at)
    const inside = open.at(-1)
    if (expect === 'next') {
      if (inside === undefined) return at >= text.length ? undefined : { position: at, reason: `${show(text, at)} after the end of the document` }
      const closer = inside === OPEN_ARRAY ? ']' : '}'
      if (char === closer) open.pop()
      else if (char === ',') expect = inside === OPEN_ARRAY ? 'value' : 'key'
      else return { position: at, reason: `${show(text, at)} where "," or "${closer}" belongs` }
      at += 1
    } else if (expect === 'key' || expect === 'key-or-close') {
      if (char === '}' && expect === 'key-or-close') {
        open.pop()
        expect = 'next'
        at += 1
        continue
      }
      if (char !== '"') return { position: at, reason: `${show(text, at)} where a key in double quotes belongs` }
      const end = skipString(text, at)
      if (typeof end !== 'number') return end
      at = match(SPACE, text, end)
      if (text.charAt(at) !== ':') return { position: at, reason: `${show(text, at)} where ":" belongs` }
      at += 1
      expect = 'value'
    } else if (char === ']' && expect === 'value-or-close') {
      open.pop()
      expect = 'next'
      at += 1
    } else if (char === '{' || char === '[') {
      open.push(char === '[' ? OPEN_ARRAY : OPEN_OBJECT)
      expect = char === '[' ? 'value-or-close' : 'key-or-close'
      at += 1
    } else {
      const end = char === '"' ? skipString(text, at) : Math.max(match(NUMBER, text, at), match(WORD, text, at))
      if (typeof end !== 'number') return end
      if (end === -1) return { position: at, reason: `${show(text, at)} where a value belongs` }
      at = end
      expect = 'next'
    }
  }
}
