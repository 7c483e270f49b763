import { answerIn, ApiError, reached, refusalOf } from './client.ts'

export interface ReadDescriptionOptions {
  readonly signal: AbortSignal
  readonly fetch?: typeof fetch
}

/** The gateway's OpenAPI document, which is public and changes only with its version. Rejects with `ApiError`. */
export async function readDescription<T>({ signal, fetch: call = (url, init) => fetch(url, init) }: ReadDescriptionOptions): Promise<T> {
  const response = await reached(() => call('/openapi.json', { signal }))
  if (!response.ok) {
    const { status, errorType, message } = refusalOf(response.status, await response.text().catch(() => ''))
    // A proxy may have closed this route alone.
    throw new ApiError(status, errorType, `/openapi.json: ${message}`)
  }
  return (await answerIn(response, ['openapi'])) as T
}
