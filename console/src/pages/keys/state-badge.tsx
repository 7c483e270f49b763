import { Badge } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import type { ApiKey } from '../../api/schema.ts'
import { stateOf, type KeyState } from './list.ts'

const COLOURS: { readonly [S in KeyState]: string } = { active: 'teal', disabled: 'gray', expired: 'orange' }

/** The longest delay of a timer, about 25 days; no page is open that long. */
const LONGEST_WAIT_MS = 2_147_483_647

/** The current time, which advances when a key expires while the page is open. */
function useMomentOf(expires: string | null): number {
  const [now, setNow] = useState(() => Date.now())
  const wait = expires === null ? 0 : Date.parse(expires) - now
  useEffect(() => {
    if (wait <= 0) return undefined
    const timer = setTimeout(() => setNow(Date.now()), Math.min(wait, LONGEST_WAIT_MS))
    return () => clearTimeout(timer)
  }, [wait])
  return now
}

export function StateBadge({ of: key }: { readonly of: ApiKey }): ReactNode {
  const state = stateOf(key, useMomentOf(key.expires_at))
  return (
    <Badge variant="light" size="sm" color={COLOURS[state]} miw="max-content" style={{ flexShrink: 0 }}>
      {state}
    </Badge>
  )
}
