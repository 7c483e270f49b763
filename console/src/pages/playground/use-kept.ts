import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

/**
 * A value that outlasts a look at another page. It lies beside what was read from the gateway, so that it goes with that when somebody signs out;
 * a change that arrives later starts from `initial` again.
 */
export function useKept<T>(name: string, initial: T): readonly [T, (change: (before: T) => T) => void] {
  const client = useQueryClient()
  const key = ['playground', name]
  const read = (): T => client.getQueryData<T>(key) ?? initial
  const [value, show] = useState(read)
  const change = (next: (before: T) => T): void => {
    const after = next(read())
    client.setQueryDefaults(['playground'], { gcTime: Infinity })
    client.setQueryData(key, after)
    show(after)
  }
  return [value, change]
}
