import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { createNetwork, type Network } from '../../testing/network.ts'
import { findTestRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis, firstContact } from './redis-client.ts'
import { createRedisCooldowns } from './redis-routing.ts'

const found = await findTestRedis('connections to Redis the network has forgotten')

describe.skipIf(!found.available)('a connection to Redis that the network has dropped', () => {
  if (!found.available) return
  let network: Network
  beforeEach(async () => {
    network = await createNetwork(found.url)
  })
  afterEach(() => network.close())
  // A busy machine is silent for a while, too.
  const open = () => connectRedis({ url: network.url, logger: silentLogger, probe: { everyMs: 50, silenceMs: 1_000 } })

  it('is replaced, and works again', async () => {
    const redis = open()
    let connections = 0
    redis.on('ready', () => connections++)
    try {
      await expect.poll(() => connections).toBe(1)
      network.forget()
      await expect.poll(() => connections, { timeout: 5_000 }).toBe(2)
      expect(await redis.ping()).toBe('PONG')
    } finally {
      await disconnectRedis(redis)
    }
  })

  it('receives cooldowns again when it is the subscribed one', async () => {
    const namespace = found.namespace()
    const [subscriber, redis] = [open(), connectRedis({ url: found.url, logger: silentLogger })]
    const heard: string[] = []
    const stop = createRedisCooldowns(redis, subscriber, namespace).listen(({ endpointId }) => heard.push(endpointId))
    const other = createRedisCooldowns(redis, subscriber, namespace)
    try {
      const announce = (endpointId: string) => other.announce({ endpointId, until: Date.now() + 60_000 })
      await expect.poll(() => (announce('before'), heard)).toContain('before')
      network.forget()
      await expect.poll(() => (announce('after'), heard), { timeout: 5_000 }).toContain('after')
    } finally {
      stop()
      await disconnectRedis(subscriber)
      await disconnectRedis(redis)
    }
  })

  it('is kept while it is only idle', async () => {
    const redis = open()
    let connections = 0
    redis.on('ready', () => connections++)
    try {
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      expect(connections).toBe(1)
    } finally {
      await disconnectRedis(redis)
    }
  })
})

describe('a start without a reachable Redis', () => {
  const LONG_MS = 30_000
  let server: Server
  beforeEach(async () => {
    server = createServer((socket) => socket.on('error', () => undefined))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    server.close()
  })
  const open = () => connectRedis({ url: new Secret(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`), logger: silentLogger })

  it('continues at once when the connection is refused', async () => {
    const redis = open()
    server.close()
    try {
      await firstContact(redis, LONG_MS)
      expect(redis.status).not.toBe('ready')
    } finally {
      await disconnectRedis(redis)
    }
  })

  it('continues after the time limit when Redis accepts and does not answer', async () => {
    const redis = open()
    try {
      await firstContact(redis, 20)
      expect(redis.status).not.toBe('ready')
    } finally {
      await disconnectRedis(redis)
    }
  })
})

describe('an outage without an error', () => {
  let server: Server
  let serve: (socket: Socket) => void
  const said: unknown[] = []
  const hear = (fields: object, text: string): void => void said.push([text, (fields as { error?: string }).error])
  beforeEach(async () => {
    said.length = 0
    server = createServer((socket) => serve(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    server.close()
  })
  const open = (lateMs: number) =>
    connectRedis({
      url: new Secret(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`),
      logger: { ...silentLogger, warn: hear, info: hear },
      probe: { everyMs: 5_000, silenceMs: 10_000, lateMs },
    })

  it('is reported once when a proxy before Redis closes connections at once', async () => {
    let closed = 0
    serve = (socket) => {
      closed++
      socket.end()
    }
    const redis = open(60_000)
    try {
      await expect.poll(() => closed, { timeout: 5_000 }).toBeGreaterThan(2)
      expect(said).toEqual([[expect.stringContaining('does not answer'), 'the connection is closed before it is ready to serve']])
    } finally {
      await disconnectRedis(redis)
    }
  })

  it('is reported while Redis loads its data, and ends when it has', async () => {
    let isLoading = true
    serve = (socket) =>
      void socket.on('data', (bytes) => {
        for (const [, command] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          const info = `loading:${isLoading ? 1 : 0}\r\nloading_eta_seconds:3600`
          if (command === 'hello') socket.write("-ERR unknown command 'HELLO'\r\n")
          else socket.write(command === 'info' ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n')
        }
      })
    const redis = open(50)
    try {
      await expect.poll(() => said).toEqual([[expect.stringContaining('does not answer'), expect.stringContaining('loads its data')]])
      isLoading = false
      await expect.poll(() => said, { timeout: 5_000 }).toHaveLength(2)
      expect(said[1]).toEqual(['the shared state answers again', undefined])
    } finally {
      redis.disconnect()
    }
  })
})

it.skipIf(!found.available)(
  'without the configured Redis database, or access to it, there is no shared state: no other database is used',
  async () => {
    if (!found.available) return
    const url = new URL(found.url.reveal())
    url.pathname = '/1000000'
    const said: string[] = []
    const note = (_fields: object, text: string): void => void said.push(text)
    const redis = connectRedis({ url: new Secret(url.href), logger: { ...silentLogger, warn: note, info: note } })
    let ready = 0
    redis.on('ready', () => ready++)
    try {
      await firstContact(redis)
      await sleep(500)
      await expect(redis.set(`{${found.namespace()}}:misplaced`, '1', 'PX', 1_000)).rejects.toThrow()
      expect([ready, said]).toEqual([0, ['the shared state does not answer: this process goes on with its own']])
    } finally {
      redis.disconnect()
    }
  },
)
