import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { useApi } from '../../api/hooks.ts'
import type { GenerationSummary } from '../../api/schema.ts'
import { useTold } from '../../ui/use-told.ts'
import { queryOf, type Filters } from './filters.ts'

const LIVE_MS = 3_000
const ENOUGH = 20
/** Pages that are looked through each time somebody asks; each is a few thousand records at most. */
const AT_A_TIME = 12

/** How far is looked, for one set of filters. */
interface Goal {
  readonly filters: string
  readonly rows: number
  readonly pages: number
}

export interface Generations {
  readonly rows: readonly GenerationSummary[]
  readonly error: ApiError | null
  readonly isLoading: boolean
  /** Something was read: no rows are none then. */
  readonly isRead: boolean
  readonly isLooking: boolean
  /** They match other filters, and are shown until those that match come. */
  readonly isOfBefore: boolean
  /** Older records are shown: what is new does not come by itself. */
  readonly isPaused: boolean
  /** Undefined where there is no more. */
  readonly more: (() => void) | undefined
  readonly again: () => void
  /** To the newest records, which come by themselves. */
  readonly goBack: () => void
}

/**
 * Records that match, newest first. The gateway looks at a bounded number at a time, so a page may be short where a filter matches little: then the
 * next is asked for by itself, until there is something to see or it is for its reader to say whether to go on.
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
    // Not for whoever has gone further back: he reads, and nothing may move under him. Pages that were looked through for want of rows
    // are looked through again, as often as keeps the work of the gateway that of one page.
    refetchInterval: ({ state }) => (isLive && !isAsked ? LIVE_MS * (state.data?.pages.length ?? 1) : false),
  })
  const { data, error, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch, isPlaceholderData } = query
  const told = useTold(error as ApiError | null, data !== undefined)
  const pages = data?.pages ?? []
  const rows = pages.flatMap((page) => page.data)
  const goal = isAsked ? wanted : { rows: ENOUGH, pages: AT_A_TIME }
  const goOn = hasNextPage && !isFetching && !isPlaceholderData && error === null && rows.length < goal.rows && pages.length < goal.pages
  useEffect(() => {
    if (goOn) void fetchNextPage()
  }, [goOn, fetchNextPage])
  const more = (): void => {
    want({ filters: named, rows: rows.length + ENOUGH, pages: pages.length + AT_A_TIME })
    // The first of them also where the last one was refused.
    void fetchNextPage()
  }
  return {
    rows,
    error: told,
    isLoading: data === undefined && told === null,
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
