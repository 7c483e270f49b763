import { Skeleton, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'

export interface LoadedProps<T> {
  /** As `useRead` and `usePages` give it. */
  readonly of: { readonly data: T | undefined; readonly error: Error | null; readonly refetch: () => unknown }
  readonly children: (data: T) => ReactNode
}

/** What a route answered; before that a shape of it, and why not when it was refused. What was read earlier stays readable beside a problem. */
export function Loaded<T>({ of: { data, error, refetch }, children }: LoadedProps<T>): ReactNode {
  if (data === undefined && error === null) {
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
      <Problem error={error} onRetry={() => void refetch()} />
      {data !== undefined && children(data)}
    </Stack>
  )
}
