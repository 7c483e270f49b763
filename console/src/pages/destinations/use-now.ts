import { useEffect, useState } from 'react'

const EVERY_MS = 5_000

/** The current time, for `5 s ago`; it advances while the page is visible. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
