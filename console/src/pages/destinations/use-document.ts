import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ApiError } from '../../api/client.ts'
import { readDescription } from '../../api/description.ts'
import { destinationWords, type DestinationWords, type OpenApiDocument } from './document.ts'

/** The types of destinations, which do not change while a gateway runs. */
export const useDestinationWords = (): UseQueryResult<DestinationWords, ApiError> =>
  useQuery<DestinationWords, ApiError>({
    queryKey: ['/openapi.json', 'destinations'],
    queryFn: async ({ signal }) => destinationWords(await readDescription<OpenApiDocument>({ signal })),
    staleTime: Infinity,
  })
