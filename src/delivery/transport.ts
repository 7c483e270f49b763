import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { decompressor } from '../lib/decompressor.ts'
import type { Egress } from '../lib/egress.ts'

const compress = promisify(gzip)
/** Below this size the header costs more than compression saves. */
const MIN_COMPRESSED = 1_024
const MAX_RESPONSE = 4 * 1024 * 1024

/** Sends one request. Rejects with EgressError if no answer came. */
export type Transport = (request: OutgoingRequest, timeoutMs: number, signal: AbortSignal) => Promise<OutgoingResponse>

/** The HTTP client of destinations: compression in the thread pool, around the safe egress. */
export function createTransport(egress: Egress): Transport {
  return async (request, timeoutMs, signal) => {
    const zip = request.compress === 'gzip' && request.body !== undefined && request.body.length >= MIN_COMPRESSED
    const body = zip ? await compress(request.body ?? '', { level: 1 }) : request.body
    const response = await egress.request({
      method: request.method,
      url: request.url,
      headers: zip ? { ...request.headers, 'content-encoding': 'gzip' } : request.headers,
      ...(body === undefined ? {} : { body }),
      timeoutMs,
      maxResponseBytes: MAX_RESPONSE,
      signal,
    })
    const encoding = response.headers['content-encoding']
    return encoding === undefined ? response : { ...response, body: await unfold(response.body, encoding) }
  }
}

/** We do not ask for compressed answers, but some are. A body that cannot be read is left out, because the status says what counts. */
async function unfold(body: Buffer, encoding: string): Promise<Buffer> {
  const inflate = decompressor(encoding)
  if (inflate === 'none') return body
  if (inflate === undefined || body.length === 0) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  let room = MAX_RESPONSE
  return new Promise((resolve) => {
    const done = (): void => resolve(Buffer.concat(chunks))
    inflate.on('end', done).on('error', done)
    inflate.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, room))
      room -= chunk.length
      if (room > 0) return
      inflate.destroy()
      done()
    })
    inflate.end(body)
  })
}
