import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query'
import { createContext, useContext, useState } from 'react'
import type { Answer, Api, ApiError, Args, Input, Route } from './client.ts'

export const ApiContext = createContext<Api | undefined>(undefined)

/** The API with the key of the signed-in user. */
export function useApi(): Api {
  const api = useContext(ApiContext)
  if (api === undefined) throw new Error('not signed in')
  return api
}

type Reading = Extract<Route, `GET ${string}`>

export interface ReadOptions {
  /** Polling interval in milliseconds. Default: refetch when the tab gets the focus. */
  readonly every?: number
  /** False: do not fetch yet, because the input is not known. */
  readonly when?: boolean
}

/** The answer of a route, cached and shared between components with the same input. The previous answer stays visible while the next is loading. */
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

/** Reads a route anew, whatever is cached: before a change that builds upon what is stored, which others may have changed since. */
export function useReadNow(): <R extends Reading>(route: R, input: Input<R>) => Promise<Answer<R>> {
  const api = useApi()
  const client = useQueryClient()
  return (route, input) =>
    client.fetchQuery({
      queryKey: [route, input],
      queryFn: ({ signal }) => api(route, ...([input, signal] as unknown as Args<typeof route>)),
      staleTime: 0,
      // A user who saves hears at once that the gateway is away.
      retry: false,
    })
}

/** A change is done once it is answered: a slow list must not hold back the key that was created. */
const READ_AGAIN_LIMIT_MS = 3_000

/**
 * Whether a failed change may have outdated what is shown: nobody knows what a gateway did whose answer was lost, what it does not have somebody else
 * deleted, and what is in the way of the change somebody else made. Everything else it refused without changing anything.
 */
const isOutdating = ({ status }: ApiError): boolean => status === 0 || status === 404 || status === 409 || status >= 500

/**
 * A change. The routes it outdates are refetched before it counts as done, unless that takes too long; a failure is shown without waiting for them.
 * `completed`: the input as it is to be sent, if that depends on what is stored at that moment.
 */
export function useChange<R extends Exclude<Route, Reading>>(
  route: R,
  outdates: readonly Reading[],
  completed?: (input: Input<R>) => Promise<Input<R>>,
): UseMutationResult<Answer<R>, ApiError, Input<R>> {
  const api = useApi()
  const client = useQueryClient()
  const [onTheirWay] = useState(() => new Map<string, Promise<Answer<R>>>())
  const sent = async (input: Input<R>): Promise<Answer<R>> =>
    api(route, ...([completed === undefined ? input : await completed(input)] as unknown as Args<R>))
  const readAgain = (): Promise<unknown> => Promise.all(outdates.map((read) => client.invalidateQueries({ queryKey: [read] })))
  return useMutation<Answer<R>, ApiError, Input<R>>({
    // The second click of a double click comes before the button is disabled, so it shares the request of the first.
    mutationFn: (input) => {
      const name = JSON.stringify(input)
      const same = onTheirWay.get(name)
      if (same !== undefined) return same
      const answer = sent(input).finally(() => onTheirWay.delete(name))
      onTheirWay.set(name, answer)
      return answer
    },
    onSuccess: () => Promise.race([readAgain(), new Promise((resolve) => setTimeout(resolve, READ_AGAIN_LIMIT_MS))]),
    onError: (error) => {
      if (isOutdating(error)) void readAgain()
    },
  })
}
