import { GatewayError } from '../../core/error.ts'
import { EgressError, type Egress } from '../../lib/egress.ts'
import type { Secret } from '../../lib/secret.ts'

export interface ServiceCall {
  /** For messages. */
  readonly name: string
  readonly url: string
  readonly key?: Secret
  readonly headers?: { readonly [name: string]: string }
  readonly body: string | Buffer
  readonly egress: Pick<Egress, 'request'>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** Posts to a service the operator has chosen and reads its JSON. Throws GatewayError without a word of the service's own. */
export async function askService(call: ServiceCall): Promise<unknown> {
  const { name, url, key, body, egress, signal, timeoutMs, maxBytes } = call
  try {
    const response = await egress.request({
      method: 'POST',
      url,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...call.headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key.reveal()}` }),
      },
      body,
      signal,
      timeoutMs,
      maxResponseBytes: maxBytes,
    })
    if (response.status !== 200)
      throw new GatewayError('provider_unavailable', `${name} answered with status ${response.status}`, {
        upstreamStatus: response.status,
        failover: 'never',
      })
    return JSON.parse(response.body.toString()) as unknown
  } catch (error) {
    if (error instanceof GatewayError) throw error
    const why = error instanceof EgressError ? error.message : 'gave an answer that is not JSON'
    throw new GatewayError('provider_unavailable', `${name}: ${why}`, { cause: error, failover: 'never' })
  }
}

type Fields = { readonly [field: string]: unknown }

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
