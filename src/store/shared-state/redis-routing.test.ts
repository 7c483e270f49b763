import type { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { findTestRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis } from './redis-client.ts'
import { createRedisCooldowns, createRedisPins } from './redis-routing.ts'

const found = await findTestRedis('what installations in two databases of one Redis hear of each other')

describe.skipIf(!found.available)('installations in two databases of one Redis', () => {
  if (!found.available) return

  it('hear nothing of each other’s cooldowns and pins, as they see nothing of what the other keeps', async () => {
    const namespace = found.namespace()
    const inDatabase = (number: number) => {
      const url = new URL(found.url.reveal())
      url.pathname = `/${number}`
      return connectRedis({ url: new Secret(url.toString()), logger: silentLogger })
    }
    const connections = [3, 3, 3, 4, 4].map(inDatabase)
    const [a, aSubscriber, peerSubscriber, b, bSubscriber] = connections as [Redis, Redis, Redis, Redis, Redis]
    const heard: string[] = []
    const listen = (redis: Redis, subscriber: Redis, name: string): (() => void) => {
      createRedisPins(redis, subscriber, namespace).listen(({ endpointId }) => heard.push(`${name} pin ${endpointId}`))
      return createRedisCooldowns(redis, subscriber, namespace).listen(({ endpointId }) => heard.push(`${name} cooldown ${endpointId}`))
    }
    const stops = [listen(a, peerSubscriber, 'peer'), listen(b, bSubscriber, 'other')]
    const told = { cooldowns: createRedisCooldowns(a, aSubscriber, namespace), pins: createRedisPins(a, aSubscriber, namespace) }
    const tell = (endpointId: string): void => {
      told.cooldowns.announce({ endpointId, until: Date.now() + 60_000 })
      told.pins.set('session/m', endpointId, 1_000, true)
    }
    try {
      // All listen by now: its own database has heard, and the other's subscriber answers what came after its subscriptions.
      await expect.poll(() => (tell('first'), heard), { timeout: 5_000 }).toEqual(expect.arrayContaining(['peer cooldown first', 'peer pin first']))
      await expect.poll(() => bSubscriber.ping().then(String, () => '')).toContain('PONG')
      heard.length = 0
      tell('second')
      await expect.poll(() => heard).toEqual(expect.arrayContaining(['peer cooldown second', 'peer pin second']))
      await bSubscriber.ping()
      expect(heard.filter((line) => line.startsWith('other'))).toEqual([])
    } finally {
      for (const stop of stops) stop()
      await Promise.all(connections.map(disconnectRedis))
    }
  })
})
