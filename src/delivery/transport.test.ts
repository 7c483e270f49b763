import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { classifyOtlp } from '../destinations/shared/otlp-classify.ts'
import { createEgress, type Egress } from '../lib/egress.ts'
import { createTransport } from './transport.ts'

const MEGABYTE = 1024 * 1024
const PARTIAL = '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
let server: Server
let egress: Egress
afterEach(async () => {
  await egress.close()
  server.close()
})

/** What a destination makes of an answer with this body, compressed as told. */
async function answered(body: Buffer, encoding: string, status = 200) {
  server = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  egress = createEgress({ allowPrivate: true })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return createTransport(egress)({ method: 'POST', url, headers: {}, body: '{}' }, 5_000, new AbortController().signal)
}

describe('answers that come compressed', () => {
  it.each([
    ['gzip', gzipSync(PARTIAL)],
    ['deflate', deflateSync(PARTIAL)],
    ['br', brotliCompressSync(PARTIAL)],
    ['identity', Buffer.from(PARTIAL)],
  ])('are read, and records refused inside one are counted (%s)', async (encoding, body) => {
    expect(classifyOtlp(await answered(body, encoding))).toMatchObject({ kind: 'partial', rejectedCount: 2, message: 'too old' })
  })

  it('keep their error messages', async () => {
    expect(classifyOtlp(await answered(gzipSync('{"error":"unknown project"}'), 'gzip', 400))).toMatchObject({
      kind: 'reject',
      message: 'HTTP 400: {"error":"unknown project"}',
    })
  })

  it.each([
    ['damaged', Buffer.from('no gzip at all'), 'gzip'],
    ['compressed twice', gzipSync(gzipSync(PARTIAL)), 'gzip, gzip'],
  ])('are what their status says when they cannot be read: %s', async (_name, body, encoding) => {
    const response = await answered(body, encoding)
    expect(response.body.length).toBe(0)
    expect(classifyOtlp(response)).toEqual({ kind: 'delivered' })
  })

  it('are decompressed up to the size limit of any answer', async () => {
    expect((await answered(gzipSync(Buffer.alloc(64 * MEGABYTE)), 'gzip')).body.length).toBe(4 * MEGABYTE)
  })
})
