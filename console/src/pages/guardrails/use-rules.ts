import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { ApiError, reached } from '../../api/client.ts'
import { ruleFields, type ApiDescription, type RuleField } from './rule-schema.ts'

/** The rules that this gateway supports, which only change with its version. */
export function useRules(): UseQueryResult<readonly RuleField[]> {
  return useQuery({
    queryKey: ['guardrails', 'rules'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const response = await reached(() => fetch('/openapi.json', { signal }))
      if (!response.ok) throw new ApiError(response.status, 'unknown', 'The gateway does not list its rules (/openapi.json).')
      return ruleFields((await reached(() => response.json())) as ApiDescription)
    },
  })
}
