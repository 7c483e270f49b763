import type { Connection } from '../core/provider.ts'
import type { HttpClient } from '../lib/http-client.ts'
import { unknownAuthority } from './reason.ts'

export interface ProviderFinding {
  readonly fault: boolean
  readonly text: string
}

/** Whether a provider's address answers within the limit (milliseconds). Sends no prompt and no credential. */
export async function probeProvider(
  http: Pick<HttpClient, 'send'>,
  connection: Pick<Connection, 'baseUrl' | 'transport' | 'timeouts' | 'credentials'>,
  limitMs: number,
): Promise<ProviderFinding> {
  const { baseUrl, transport, timeouts, credentials } = connection
  if (transport !== undefined) return { fault: false, text: 'built in' }
  const exchange = http.send({ url: baseUrl, method: 'GET', headers: {}, connectTimeoutMs: timeouts.connect })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    exchange.cancel()
  }, limitMs)
  try {
    const { status } = await exchange.head
    return { fault: false, text: `${baseUrl} reachable (HTTP ${status} without credentials), ${credentials.length} credential(s)` }
  } catch (error) {
    return {
      fault: true,
      text: `${baseUrl} not reachable: ${isLate ? `no answer within ${limitMs / 1_000} s` : (unknownAuthority(error) ?? (error as Error).message)}`,
    }
  } finally {
    clearTimeout(timer)
    exchange.cancel()
  }
}
