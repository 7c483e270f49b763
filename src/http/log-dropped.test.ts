import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { logDropped } from './log-dropped.ts'
import { closePort, listen } from './listen.ts'

let server: Server
const callers: Socket[] = []
afterEach(() => {
  for (const caller of callers.splice(0)) caller.destroy()
  closePort(server, () => undefined)
})

it.each([1, 8])('connections that are closed at once are logged, the first immediately and then their number (%i sockets)', async (sockets) => {
  const told: unknown[] = []
  server = createServer((_request, response) => response.end())
  server.maxConnections = 2
  logDropped(server, { warn: (fields) => void told.push(fields) }, 100)
  const { port } = await listen(server, { port: 0, host: '127.0.0.1' }, { sockets })
  const call = async (count: number): Promise<void> => {
    const made = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => undefined))
    callers.push(...made)
    await Promise.all(made.map((caller) => once(caller, 'connect').catch(() => undefined)))
  }
  await call(2)
  expect(told).toEqual([])
  await call(10)
  await expect.poll(() => told.reduce<number>((sum, fields) => sum + (fields as { dropped: number }).dropped, 0), { timeout: 5_000 }).toBe(10)
  expect(told[0]).toEqual({ dropped: 1, most: 2 })
  expect(told.length).toBeLessThan(10)
})
