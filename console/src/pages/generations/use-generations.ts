import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { useApi } from '../../api/hooks.ts'
import type { GenerationSummary } from '../../api/schema.ts'
import { useStableError } from '../../ui/use-stable-error.ts'
import { queryOf, type Filters } from './filters.ts'

const LIVE_MS = 3_000
const ENOUGH = 20
/** How many pages are searched per request of the user; each is a few thousand records at most. */
const AT_A_TIME = 12

/** How far to search, for one set of filters. */
interface Goal {
  readonly filters: string
  readonly rows: number
  readonly pages: number
}

export interface Generations {
  readonly rows: readonly GenerationSummary[]
  readonly error: ApiError | null
  readonly isLoading: boolean
  /** Something was read, so an empty list means that there are no matches. */
  readonly isRead: boolean
  readonly isLooking: boolean
  /** The rows match the previous filters, and are shown until matching ones arrive. */
  readonly isOfBefore: boolean
  /** Older records are shown, so new ones do not appear by themselves. */
  readonly isPaused: boolean
  /** Undefined if there is no more. */
  readonly more: (() => void) | undefined
  readonly again: () => void
  /** Back to the newest records, which appear by themselves. */
  readonly goBack: () => void
}

/**
 * Matching records, newest first. The gateway examines a bounded number at a time, so a page may be short if a filter matches little. Further pages are
 * then loaded automatically, until there is enough to see or the limit is reached where the user decides whether to go on.
 */
export function useGenerations(filters: Filters, isLive: boolean): Generations {
  const api = useApi()
  const client = useQueryClient()
  const [wanted, want] = useState<Goal>()
  const named = JSON.stringify(filters)
  const isAsked = wanted?.filters === named
  const key = ['GET /api/v1/generations', filters]
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => api('GET /api/v1/generations', { query: { ...queryOf(filters, Date.now()), cursor: pageParam } }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // No refresh for a user who has gone further back, because nothing may move while they read. If several pages had to be searched, all of them are
    // searched again, but less often, so that the gateway's work stays that of one page.
    refetchInterval: ({ state }) => (isLive && !isAsked ? LIVE_MS * (state.data?.pages.length ?? 1) : false),
  })
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch, isPlaceholderData } = query
  const stableError = useStableError(error as ApiError | null, data !== undefined)
  const pages = data?.pages ?? []
  const rows = pages.flatMap((page) => page.data)
  const goal = isAsked ? wanted : { rows: ENOUGH, pages: AT_A_TIME }
  const goOn = hasNextPage && !isFetching && !isPlaceholderData && error === null && rows.length < goal.rows && pages.length < goal.pages
  useEffect(() => {
    if (goOn) void fetchNextPage()
  }, [goOn, fetchNextPage])
  const more = (): void => {
    want({ filters: named, rows: rows.length + ENOUGH, pages: pages.length + AT_A_TIME })
    // Also repeats the first page after an error.
    void fetchNextPage()
  }
  return {
    rows,
    error: stableError,
    isLoading: data === undefined && stableError === null,
    isRead: data !== undefined,
    isLooking: isFetchingNextPage || goOn,
    isOfBefore: isPlaceholderData,
    isPaused: isLive && isAsked,
    more: hasNextPage ? more : undefined,
    again: () => void refetch(),
    goBack: () => {
      want(undefined)
      client.setQueryData<typeof data>(key, (now) => now && { pages: now.pages.slice(0, 1), pageParams: now.pageParams.slice(0, 1) })
      void refetch()
    },
  }
}
