import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { storeNotes, consumeNotes } from '../../api/notes.ts'
import { settled } from './settled.ts'

const ROOT = ['playground', 'kept']
const outlasting = new WeakSet<QueryClient>()

/**
 * A value that survives visits to other pages and a reload of this one. It is stored with the data from the gateway, so that signing out removes it, too;
 * a later change then starts from `initial` again.
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

/** Once per page load: restores the notes of the previous load, and leaves its own for the next, on whichever page of the console that is. */
function outlastReload(client: QueryClient): void {
  if (outlasting.has(client)) return
  outlasting.add(client)
  client.setQueryDefaults(ROOT, { gcTime: Infinity })
  for (const [name, value] of Object.entries(consumeNotes(sessionStorage))) client.setQueryData([...ROOT, name], settled(name, value))
  window.addEventListener('pagehide', () => {
    const notes = client.getQueriesData({ queryKey: ROOT }).map(([key, value]) => [String(key.at(-1)), value] as const)
    if (notes.length === 0 || storeNotes(sessionStorage, Object.fromEntries(notes))) return
    // Conversations may contain images; unsent input does not.
    storeNotes(sessionStorage, Object.fromEntries(notes.filter(([name]) => name !== 'turns')))
  })
}
