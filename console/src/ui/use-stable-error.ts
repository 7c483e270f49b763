import { useState } from 'react'

/**
 * The error to show, until there is data or another error. A query forgets its error while it retries, so with automatic retries every few seconds,
 * message and button would flicker.
 */
export function useStableError<E extends Error>(error: E | null, isThere: boolean): E | null {
  const [shown, setShown] = useState(error)
  const now = error ?? (isThere ? null : shown)
  if (now !== shown) setShown(now)
  return now
}
