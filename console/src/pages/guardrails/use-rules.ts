import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { readDescription } from '../../api/description.ts'
import { ruleFields, type ApiDescription, type RuleField } from './rule-schema.ts'

/** The rules that this gateway supports, which only change with its version. */
export function useRules(): UseQueryResult<readonly RuleField[]> {
  return useQuery({
    queryKey: ['guardrails', 'rules'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => ruleFields(await readDescription<ApiDescription>({ signal })),
  })
}
