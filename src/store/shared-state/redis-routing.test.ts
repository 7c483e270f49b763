import type { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { findTestRedis, startPrivateRedis } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis } from './redis-client.ts'
import { createRedisCooldowns, createRedisPins } from './redis-routing.ts'

const found = await findTestRedis('what installations in two databases of one Redis hear of each other')

describe.skipIf(!found.available)('installations in two databases of one Redis', () => {
  if (!found.available) return

  it('do not receive each other’s cooldowns and pins, as they do not see each other’s keys', async () => {
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

const own = await startPrivateRedis('a Redis whose user may use no channel')
afterAll(() => own?.close())

describe.skipIf(own === undefined)('a Redis whose user may use keys and no channel', () => {
  it('is reported where the user may subscribe and not publish, before anything is published', async () => {
    const admin = connectRedis({ url: new Secret(own!.url), logger: silentLogger })
    await expect.poll(() => admin.status).toBe('ready')
    await admin.call('ACL', 'SETUSER', 'listens-only', 'on', '>secret', '~*', '&*', '+@all', '-publish')
    const url = new Secret(own!.url.replace('//', '//listens-only:secret@'))
    const [redis, subscriber] = [connectRedis({ url, logger: silentLogger }), connectRedis({ url, logger: silentLogger })]
    await expect.poll(() => redis.status).toBe('ready')
    const refused: string[] = []
    const onRefused = (error: Error): void => void refused.push(error.message)
    try {
      createRedisPins(redis, subscriber, 'signalbox', onRefused).listen(() => expect.unreachable())
      createRedisCooldowns(redis, subscriber, 'signalbox', onRefused).listen(() => expect.unreachable())
      await expect.poll(() => refused).toEqual([expect.stringMatching(/^NOPERM.*publish/), expect.stringMatching(/^NOPERM.*publish/)])
    } finally {
      await Promise.all([admin, redis, subscriber].map(disconnectRedis))
    }
  })

  it('is reported, because cooldowns and moved pins are not shared; an ending connection is not', async () => {
    const admin = connectRedis({ url: new Secret(own!.url), logger: silentLogger })
    await expect.poll(() => admin.status).toBe('ready')
    await admin.call('ACL', 'SETUSER', 'keys-only', 'on', '>secret', '~*', '+@all', 'resetchannels')
    const url = new Secret(own!.url.replace('//', '//keys-only:secret@'))
    const [redis, subscriber] = [connectRedis({ url, logger: silentLogger }), connectRedis({ url, logger: silentLogger })]
    const refused: string[] = []
    const onRefused = (error: Error): void => void refused.push(error.message)
    try {
      createRedisPins(redis, subscriber, 'signalbox', onRefused).listen(() => expect.unreachable())
      createRedisCooldowns(redis, subscriber, 'signalbox', onRefused).listen(() => expect.unreachable())
      await expect.poll(() => refused).toEqual([expect.stringMatching(/^NOPERM/), expect.stringMatching(/^NOPERM/)])
      await admin.call('ACL', 'SETUSER', 'keys-only', 'allchannels')
      await own!.kill()
      await expect.poll(() => subscriber.status).not.toBe('ready')
      expect(refused).toHaveLength(2)
    } finally {
      await Promise.all([redis, subscriber, admin].map(disconnectRedis))
    }
  })
})
