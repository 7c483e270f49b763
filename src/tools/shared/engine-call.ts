import { GatewayError } from '../../core/error.ts'
import { EgressError, type Egress } from '../../lib/egress.ts'
import type { ReadyEngine } from './dependencies.ts'
import type { EngineRequest } from './search-engine.ts'
import { parseJsonText } from '../../lib/json.ts'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 8 * 1024 * 1024

/** Calls a search service and parses its JSON. Throws GatewayError, whose message may be shown to a model and contains nothing from the service. */
export async function callEngine(
  egress: Egress,
  { engine, baseUrl, headers }: ReadyEngine,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) }
  const type: { readonly [name: string]: string } = request.body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const response = await egress.request({
      method: request.method,
      url: baseUrl + request.path,
      headers: { accept: 'application/json', ...type, ...request.headers, ...headers },
      ...body,
      signal,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
    })
    if (response.status !== 200)
      throw new GatewayError('provider_unavailable', `The search engine ${engine.name} answered with status ${response.status}`)
    return parseJsonText(response.body.toString())
  } catch (error) {
    if (error instanceof GatewayError) throw error
    const why = error instanceof EgressError ? error.message : 'gave an answer that is not JSON'
    throw new GatewayError('provider_unavailable', `The search engine ${engine.name}: ${why}`, { cause: error })
  }
}
