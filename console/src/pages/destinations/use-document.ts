import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { reached, refusalOf, type ApiError } from '../../api/client.ts'
import { destinationWords, type DestinationWords, type OpenApiDocument } from './document.ts'

/** The types of destinations. The document is public, and does not change while a gateway runs. */
export const useDestinationWords = (): UseQueryResult<DestinationWords, ApiError> =>
  useQuery<DestinationWords, ApiError>({ queryKey: ['/openapi.json', 'destinations'], queryFn: ({ signal }) => read(signal), staleTime: Infinity })

async function read(signal: AbortSignal): Promise<DestinationWords> {
  const response = await reached(() => fetch('/openapi.json', { signal }))
  if (!response.ok) throw refusalOf(response.status, await response.text().catch(() => ''))
  return destinationWords((await reached(() => response.json())) as OpenApiDocument)
}
