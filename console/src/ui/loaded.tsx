import { Skeleton, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'
import { useTold } from './use-told.ts'

export interface LoadedProps<T> {
  /** As `useRead` and `usePages` give it. */
  readonly of: {
    readonly data: T | undefined
    readonly error: Error | null
    readonly refetch: () => unknown
    /** It is the answer to what was asked before, shown until the next one comes. */
    readonly isPlaceholderData?: boolean
  }
  readonly children: (data: T) => ReactNode
}

/** What a route answered; before that a shape of it, and why not when it was refused. What was read earlier stays readable beside a problem. */
export function Loaded<T>({ of: { data, error, refetch, isPlaceholderData = false }, children }: LoadedProps<T>): ReactNode {
  const told = useTold(error, data !== undefined)
  if (data === undefined && told === null) {
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
      <Problem error={told} onRetry={() => void refetch()} />
      {data !== undefined && (
        // Nobody takes what is shown of one workspace for that of another.
        <Stack gap="md" opacity={isPlaceholderData ? 0.5 : 1} aria-busy={isPlaceholderData}>
          {children(data)}
        </Stack>
      )}
    </Stack>
  )
}
