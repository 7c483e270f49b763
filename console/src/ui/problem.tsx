import { Alert, Button, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface ProblemProps {
  /** Nothing is shown for null, so that a form can always have one. */
  readonly error: Error | null
  readonly onRetry?: () => void
}

/** A refusal, in the gateway's own words: they name the field and what would be right. */
export function Problem({ error, onRetry }: ProblemProps): ReactNode {
  if (error === null) return null
  return (
    <Alert color="red" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
