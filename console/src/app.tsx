import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { Router } from 'wouter'
import { createApi, type Answer } from './api/client.ts'
import { ApiContext } from './api/hooks.ts'
import { forgetNotes } from './api/notes.ts'
import { forgetKey, keepKey, keyOfFragment, signOutLine, storedKey, type SignOutLine } from './api/session.ts'
import { Shell } from './shell.tsx'
import { SignIn, SignInAgain } from './sign-in.tsx'
import { isAnythingUnsaved } from './ui/unsaved.tsx'

const STORES = { tab: sessionStorage, browser: localStorage }
export const BASE = '/console'

const ANOTHER_KEY = 'This link signs you in with a different key, maybe into another workspace. What you enter there belongs to its owner. Continue?'

/**
 * The key in the link that was followed, which is removed from the history. Anybody can send a link, so one that would sign the user in elsewhere asks
 * first.
 */
function followedKey(): string | undefined {
  const key = keyOfFragment(location.hash)
  if (key === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  const stored = storedKey(STORES)
  if (stored !== undefined && stored !== key && !confirm(ANOTHER_KEY)) return undefined
  if (key !== stored) forgetNotes(sessionStorage)
  keepKey(STORES, key, false)
  return key
}

/** The workspace that determines what a management key can see. Undefined: not yet known. */
const workspaceSeen = (queries: QueryClient): string | undefined =>
  queries.getQueryData<Answer<'GET /api/v1/key'>>(['GET /api/v1/key', {}])?.data.workspace_id

/** Asks for the key, and then shows the pages. */
export function App(): ReactNode {
  const [key, setKey] = useState(() => followedKey() ?? storedKey(STORES))
  const [refused, setRefused] = useState(false)
  // Nothing that one key has shown may stay visible for a key that sees something else, so those get new pages.
  const [pages, setPages] = useState(0)
  const queries = useQueryClient()
  const leave = useCallback(
    (only?: string): void => {
      forgetKey(STORES, only)
      queries.clear()
      setKey(undefined)
    },
    [queries],
  )
  const others = useRef<SignOutLine>(undefined)
  const part = useCallback((): void => {
    // The pages must be gone first: they would follow the address, and read it with the key that signs out.
    flushSync(() => leave())
    // What was looked at and searched for is nothing to whoever signs in next. A user whose key has expired comes back to it.
    history.replaceState(null, '', location.pathname)
  }, [leave])
  useEffect(() => {
    const line = signOutLine(part)
    others.current = line
    return () => line.close()
  }, [part])
  const signOut = (): void => {
    part()
    others.current?.tell()
  }
  const begin = useCallback(
    (next: string): void => {
      queries.clear()
      setRefused(false)
      setPages((count) => count + 1)
      setKey(next)
    },
    [queries],
  )
  // If the page is open already, such a link does not load it again.
  useEffect(() => {
    const follow = (): void => {
      const next = followedKey()
      if (next !== undefined) begin(next)
    }
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [begin])
  const api = useMemo(() => {
    const onRefused = (): void => {
      setRefused(true)
      // Unsaved input waits for a key that may save it.
      if (isAnythingUnsaved()) forgetKey(STORES, key)
      else leave(key)
    }
    return key === undefined ? undefined : createApi({ key, onRefused })
  }, [key, leave])
  const signIn = (next: string, remember: boolean, workspace: string): void => {
    const goesOn = key !== undefined && workspace === workspaceSeen(queries)
    keepKey(STORES, next, remember)
    if (!goesOn) return begin(next)
    setRefused(false)
    setKey(next)
  }
  // Requests that the previous key was refused are repeated with the new one.
  useEffect(() => {
    if (api !== undefined) void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  }, [api, queries])
  if (api === undefined) return <SignIn refused={refused} onSignedIn={signIn} />
  return (
    <ApiContext value={api}>
      <Router base={BASE}>
        <Shell key={pages} onSignOut={signOut} />
      </Router>
      <SignInAgain opened={refused} onSignedIn={signIn} onDiscard={() => leave(key)} />
    </ApiContext>
  )
}
