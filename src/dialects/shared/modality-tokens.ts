import { isObject } from './json.ts'

/** Tokens of one modality in a list of counts by modality, which may contain it more than once. Undefined if it has none. */
export function modalityTokens(details: unknown, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined
  const counts = details.flatMap((each) => {
    const count: unknown = isObject(each) && each['modality'] === modality ? each['tokenCount'] : undefined
    return typeof count === 'number' && Number.isFinite(count) ? [count] : []
  })
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count)
}
