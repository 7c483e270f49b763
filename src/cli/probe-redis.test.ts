import { Redis } from 'ioredis'
import { createServer, type AddressInfo } from 'node:net'
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

it.skipIf(!master)('a Redis behind sentinels is reported with their errors, or with its own', async () => {
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

it.skipIf(!master)('a database number that Redis does not have is reported as that', async () => {
  if (!master) return
  const why = 'does not answer: ERR DB index is out of range'
  expect(await probeRedis(`${master.url}/99`, 'box', 2_000)).toEqual({ fault: true, text: why })
  if (sentinel) expect(await probeRedis(`redis+sentinel://127.0.0.1:${sentinel.port}/main/99`, 'box', 2_000)).toEqual({ fault: true, text: why })
})

it('a Redis that is loading its data is reported as that, not waited for', async () => {
  const info = 'loading:1\r\nloading_eta_seconds:3600'
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      for (const [, command] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        if (command === 'hello') socket.write("-ERR unknown command 'HELLO'\r\n")
        else socket.write(command === 'info' ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    const text = 'does not answer: connected, and not ready to serve: it loads its data, perhaps'
    expect(await probeRedis(`redis://127.0.0.1:${port}`, 'box', 100)).toEqual({ fault: true, text })
  } finally {
    server.close()
  }
})
