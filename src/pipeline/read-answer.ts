import { GatewayError } from '../core/error.ts'
import type { Exchange } from '../lib/http-client.ts'
import { framingOf, tellsFraming, type Framing } from './framing.ts'

/** What was read and not yet decoded. Taken out of it, as a stream may be open for an hour: nothing that came over it stays in memory meanwhile. */
export type Reads = (readonly Buffer[])[]

/**
 * Reads until it can be told what the bytes are, as the first read may be a heartbeat of blank lines, or one byte. `framed`: how they are cut into
 * events; undefined for a whole JSON document.
 */
export async function beginReading(
  exchange: Exchange,
  contentType: string,
  framing: Framing,
): Promise<{ readonly reads: Reads; readonly framed: Framing | undefined }> {
  let first: readonly Buffer[] = []
  while (!tellsFraming(first)) {
    const more = await exchange.read()
    if (more === undefined) break
    first = first.length === 0 ? more : [...first, ...more]
  }
  if (first.length === 0) throw new GatewayError('provider_unavailable', 'The provider answered with an empty body', { source: 'provider' })
  return { reads: [first], framed: framingOf(contentType, framing, first) }
}

export const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('provider_unavailable', `The provider's answer is larger than ${maxBytes} bytes`, { source: 'provider' })

export async function readText(exchange: Exchange, first: readonly Buffer[] | undefined, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for (let read = first ?? (await exchange.read()); read !== undefined; read = await exchange.read()) {
    for (const chunk of read) {
      size += chunk.length
      chunks.push(chunk)
    }
    if (size > maxBytes) throw tooLarge(maxBytes)
  }
  return chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString()
}
