import { Redis } from 'ioredis'
import { afterAll, describe, expect, it } from 'vitest'
import type { Logger } from '../../lib/logger.ts'
import { Secret } from '../../lib/secret.ts'
import { freePort } from '../../testing/free-port.ts'
import { startPrivateRedis, startSentinel } from '../../testing/redis.ts'
import { connectRedis, disconnectRedis, firstContact } from './redis-client.ts'

const master = await startPrivateRedis('a Redis that is found by its sentinels')
const replica = master && (await startPrivateRedis('its replica', ['--replicaof', '127.0.0.1', new URL(master.url).port]))
const sentinel = master && (await startSentinel(master.url, 'main'))

afterAll(async () => {
  await sentinel?.close()
  await replica?.close()
  await master?.close()
})

function listening() {
  const said: unknown[] = []
  const hear = (fields: object, message: string): void => void said.push([message, (fields as { error?: unknown }).error])
  return { said, logger: { info: hear, warn: hear, error: hear, debug: hear, trace: hear } as unknown as Logger }
}

describe.skipIf(!master)('a Redis that is found by its sentinels', () => {
  if (!master || !replica || !sentinel) return

  it('is reached through those that answer, and followed to the server that is promoted', async () => {
    const nobody = await freePort()
    const { said, logger } = listening()
    const redis = connectRedis({ url: new Secret(`redis+sentinel://127.0.0.1:${nobody},127.0.0.1:${sentinel.port}/main/2`), logger })
    const watch = new Redis(sentinel.port)
    try {
      await firstContact(redis)
      expect(await redis.set('box', '1')).toBe('OK')
      expect(said).toEqual([])
      // A sentinel promotes what it has seen to follow.
      await expect.poll(async () => await watch.call('sentinel', 'replicas', 'main'), { timeout: 20_000 }).toHaveLength(1)
      await expect.poll(async () => String(await watch.call('sentinel', 'replicas', 'main')), { timeout: 20_000 }).toMatch(/master-link-status,ok/)
      await master.kill()
      await expect.poll(() => redis.set('box', '2').catch(() => 'away'), { timeout: 20_000 }).toBe('OK')
      const promoted = new Redis(replica.url, { db: 2 })
      expect(await promoted.get('box')).toBe('2')
      promoted.disconnect()
      expect(said).toEqual([
        ['the shared state does not answer: this process goes on with its own', expect.any(String)],
        ['the shared state answers again', undefined],
      ])
    } finally {
      watch.disconnect()
      await disconnectRedis(redis)
    }
  }, 60_000)

  it('is reported as down with the errors of the sentinels', async () => {
    const nobody = await freePort()
    const { said, logger } = listening()
    const redis = connectRedis({ url: new Secret(`redis+sentinel://127.0.0.1:${nobody}/main`), logger })
    await firstContact(redis)
    await disconnectRedis(redis)
    expect(said).toEqual([[expect.stringContaining('does not answer'), expect.stringContaining(`sentinel 127.0.0.1:${nobody}`)]])
  })
})
