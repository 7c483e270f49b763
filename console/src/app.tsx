import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
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

const ANOTHER_KEY =
  'This link signs you in with another key than the one you use now, maybe into another workspace. What you enter there belongs to whoever owns it. Go on?'

/**
 * The key of the link somebody followed, which then stands in no history. Anybody can send a link: one that would sign somebody in elsewhere
 * than they are asks first.
 */
function followedKey(): string | undefined {
  const key = keyOfFragment(location.hash)
  if (key === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  const kept = storedKey(STORES)
  if (kept !== undefined && kept !== key && !confirm(ANOTHER_KEY)) return undefined
  if (key !== kept) forgetNotes(sessionStorage)
  keepKey(STORES, key, false)
  return key
}

/** What a management key sees hangs on its workspace alone. Undefined: it was not told yet. */
const workspaceSeen = (queries: QueryClient): string | undefined =>
  queries.getQueryData<Answer<'GET /api/v1/key'>>(['GET /api/v1/key', {}])?.data.workspace_id

/** Asks for the key, and then shows the pages. */
export function App(): ReactNode {
  const [key, setKey] = useState(() => followedKey() ?? storedKey(STORES))
  const [refused, setRefused] = useState(false)
  // Nothing that one key showed stays on the page for one that sees something else: those get pages of their own.
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
  useEffect(() => {
    const line = signOutLine(() => leave())
    others.current = line
    return () => line.close()
  }, [leave])
  const signOut = (): void => {
    leave()
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
  // Where a page is open already, such a link loads nothing anew.
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
      // What was typed waits for a key that may save it.
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
  // What the key before was refused is read with this one, once the pages have it.
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
