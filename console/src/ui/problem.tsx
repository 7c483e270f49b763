import { Alert, Button, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface ProblemProps {
  /** Nothing is shown for null, so that a form can always contain this. */
  readonly error: Error | null
  readonly onRetry?: () => void
}

/** An error in the gateway's own words, which name the field and what is expected. */
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
