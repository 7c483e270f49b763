import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../core/error.ts'

/**
 * The raw body, counted as it arrives: neither a missing nor a lying `content-length` gets past the limit.
 * Throws GatewayError `payload_too_large`, `invalid_request` (an encoding we do not open), or `timeout` when the caller stops sending.
 */
export function readBody(request: IncomingMessage, limitBytes: number, stallMs = 30_000): Promise<Buffer> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    return Promise.reject(
      new GatewayError('invalid_request', `content-encoding ${encoding.slice(0, 40)} is not accepted; send the body uncompressed`),
    )
  }
  const tooLarge = (): GatewayError =>
    new GatewayError('payload_too_large', `The body is larger than the limit of ${limitBytes} bytes`, { headers: { connection: 'close' } })
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const timer = setTimeout(() => {
      settle()
      reject(new GatewayError('timeout', 'The body came too slowly', { headers: { connection: 'close' } }))
    }, stallMs)
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      timer.refresh()
      if (size > limitBytes) {
        settle()
        reject(tooLarge())
      } else chunks.push(chunk)
    }
    const onEnd = (): void => {
      settle()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    }
    const onGone = (): void => {
      settle()
      reject(new GatewayError('invalid_request', 'The connection closed before the whole body had arrived'))
    }
    const settle = (): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
    }
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}
