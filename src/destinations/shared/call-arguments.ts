import { parseJson } from '../../lib/json.ts'

/** Arguments that nest deeper are of no use, and writing them as JSON again would overflow the stack. */
const MAX_DEPTH = 100

/** The arguments of a call as a value; undefined if the text is not JSON, or nests too deep. */
export function parseArguments(text: string): unknown {
  try {
    return parseJson(Buffer.from(text), { maxDepth: MAX_DEPTH })
  } catch {
    return undefined
  }
}
