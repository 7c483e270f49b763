import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import type { Egress } from '../lib/egress.ts'

const compress = promisify(gzip)
/** Below this the header costs more than compression saves. */
const MIN_COMPRESSED = 1_024
const MAX_RESPONSE = 4 * 1024 * 1024

/** Puts a request on the wire. Rejects with EgressError when no answer came. */
export type Transport = (request: OutgoingRequest, timeoutMs: number, signal: AbortSignal) => Promise<OutgoingResponse>

/** Destinations' way out: compression in the thread pool, then the safe client. */
export function createTransport(egress: Egress): Transport {
  return async (request, timeoutMs, signal) => {
    const zip = request.compress === 'gzip' && request.body !== undefined && request.body.length >= MIN_COMPRESSED
    const body = zip ? await compress(request.body ?? '', { level: 1 }) : request.body
    return egress.request({
      method: request.method,
      url: request.url,
      headers: zip ? { ...request.headers, 'content-encoding': 'gzip' } : request.headers,
      ...(body === undefined ? {} : { body }),
      timeoutMs,
      maxResponseBytes: MAX_RESPONSE,
      signal,
    })
  }
}
