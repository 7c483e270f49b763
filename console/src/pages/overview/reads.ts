import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Answer, Api, ApiError } from '../../api/client.ts'
import { useApi } from '../../api/hooks.ts'

export type Workspace = Answer<'GET /api/v1/workspaces'>['data'][number]
export type ApiKey = Answer<'GET /api/v1/keys'>['data'][number]
type Status = Answer<'GET /api/v1/observability/destinations/{id}/status'>['data']

/** What the API lists at once. */
const PAGE = 100
/** Pages of one list: beyond that nobody looks for one by its name. */
const PAGES = 10
/** Keys and destinations are listed by workspace, a call for each. */
const MOST_WORKSPACES = 50
/** What becomes of a destination is a call of its own, too. */
const MOST_ASKED = 20

async function everyPage<T>(read: (offset: number) => Promise<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = []
  for (let page = 0; page < PAGES; page++) {
    const rows = await read(page * PAGE)
    all.push(...rows)
    if (rows.length < PAGE) break
  }
  return all
}

/** All workspaces the key sees. */
export function useWorkspaces(): UseQueryResult<readonly Workspace[], ApiError> {
  const api = useApi()
  return useQuery<readonly Workspace[], ApiError>({
    queryKey: ['GET /api/v1/workspaces', 'every page'],
    queryFn: ({ signal }) => everyPage(async (offset) => (await api('GET /api/v1/workspaces', { query: { limit: PAGE, offset } }, signal)).data),
  })
}

export interface Counted {
  readonly count: number
  /** There may be more than were counted. */
  readonly isPart: boolean
}

export interface Everywhere<T> {
  readonly found: readonly T[]
  /** There are more workspaces than were asked about. */
  readonly isPart: boolean
}

type Ask<T> = (api: Api, workspace: string, signal: AbortSignal) => Promise<readonly T[]>

function useEverywhere<T>(name: string, workspaces: readonly Workspace[] | undefined, ask: Ask<T>): UseQueryResult<Everywhere<T>, ApiError> {
  const api = useApi()
  const ids = workspaces?.slice(0, MOST_WORKSPACES).map(({ id }) => id)
  return useQuery<Everywhere<T>, ApiError>({
    queryKey: [name, 'everywhere', ids],
    enabled: ids !== undefined,
    queryFn: async ({ signal }) => ({
      found: (await Promise.all((ids ?? []).map((id) => ask(api, id, signal)))).flat(),
      isPart: (workspaces?.length ?? 0) > MOST_WORKSPACES,
    }),
  })
}

const askForKeys: Ask<ApiKey> = (api, workspace_id, signal) =>
  everyPage(async (offset) => (await api('GET /api/v1/keys', { query: { workspace_id, offset, include_disabled: 'true' } }, signal)).data)

/** Inference keys, those that are off included: what they spent is part of the figures. */
export const useKeys = (workspaces: readonly Workspace[] | undefined): UseQueryResult<Everywhere<ApiKey>, ApiError> =>
  useEverywhere('GET /api/v1/keys', workspaces, askForKeys)

export interface DestinationState {
  readonly enabled: boolean
  /** Of the first that are on. */
  readonly status?: Status
}

const askForDestinations: Ask<DestinationState> = async (api, workspace_id, signal) => {
  const listed = await everyPage(
    async (offset) => (await api('GET /api/v1/observability/destinations', { query: { workspace_id, offset, limit: PAGE } }, signal)).data,
  )
  const asked = new Set(
    listed
      .filter(({ enabled }) => enabled)
      .slice(0, MOST_ASKED)
      .map(({ id }) => id),
  )
  return Promise.all(
    listed.map(async ({ id, enabled }): Promise<DestinationState> => {
      if (!asked.has(id)) return { enabled }
      return { enabled, status: (await api('GET /api/v1/observability/destinations/{id}/status', { params: { id } }, signal)).data }
    }),
  )
}

/** Destinations with what becomes of them. */
export const useDestinations = (workspaces: readonly Workspace[] | undefined): UseQueryResult<Everywhere<DestinationState>, ApiError> =>
  useEverywhere('GET /api/v1/observability/destinations', workspaces, askForDestinations)

/** What is looked at is a bounded number of calls a page: of a busy gateway the latest few thousand. */
const FAILED_PAGES = 5
const FAILED_WITHIN_MS = 86_400_000
const READ_FAILED_EVERY_MS = 60_000

/** Calls of the last 24 hours that failed, of all workspaces the key sees. */
export function useFailed(): UseQueryResult<Counted, ApiError> {
  const api = useApi()
  return useQuery<Counted, ApiError>({
    queryKey: ['GET /api/v1/generations', 'failed'],
    refetchInterval: READ_FAILED_EVERY_MS,
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - FAILED_WITHIN_MS).toISOString()
      let count = 0
      let cursor: string | undefined
      for (let page = 0; page < FAILED_PAGES; page++) {
        const { data, next_cursor } = await api('GET /api/v1/generations', { query: { status: 'failed', from, limit: PAGE, cursor } }, signal)
        count += data.length
        if (next_cursor === null) return { count, isPart: false }
        cursor = next_cursor
      }
      return { count, isPart: true }
    },
  })
}
