import { Badge } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { ApiKey } from '../../api/schema.ts'
import { stateOf, type KeyState } from './list.ts'

const COLOURS: { readonly [S in KeyState]: string } = { active: 'teal', disabled: 'gray', expired: 'orange' }

export function StateBadge({ of: key }: { readonly of: ApiKey }): ReactNode {
  // Of when it was first shown: a key that expires while one looks is told as expired a reading later.
  const [now] = useState(() => Date.now())
  const state = stateOf(key, now)
  return (
    <Badge variant="light" size="sm" color={COLOURS[state]} miw="max-content" style={{ flexShrink: 0 }}>
      {state}
    </Badge>
  )
}
