import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PoolShelf } from './pool-shelf.ts'
import { requestThrough } from './undici.ts'

const MINUTE = 60_000

describe('a pool', () => {
  let waiting: ServerResponse[]
  let sockets: number
  let now: number
  let shelf: PoolShelf
  let origin: string
  const server = createServer((_request, response) => void waiting.push(response))
  server.on('connection', (socket) => {
    sockets++
    socket.on('close', () => sockets--)
  })
  beforeEach(async () => {
    waiting = []
    sockets = 0
    now = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    shelf = new PoolShelf({ now: () => now })
  })
  afterEach(async () => {
    await shelf.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const take = () => shelf.take(origin, 1_000)
  /** Sends `count` concurrent requests. */
  const ask = async (count: number) => {
    const answers = Array.from({ length: count }, async () => {
      const { body } = await requestThrough(take(), { path: '/', method: 'GET' })
      return body.text()
    })
    await expect.poll(() => waiting.length).toBe(count)
    return answers
  }
  const answer = () => waiting.splice(0).forEach((response) => response.end('ok'))
  const allClosed = async () => {
    await expect.poll(() => (server.closeIdleConnections(), sockets)).toBe(0)
    // The other end notices a moment later.
    await expect.poll(() => take().stats.connected).toBe(0)
  }
  const rush = async (count: number) => {
    const answers = await ask(count)
    answer()
    await Promise.all(answers)
    await allClosed()
  }

  it('that a burst made large is replaced by a small one when the burst is over', async () => {
    const large = take()
    await rush(40)
    now = MINUTE - 1
    expect(take()).toBe(large)
    now = MINUTE
    const small = take()
    expect(small).not.toBe(large)
    await expect.poll(() => large.closed).toBe(true)
    now = 2 * MINUTE
    expect(take()).toBe(small)
  })

  it('stays while its connections are in use, or few', async () => {
    const pool = take()
    const answers = await ask(40)
    now = MINUTE
    expect(take()).toBe(pool)
    answer()
    await Promise.all(answers)
    await allClosed()
    now = 2 * MINUTE - 1
    expect(take()).toBe(pool)
    const other = new PoolShelf({ now: () => now })
    const few = other.take(origin, 1_000)
    now = 9 * MINUTE
    expect(other.take(origin, 1_000)).toBe(few)
    await other.destroy()
  })

  it('that is replaced finishes its requests', async () => {
    await rush(40)
    const large = take()
    const [late] = await ask(1)
    now = MINUTE
    expect(take()).not.toBe(large)
    answer()
    expect(await late).toBe('ok')
  })

  it('does not count places whose connections failed', async () => {
    const refused = new PoolShelf({ now: () => now })
    const pool = refused.take('http://127.0.0.1:1', 1_000)
    for (let n = 0; n < 40; n++) await requestThrough(pool, { path: '/', method: 'GET' }).catch(() => undefined)
    now = MINUTE
    expect(refused.take('http://127.0.0.1:1', 1_000)).toBe(pool)
    await refused.destroy()
  })
})
