import { Button, Code, CopyButton, Group } from '@mantine/core'
import type { ReactNode } from 'react'

export interface CopyableProps {
  readonly value: string
  /** What is copied, for those who cannot see it. */
  readonly label: string
}

/** A text somebody needs elsewhere: a key shown once, an id, a command. */
export function Copyable({ value, label }: CopyableProps): ReactNode {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Code block flex={1} style={{ whiteSpace: 'pre-wrap', wordBreak: 'break-all' }} aria-label={label}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" onClick={copy} aria-label={`Copy ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  )
}
