import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Status } from './filters.ts'

interface Look {
  readonly color: string
  readonly sign: string
}

const LOOKS: { readonly [S in Status]: Look } = {
  completed: { color: 'teal', sign: '✓' },
  incomplete: { color: 'yellow', sign: '…' },
  failed: { color: 'red', sign: '✕' },
  cancelled: { color: 'gray', sign: '⊘' },
}

/** A gateway that was upgraded while this page was open may have further outcomes. */
const UNKNOWN: Look = { color: 'gray', sign: '?' }

/** The outcome of a call, shown by a sign and a word and not by colour alone. */
export function StatusBadge({ status }: { readonly status: Status }): ReactNode {
  const { color, sign } = (LOOKS as { readonly [status: string]: Look })[status] ?? UNKNOWN
  return (
    <Badge color={color} variant="light" miw="max-content" leftSection={<span aria-hidden>{sign}</span>}>
      {status}
    </Badge>
  )
}
