import { parseJson } from '../../lib/json.ts'

/** Deeper ones are no arguments anybody reads, and writing them as JSON again takes more stack than there is. */
const MAX_DEPTH = 100

/** The arguments of a call as the value they are; undefined for a text that is no JSON, or nests too deep. */
export function parseArguments(text: string): unknown {
  try {
    return parseJson(Buffer.from(text), { maxDepth: MAX_DEPTH })
  } catch {
    return undefined
  }
}
