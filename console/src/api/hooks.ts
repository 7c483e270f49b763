import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext, useState } from 'react'
import type { Answer, Api, ApiError, Args, Input, Route } from './client.ts'

export const ApiContext = createContext<Api | undefined>(undefined)

/** The API with the key of whoever is signed in. */
export function useApi(): Api {
  const api = useContext(ApiContext)
  if (api === undefined) throw new Error('nobody is signed in')
  return api
}

type Reading = Extract<Route, `GET ${string}`>

export interface ReadOptions {
  /** Milliseconds after which it is read again. Default: when the tab is looked at again. */
  readonly every?: number
  /** False: not yet, because something it needs is not known. */
  readonly when?: boolean
}

/** What a route answers, kept and shared by whoever asks for the same. What was there stays on the page while the next is on its way. */
export function useRead<R extends Reading>(
  route: R,
  input?: Input<R>,
  { every, when = true }: ReadOptions = {},
): UseQueryResult<Answer<R>, ApiError> {
  const api = useApi()
  return useQuery<Answer<R>, ApiError>({
    queryKey: [route, input ?? {}],
    queryFn: ({ signal }) => api(route, ...([input, signal] as unknown as Args<R>)),
    enabled: when,
    placeholderData: keepPreviousData,
    ...(every === undefined ? {} : { refetchInterval: every }),
  })
}

/** A change is done when it was answered: a list that does not come must not keep back the key that was made. */
const READ_AGAIN_LIMIT_MS = 3_000

/** A change; the routes it outdates are read again before it counts as done, unless that takes too long. */
export function useChange<R extends Exclude<Route, Reading>>(
  route: R,
  outdates: readonly Reading[],
): UseMutationResult<Answer<R>, ApiError, Input<R>> {
  const api = useApi()
  const client = useQueryClient()
  const [onTheirWay] = useState(() => new Map<string, Promise<Answer<R>>>())
  return useMutation<Answer<R>, ApiError, Input<R>>({
    // The second click of a double click comes before the button knows of the first: it asks for nothing of its own.
    mutationFn: (input) => {
      const name = JSON.stringify(input)
      const same = onTheirWay.get(name)
      if (same !== undefined) return same
      const asked = api(route, ...([input] as unknown as Args<R>)).finally(() => onTheirWay.delete(name))
      onTheirWay.set(name, asked)
      return asked
    },
    onSuccess: () => {
      const again = Promise.all(outdates.map((read) => client.invalidateQueries({ queryKey: [read] })))
      return Promise.race([again, new Promise((resolve) => setTimeout(resolve, READ_AGAIN_LIMIT_MS))])
    },
  })
}
