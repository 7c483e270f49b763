import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { Api, ApiError } from '../../api/client.ts'
import { useApi } from '../../api/hooks.ts'
import type { ObservabilityDestination } from '../../api/schema.ts'

const LIST = 'GET /api/v1/observability/destinations'
/** The API's maximum. */
const PAGE = 100

/** All destinations of these workspaces: the API lists one workspace at a time. Undefined: the workspaces are not known yet. */
export function useDestinations(workspaces: readonly string[] | undefined): UseQueryResult<readonly ObservabilityDestination[], ApiError> {
  const api = useApi()
  return useQuery<readonly ObservabilityDestination[], ApiError>({
    // The key begins with the route, so that a change that outdates the route outdates this.
    queryKey: [LIST, { workspaces }],
    queryFn: async ({ signal }) => (await Promise.all((workspaces ?? []).map((id) => allOf(api, id, signal)))).flat(),
    enabled: workspaces !== undefined,
    placeholderData: keepPreviousData,
  })
}

async function allOf(api: Api, workspace: string, signal: AbortSignal): Promise<readonly ObservabilityDestination[]> {
  const all: ObservabilityDestination[] = []
  for (;;) {
    const { data, total_count: total } = await api(LIST, { query: { workspace_id: workspace, limit: PAGE, offset: all.length } }, signal)
    all.push(...data)
    if (data.length === 0 || all.length >= total) return all
  }
}
