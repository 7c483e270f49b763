import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Api, ApiError } from '../../api/client.ts'
import { useApi } from '../../api/hooks.ts'
import type { ObservabilityDestination } from '../../api/schema.ts'

const LIST = 'GET /api/v1/observability/destinations'
/** The API's maximum. */
const PAGE = 100
/** Of the six requests that browsers send to a gateway at a time, so that others get through. */
const AT_A_TIME = 4

/** All destinations of these workspaces: the API lists one workspace at a time. Undefined: the workspaces are not known yet. */
export function useDestinations(workspaces: readonly string[] | undefined): UseQueryResult<readonly ObservabilityDestination[], ApiError> {
  const api = useApi()
  return useQuery<readonly ObservabilityDestination[], ApiError>({
    // The key begins with the route, so that a change that outdates the route outdates this.
    queryKey: [LIST, { workspaces }],
    queryFn: ({ signal }) => destinationsOf(api, workspaces ?? [], signal),
    enabled: workspaces !== undefined,
    placeholderData: keepPreviousData,
  })
}

/**
 * A few requests at a time: a browser refuses thousands together, and the time limit of those that wait in its queue runs. The first failure ends the
 * rest.
 */
export async function destinationsOf(api: Api, workspaces: readonly string[], signal: AbortSignal): Promise<readonly ObservabilityDestination[]> {
  const found = new Map<string, readonly ObservabilityDestination[]>()
  // Shared, so that each workspace is read once.
  const waiting = workspaces.values()
  let hasFailed = false
  const readOn = async (): Promise<void> => {
    for (const id of waiting) {
      if (hasFailed) return
      found.set(id, await allOf(api, id, signal))
    }
  }
  const readers = Array.from({ length: AT_A_TIME }, () =>
    readOn().catch((error: unknown) => {
      hasFailed = true
      throw error
    }),
  )
  await Promise.all(readers)
  return workspaces.flatMap((id) => found.get(id) ?? [])
}

async function allOf(api: Api, workspace: string, signal: AbortSignal): Promise<readonly ObservabilityDestination[]> {
  const all: ObservabilityDestination[] = []
  for (;;) {
    const { data, total_count: total } = await api(LIST, { query: { workspace_id: workspace, limit: PAGE, offset: all.length } }, signal)
    all.push(...data)
    if (data.length === 0 || all.length >= total) return all
  }
}
