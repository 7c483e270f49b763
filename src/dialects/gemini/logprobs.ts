import type { Logprob } from '../../core/item.ts'
import { exactNumber } from '../shared/exact-json.ts'
import { isObject } from '../shared/json.ts'

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])

function decodeToken(value: unknown): Logprob['top_logprobs'][number] | undefined {
  if (!isObject(value) || typeof value['token'] !== 'string') return undefined
  const logprob = exactNumber(value['logProbability'])
  return logprob === undefined ? undefined : { token: value['token'], logprob, bytes: [...Buffer.from(value['token'])] }
}

/** `logprobsResult` of a candidate: the chosen tokens and the most likely ones at each position. Undefined if there are none. */
export function decodeLogprobs(result: unknown): Logprob[] | undefined {
  if (!isObject(result)) return undefined
  const tops = list(result['topCandidates'])
  const logprobs = list(result['chosenCandidates']).flatMap((chosen, position): Logprob[] => {
    const token = decodeToken(chosen)
    if (token === undefined) return []
    const top: unknown = tops[position]
    return [{ ...token, top_logprobs: isObject(top) ? list(top['candidates']).flatMap((each) => decodeToken(each) ?? []) : [] }]
  })
  return logprobs.length > 0 ? logprobs : undefined
}
