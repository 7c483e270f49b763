import { parseJson } from '../../lib/json.ts'

/** Arguments that nest deeper are of no use, and writing them as JSON again would overflow the stack. */
const MAX_DEPTH = 100

/** An escaped backslash, or the escape of a NUL. */
const BACKSLASH_OR_NUL = /\\\\|\\u0000/g

/**
 * The arguments of a call as a value; undefined if the text is not JSON, or nests too deep. Records have no NULs, but the text may have their escapes,
 * which become NULs again when it is read.
 */
export function parseArguments(text: string): unknown {
  const withoutNuls = text.includes('\\u0000') ? text.replace(BACKSLASH_OR_NUL, (match) => (match.length === 2 ? match : '\\ufffd')) : text
  try {
    return parseJson(Buffer.from(withoutNuls), { maxDepth: MAX_DEPTH })
  } catch {
    return undefined
  }
}
