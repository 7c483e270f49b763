import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Api, ApiError } from '../../api/client.ts'
import { fewAtATime } from '../../api/few-at-a-time.ts'
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

/** A few workspaces at a time: there may be thousands. */
export async function destinationsOf(api: Api, workspaces: readonly string[], signal: AbortSignal): Promise<readonly ObservabilityDestination[]> {
  return (await fewAtATime(workspaces, AT_A_TIME, (id) => allOf(api, id, signal))).flat()
}

async function allOf(api: Api, workspace: string, signal: AbortSignal): Promise<readonly ObservabilityDestination[]> {
  const all: ObservabilityDestination[] = []
  for (;;) {
    const { data, total_count: total } = await api(LIST, { query: { workspace_id: workspace, limit: PAGE, offset: all.length } }, signal)
    all.push(...data)
    if (data.length === 0 || all.length >= total) return all
  }
}
