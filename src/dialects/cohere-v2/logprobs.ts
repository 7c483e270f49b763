import type { Logprob } from '../../core/item.ts'
import { isObject } from '../shared/json.ts'

/**
 * The log probability of a chunk of text: the sum of those of its tokens, because nothing says which characters belong to which. Source: the type
 * `LogprobItem` of the vendor's client library, which stands beside `delta` in an event of a stream.
 */
export function decodeLogprobs(value: unknown): readonly Logprob[] | undefined {
  const chunk = readChunk(value)
  return chunk === undefined ? undefined : [chunk]
}

/**
 * Those of one text among those of a whole answer, which has a single list for all that the model wrote. Undefined if the text is not made of whole chunks,
 * so that none is shown with another text.
 */
export function logprobsOf(text: unknown, list: unknown): readonly Logprob[] | undefined {
  if (typeof text !== 'string' || text === '' || !Array.isArray(list)) return undefined
  const chunks = list.map(readChunk)
  // The text is the last that the model writes, before its mark of the end.
  const end = chunks.findLastIndex((chunk) => chunk !== undefined && chunk.token !== '' && text.endsWith(chunk.token)) + 1
  let rest = text
  let first = end
  while (rest !== '' && first > 0) {
    const chunk = chunks[first - 1]
    if (chunk === undefined || !rest.endsWith(chunk.token)) return undefined
    rest = rest.slice(0, rest.length - chunk.token.length)
    first--
  }
  return rest === '' ? chunks.slice(first, end).filter((chunk) => chunk !== undefined) : undefined
}

function readChunk(value: unknown): Logprob | undefined {
  if (!isObject(value)) return undefined
  const { text, logprobs } = value
  if (typeof text !== 'string' || !Array.isArray(logprobs) || logprobs.length === 0) return undefined
  if (!logprobs.every((each): each is number => typeof each === 'number')) return undefined
  const logprob = logprobs.reduce((sum, each) => sum + each, 0)
  return { token: text, logprob, bytes: [...Buffer.from(text)], top_logprobs: [] }
}
