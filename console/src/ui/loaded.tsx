import { Skeleton, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'
import { useStableError } from './use-stable-error.ts'

export interface LoadedProps<T> {
  /** The result of `useRead` or `usePages`. */
  readonly of: {
    readonly data: T | undefined
    readonly error: Error | null
    readonly refetch: () => unknown
    /** The answer to the previous request, shown until the next one arrives. */
    readonly isPlaceholderData?: boolean
  }
  readonly children: (data: T) => ReactNode
}

/** Shows the answer of a route, a skeleton before it arrives, and the error if it failed. Earlier data stays readable next to an error. */
export function Loaded<T>({ of: { data, error, refetch, isPlaceholderData = false }, children }: LoadedProps<T>): ReactNode {
  const stableError = useStableError(error, data !== undefined)
  if (data === undefined && stableError === null) {
    return (
      <Stack component="output" gap="xs" aria-label="Loading" aria-busy>
        {[1, 2, 3].map((row) => (
          <Skeleton key={row} h={34} />
        ))}
      </Stack>
    )
  }
  return (
    <Stack gap="md">
      <Problem error={stableError} onRetry={() => void refetch()} />
      {data !== undefined && (
        // Placeholder data is dimmed, so that data of one workspace is not mistaken for another's.
        <Stack gap="md" opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
          {children(data)}
        </Stack>
      )}
    </Stack>
  )
}
