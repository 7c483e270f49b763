import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
import { Router } from 'wouter'
import { createApi } from './api/client.ts'
import { ApiContext } from './api/hooks.ts'
import { forgetKey, keepKey, keyOfFragment, storedKey } from './api/session.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const STORES = { tab: sessionStorage, browser: localStorage }
export const BASE = '/console'

/** The key of the link somebody followed, which then stands in no history, or the one that was kept. */
function firstKey(): string | undefined {
  const key = keyOfFragment(location.hash)
  if (key === undefined) return storedKey(STORES)
  history.replaceState(null, '', location.pathname + location.search)
  keepKey(STORES, key, false)
  return key
}

/** Asks for the key, and then shows the pages. */
export function App(): ReactNode {
  const [key, setKey] = useState(firstKey)
  const [refused, setRefused] = useState(false)
  const queries = useQueryClient()
  const signOut = useMemo(
    () => (): void => {
      forgetKey(STORES)
      // What one key could see is nothing for the next.
      queries.clear()
      setKey(undefined)
    },
    [queries],
  )
  const api = useMemo(() => {
    const onRefused = (): void => {
      setRefused(true)
      signOut()
    }
    return key === undefined ? undefined : createApi({ key, onRefused })
  }, [key, signOut])
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
        <Shell onSignOut={signOut} />
      </Router>
    </ApiContext>
  )
}
