import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Answer, ApiError, Args, Input, Route } from './client.ts'
import { useApi } from './hooks.ts'

/** The page size of every list in the API. */
const PAGE = 100

type Listed<R extends Route> = Answer<R> extends { readonly data: readonly (infer Row)[] } ? Row : never
/** Routes that list from an offset. */
type Listing = {
  [R in Extract<Route, `GET ${string}`>]: [Listed<R>] extends [never]
    ? never
    : Input<R> extends { readonly query?: infer Q }
      ? 'offset' extends keyof NonNullable<Q>
        ? R
        : never
      : never
}[Extract<Route, `GET ${string}`>]

export interface PagesOptions {
  /** Load all pages, because something is searched for or counted in the whole list. */
  readonly all?: boolean
  /** False: do not fetch yet, because the input is not known. */
  readonly when?: boolean
  /** Polling interval in milliseconds. Default: refetch when the tab gets the focus. */
  readonly every?: number
}

export interface Pages<Row> {
  /** In the shape that `Loaded` takes: the rows read so far. */
  readonly of: {
    readonly data: readonly Row[] | undefined
    readonly error: ApiError | null
    readonly refetch: () => unknown
    readonly isPlaceholderData: boolean
  }
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly more: () => void
}

/** A list of any length, loaded page by page. */
export function usePages<R extends Listing>(route: R, input: Input<R>, { all = false, when = true, every }: PagesOptions = {}): Pages<Listed<R>> {
  const api = useApi()
  const { query = {}, ...rest } = input as { readonly query?: object }
  const read = useInfiniteQuery<readonly Listed<R>[], ApiError, readonly Listed<R>[], readonly unknown[], number>({
    // The key begins with the route, so that a change that outdates the route outdates every page.
    queryKey: [route, 'pages', input],
    queryFn: async ({ pageParam, signal }) => {
      const sized = route === 'GET /api/v1/keys' ? {} : { limit: PAGE }
      const page = (await api(route, ...([{ ...rest, query: { ...query, ...sized, offset: pageParam } }, signal] as unknown as Args<R>))) as {
        readonly data: readonly Listed<R>[]
      }
      return page.data
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < PAGE ? undefined : pages.length * PAGE),
    select: ({ pages }) => pages.flat(),
    enabled: when,
    placeholderData: keepPreviousData,
    ...(every === undefined ? {} : { refetchInterval: every }),
  })
  const { data, error, refetch, isPlaceholderData, hasNextPage, isFetchingNextPage, isError, fetchNextPage } = read
  useEffect(() => {
    if (all && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [all, hasNextPage, isFetchingNextPage, isError, fetchNextPage])
  return { of: { data, error, refetch, isPlaceholderData }, hasMore: hasNextPage, isReading: isFetchingNextPage, more: () => void fetchNextPage() }
}
