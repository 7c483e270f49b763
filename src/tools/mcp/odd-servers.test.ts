import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { createEgress, type Egress } from '../../lib/egress.ts'
import { inJson, startRawMcpServer, type RawMcpServer } from '../../testing/raw-mcp-server.ts'
import { McpConnection } from './connection.ts'
import { McpPool } from './pool.ts'
import type { RemoteResult } from './result.ts'

/** Servers that keep to HTTP and not to the protocol, or to neither. */
let server: RawMcpServer
let egress: Egress
let pool: McpPool
beforeEach(async () => {
  server = await startRawMcpServer()
  egress = createEgress({ allowPrivate: true })
  pool = new McpPool({
    clock: systemClock,
    max: 8,
    ttlMs: 60_000,
    connectMs: 5_000,
    connect: (address, signal) => McpConnection.open(address, { egress, version: '1.0.0' }, signal),
  })
})
afterEach(async () => {
  await pool.close()
  await egress.close()
  await server.close()
})

const use = <T>(work: (connection: McpConnection, signal: AbortSignal) => Promise<T>, ms = 5_000): Promise<T> => {
  const signal = AbortSignal.timeout(ms)
  return pool.use('w', { url: server.url, headers: {} }, signal, (connection) => work(connection, signal))
}
const call = (ms?: number): Promise<RemoteResult> => use((connection, signal) => connection.callTool('add', {}, signal), ms)
const called = (): number => server.heard.filter((method) => method === 'tools/call').length

describe('an error of a tool', () => {
  it.each([
    [404, 'record 7 was not found', {}],
    [401, 'no licence', {}],
    [-32_000, 'the backend said (HTTP 404)', {}],
    [-32_000, 'the backend said no', { status: 404, cause: 'x' }],
  ])('is told in its own words and no status of HTTP, whatever its number is: %i, %s', async (code, message, data) => {
    await call()
    server.answer({ 'tools/call': (response, { id }) => inJson(response, { jsonrpc: '2.0', id, error: { code, message, data } }) })
    await expect(call()).rejects.toMatchObject({ kind: 'protocol', message, unsent: false })
    // It ran: once more would be twice.
    expect(called()).toBe(2)
    expect(pool.size).toBe(1)
  })
})
