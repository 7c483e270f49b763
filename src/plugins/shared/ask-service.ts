import { GatewayError } from '../../core/error.ts'
import { parseRetryAfter } from '../../lib/backoff.ts'
import { EgressError, type Egress, type EgressResponse } from '../../lib/egress.ts'
import type { Secret } from '../../lib/secret.ts'
import { parseJsonText } from '../../lib/json.ts'

export interface ServiceCall {
  /** The service's name, for messages. */
  readonly name: string
  readonly url: string
  readonly key?: Secret
  readonly headers?: { readonly [name: string]: string }
  readonly body: string | Buffer
  readonly egress: Pick<Egress, 'request'>
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly now: number
}

/** Statuses by which services report that they cannot read what they were sent: damaged, too large, or of another type. They can still read the next. */
export const OF_THE_CONTENT: ReadonlySet<number> = new Set([400, 413, 415, 422])
/** The service works but accepts no more requests for now. */
const BUSY: ReadonlySet<number> = new Set([429, 503])

/** Posts to a service chosen by the operator and parses its JSON. Throws GatewayError, without any text of the service. */
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
    if (response.status !== 200) throw refusal(name, response, call.now)
    return parseJsonText(response.body.toString())
  } catch (error) {
    if (error instanceof GatewayError) throw error
    const why = error instanceof EgressError ? error.message : 'gave an answer that is not JSON'
    throw new GatewayError('provider_unavailable', `${name}: ${why}`, { cause: error, failover: 'never' })
  }
}

function refusal(name: string, { status, headers }: EgressResponse, now: number): GatewayError {
  const retryAfterMs = BUSY.has(status) ? parseRetryAfter(headers['retry-after'], now) : undefined
  return new GatewayError(BUSY.has(status) ? 'provider_overloaded' : 'provider_unavailable', `${name} answered with status ${status}`, {
    upstreamStatus: status,
    failover: 'never',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

type Fields = { readonly [field: string]: unknown }

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
