import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { leaveNotes, takeNotes } from '../../api/notes.ts'
import { settled } from './settled.ts'

const ROOT = ['playground', 'kept']
const outlasting = new WeakSet<QueryClient>()

/**
 * A value that outlasts a look at another page, and a reload of this one. It lies beside what was read from the gateway, so that it goes with that
 * when somebody signs out; a change that arrives later starts from `initial` again.
 */
export function useKept<T>(name: string, initial: T): readonly [T, (change: (before: T) => T) => void] {
  const client = useQueryClient()
  outlastReload(client)
  const key = [...ROOT, name]
  const read = (): T => client.getQueryData<T>(key) ?? initial
  const [value, show] = useState(read)
  const change = (next: (before: T) => T): void => {
    const after = next(read())
    client.setQueryData(key, after)
    show(after)
  }
  return [value, change]
}

/** Once for a page: it takes what the one before left, and leaves its own to the next, wherever in the console that is. */
function outlastReload(client: QueryClient): void {
  if (outlasting.has(client)) return
  outlasting.add(client)
  client.setQueryDefaults(ROOT, { gcTime: Infinity })
  for (const [name, value] of Object.entries(takeNotes(sessionStorage))) client.setQueryData([...ROOT, name], settled(name, value))
  window.addEventListener('pagehide', () => {
    const kept = client.getQueriesData({ queryKey: ROOT }).map(([key, value]) => [String(key.at(-1)), value] as const)
    if (kept.length === 0 || leaveNotes(sessionStorage, Object.fromEntries(kept))) return
    // Conversations may hold images; what is not sent yet holds none.
    leaveNotes(sessionStorage, Object.fromEntries(kept.filter(([name]) => name !== 'turns')))
  })
}
