import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { Router } from 'wouter'
import { createApi } from './api/client.ts'
import { ApiContext } from './api/hooks.ts'
import { forgetNotes } from './api/notes.ts'
import { forgetKey, keepKey, keyOfFragment, signOutLine, storedKey, type SignOutLine } from './api/session.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const STORES = { tab: sessionStorage, browser: localStorage }
export const BASE = '/console'

/** The key of the link somebody followed, which then stands in no history. */
function followedKey(): string | undefined {
  const key = keyOfFragment(location.hash)
  if (key === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  if (key !== storedKey(STORES)) forgetNotes(sessionStorage)
  keepKey(STORES, key, false)
  return key
}

/** Asks for the key, and then shows the pages. */
export function App(): ReactNode {
  const [key, setKey] = useState(() => followedKey() ?? storedKey(STORES))
  const [refused, setRefused] = useState(false)
  const queries = useQueryClient()
  const leave = useCallback(
    (only?: string): void => {
      forgetKey(STORES, only)
      // What one key could see is nothing for the next.
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
  // Where a page is open already, such a link loads nothing anew.
  useEffect(() => {
    const follow = (): void => {
      const next = followedKey()
      if (next === undefined) return
      queries.clear()
      setRefused(false)
      setKey(next)
    }
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [queries])
  const api = useMemo(() => {
    const onRefused = (): void => {
      setRefused(true)
      leave(key)
    }
    return key === undefined ? undefined : createApi({ key, onRefused })
  }, [key, leave])
  if (api === undefined) {
    return (
      <SignIn
        refused={refused}
        onSignedIn={(next, remember) => {
          keepKey(STORES, next, remember)
          setRefused(false)
          setKey(next)
        }}
      />
    )
  }
  return (
    <ApiContext value={api}>
      <Router base={BASE}>
        {/* Nothing that one key showed stays on the page for the next. */}
        <Shell key={key} onSignOut={signOut} />
      </Router>
    </ApiContext>
  )
}
