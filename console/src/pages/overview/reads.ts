import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Answer, Api, ApiError } from '../../api/client.ts'
import { fewAtATime } from '../../api/few-at-a-time.ts'
import { useApi } from '../../api/hooks.ts'

export type Workspace = Answer<'GET /api/v1/workspaces'>['data'][number]
export type ApiKey = Answer<'GET /api/v1/keys'>['data'][number]
type Status = Answer<'GET /api/v1/observability/destinations/{id}/status'>['data']

/** The API's page size. */
const PAGE = 100
/** The most pages of one list: in a longer one nobody would look for a name. */
const PAGES = 10
/** Keys and destinations are listed per workspace, with a call for each. */
const MOST_WORKSPACES = 50
/** Of the six requests that browsers send to a gateway at a time: keys and destinations are read side by side, and the charts must get through. */
const AT_A_TIME = 2
/** The most destinations whose state is requested, because each takes a call of its own. */
const MOST_ASKED = 20

export interface Listed<T> {
  readonly found: readonly T[]
  /** There may be more than were read. */
  readonly isPart: boolean
}

async function everyPage<T>(read: (offset: number) => Promise<readonly T[]>): Promise<Listed<T>> {
  const found: T[] = []
  for (let page = 0; page < PAGES; page++) {
    const rows = await read(page * PAGE)
    found.push(...rows)
    if (rows.length < PAGE) return { found, isPart: false }
  }
  return { found, isPart: true }
}

/** The workspaces that the key can see. */
export function useWorkspaces(): UseQueryResult<Listed<Workspace>, ApiError> {
  const api = useApi()
  return useQuery<Listed<Workspace>, ApiError>({
    queryKey: ['GET /api/v1/workspaces', 'every page'],
    queryFn: ({ signal }) => everyPage(async (offset) => (await api('GET /api/v1/workspaces', { query: { limit: PAGE, offset } }, signal)).data),
  })
}

export interface Counted {
  readonly count: number
  /** There may be more than were counted. */
  readonly isPart: boolean
}

type Ask<T> = (api: Api, workspace: string, signal: AbortSignal) => Promise<Listed<T>>

function useEverywhere<T>(name: string, workspaces: readonly Workspace[] | undefined, ask: Ask<T>): UseQueryResult<Listed<T>, ApiError> {
  const api = useApi()
  const ids = workspaces?.slice(0, MOST_WORKSPACES).map(({ id }) => id)
  return useQuery<Listed<T>, ApiError>({
    queryKey: [name, 'everywhere', ids],
    enabled: ids !== undefined,
    queryFn: async ({ signal }) => {
      const { found, isPart } = await everywhere(api, ids ?? [], ask, signal)
      return { found, isPart: isPart || (workspaces?.length ?? 0) > MOST_WORKSPACES }
    },
  })
}

export async function everywhere<T>(api: Api, workspaces: readonly string[], ask: Ask<T>, signal: AbortSignal): Promise<Listed<T>> {
  const lists = await fewAtATime(workspaces, AT_A_TIME, (id) => ask(api, id, signal))
  return { found: lists.flatMap(({ found }) => found), isPart: lists.some(({ isPart }) => isPart) }
}

export const askForKeys: Ask<ApiKey> = (api, workspace_id, signal) =>
  everyPage(async (offset) => (await api('GET /api/v1/keys', { query: { workspace_id, offset, include_disabled: 'true' } }, signal)).data)

/** Inference keys, including disabled ones: their spending is part of the figures. */
export const useKeys = (workspaces: readonly Workspace[] | undefined): UseQueryResult<Listed<ApiKey>, ApiError> =>
  useEverywhere('GET /api/v1/keys', workspaces, askForKeys)

export interface DestinationState {
  readonly enabled: boolean
  /** Only for the first enabled destinations. */
  readonly status?: Status
}

export const askForDestinations: Ask<DestinationState> = async (api, workspace_id, signal) => {
  const listed = await everyPage(
    async (offset) => (await api('GET /api/v1/observability/destinations', { query: { workspace_id, offset, limit: PAGE } }, signal)).data,
  )
  const withStatus = new Set(
    listed.found
      .filter(({ enabled }) => enabled)
      .slice(0, MOST_ASKED)
      .map(({ id }) => id),
  )
  // One after the other: so many workspaces are asked at a time already.
  const found = await fewAtATime(listed.found, 1, async ({ id, enabled }): Promise<DestinationState> => {
    if (!withStatus.has(id)) return { enabled }
    return { enabled, status: (await api('GET /api/v1/observability/destinations/{id}/status', { params: { id } }, signal)).data }
  })
  return { found, isPart: listed.isPart }
}

/** Destinations with the state of their deliveries. */
export const useDestinations = (workspaces: readonly Workspace[] | undefined): UseQueryResult<Listed<DestinationState>, ApiError> =>
  useEverywhere('GET /api/v1/observability/destinations', workspaces, askForDestinations)

/** The gateway examines a bounded number of calls per page, on a busy gateway the latest few thousand. */
const FAILED_PAGES = 5
const FAILED_WITHIN_MS = 86_400_000
const READ_FAILED_EVERY_MS = 60_000

/** Failed calls of the last 24 hours, in all workspaces that the key can see. */
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
