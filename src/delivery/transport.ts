import { gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { OutgoingRequest, OutgoingResponse } from '../core/destination.ts'
import { decompressor } from '../lib/decompressor.ts'
import type { Egress } from '../lib/egress.ts'

const compress = promisify(gzip)
/** Below this the header costs more than compression saves. */
const MIN_COMPRESSED = 1_024
const MAX_RESPONSE = 4 * 1024 * 1024

/** Puts a request on the wire. Rejects with EgressError when no answer came. */
export type Transport = (request: OutgoingRequest, timeoutMs: number, signal: AbortSignal) => Promise<OutgoingResponse>

/** Destinations' way out: compression in the thread pool, then the safe client; and back. */
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

/** Nobody asks for compression, and some answer so all the same. What cannot be read is left out: the status has said what counts. */
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
