import { Redis } from 'ioredis'
import { afterAll, expect, it } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { startPrivateRedis, startSentinel } from '../testing/redis.ts'
import { probeRedis } from './probe-redis.ts'

const master = await startPrivateRedis('what doctor says of a Redis that is found by its sentinels')
const sentinel = master && (await startSentinel(master.url, 'main'))

afterAll(async () => {
  await sentinel?.close()
  await master?.close()
})

it.skipIf(!master)('a Redis that is found by its sentinels has what these said, or what it refuses itself', async () => {
  if (!master || !sentinel) return
  const nobody = await freePort()
  const probe = (rest: string) => probeRedis(`redis+sentinel://127.0.0.1:${rest}`, 'box', 2_000)
  expect(await probe(`${nobody},127.0.0.1:${sentinel.port}/main`)).toEqual({ fault: false, text: 'answers and takes writes' })
  expect(await probe(`${nobody}/main`)).toEqual({ fault: true, text: expect.stringContaining(`sentinel 127.0.0.1:${nobody}`) })
  expect(await probe(`${sentinel.port}/other`)).toEqual({ fault: true, text: expect.stringContaining(`sentinel 127.0.0.1:${sentinel.port}`) })
  const redis = new Redis(master.url)
  await redis.config('SET', 'min-replicas-to-write', '1')
  redis.disconnect()
  const refused = await probe(`${nobody},127.0.0.1:${sentinel.port}/main`)
  expect(refused).toEqual({ fault: true, text: expect.stringContaining('NOREPLICAS') })
})

it.skipIf(!master)('a database that a Redis does not have is told as that', async () => {
  if (!master) return
  const why = 'does not answer: ERR DB index is out of range'
  expect(await probeRedis(`${master.url}/99`, 'box', 2_000)).toEqual({ fault: true, text: why })
  if (sentinel) expect(await probeRedis(`redis+sentinel://127.0.0.1:${sentinel.port}/main/99`, 'box', 2_000)).toEqual({ fault: true, text: why })
})
