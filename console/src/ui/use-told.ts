import { useState } from 'react'

/**
 * Why nothing is there, until something is or there is another reason. A query that tries again forgets its error meanwhile: where that happens by
 * itself every few seconds, words and button would come and go.
 */
export function useTold<E extends Error>(error: E | null, isThere: boolean): E | null {
  const [told, tell] = useState(error)
  const now = error ?? (isThere ? null : told)
  if (now !== told) tell(now)
  return now
}
