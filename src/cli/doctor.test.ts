import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findTestPostgres } from '../testing/postgres.ts'
import { startPrivateRedis } from '../testing/redis.ts'
import { doctor, migrate } from './check.ts'

const postgres = await findTestPostgres('doctor beside a database that is only read')
const redis = await startPrivateRedis('doctor beside a Redis that takes no writes')

afterAll(() => redis?.close())

/** Services that answer, and take nothing. */
describe('doctor', () => {
  let data: string
  let out: string
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'signalbox-doctor-'))
    out = ''
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => (out += String(text)) !== '')
    vi.stubEnv('SIGNALBOX_CONFIG', '/dev/null')
    vi.stubEnv('SIGNALBOX_SECRET_KEY', Buffer.alloc(32, 1).toString('base64'))
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    process.exitCode = undefined
    await rm(data, { recursive: true })
  })

  it.skipIf(!postgres.available)('reports that a read-only database takes no writes', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const url = new URL(schema.url.reveal())
    vi.stubEnv('SIGNALBOX_DATABASE_URL', url.href)
    await migrate({ data })
    await doctor({ data })
    expect(out).not.toContain('no writes')
    url.searchParams.set('options', `${url.searchParams.get('options')} -c default_transaction_read_only=on`)
    vi.stubEnv('SIGNALBOX_DATABASE_URL', url.href)
    await doctor({ data })
    expect(out).toMatch(/^database: postgres takes no writes: .*read-only transaction/m)
    expect(process.exitCode).toBe(1)
    await schema.drop()
  })

  it.skipIf(!postgres.available)('reports migrations that would wait for ever', async () => {
    if (!postgres.available) return
    const schema = await postgres.createSchema()
    const url = new URL(schema.url.reveal())
    url.searchParams.set('options', `${url.searchParams.get('options')} -c default_transaction_read_only=on`)
    vi.stubEnv('SIGNALBOX_DATABASE_URL', url.href)
    await doctor({ data })
    expect(out).toMatch(/^database: postgres answers, migrations pending: 0001-initial/m)
    expect(out).toMatch(/^database: no migration can be applied, as it takes no writes/m)
    expect(process.exitCode).toBe(1)
    await schema.drop()
  })

  it.skipIf(!postgres.available)('reports what a database with another encoding than UTF-8 loses', async () => {
    if (!postgres.available) return
    const { url, drop } = await postgres.createDatabase('LATIN1')
    vi.stubEnv('SIGNALBOX_DATABASE_URL', url.reveal())
    await expect(migrate({ data })).rejects.toThrow('is in LATIN1, in which records with letters it does not know are lost')
    await doctor({ data })
    expect(out).toMatch(/^database: The PostgreSQL database is in LATIN1/m)
    expect(process.exitCode).toBe(1)
    await drop()
  })

  it.skipIf(redis === undefined)('reports that a Redis which is a replica, or out of memory, takes no writes', async () => {
    if (redis === undefined) return
    await migrate({ data })
    vi.stubEnv('SIGNALBOX_REDIS_URL', redis.url)
    await doctor({ data })
    expect(out).toMatch(/^redis: answers and takes writes$/m)
    const client = new Redis(redis.url)
    await client.config('SET', 'maxmemory', '1')
    await doctor({ data })
    expect(out).toMatch(/^redis: takes no writes: OOM /m)
    await client.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'volatile-lru')
    await doctor({ data })
    expect(out).toMatch(
      /^redis: answers and takes writes, and drops keys when its memory is full, .*\(maxmemory-policy volatile-lru; noeviction keeps them\)$/m,
    )
    await client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
    await client.replicaof('127.0.0.1', 1)
    await doctor({ data })
    expect(out).toMatch(/^redis: takes no writes: READONLY /m)
    expect(process.exitCode).toBe(1)
    client.disconnect()
  })

  it.skipIf(redis === undefined)('reports the permissions that a Redis user lacks', async () => {
    if (redis === undefined) return
    await migrate({ data })
    const client = new Redis(redis.url)
    await client.call('REPLICAOF', 'NO', 'ONE')
    const url = redis.url.replace('redis://', 'redis://narrow:pw@')
    const rights = '+@read +@write +@connection +@scripting +@pubsub +time +info ~{signalbox}:* &signalbox:*'
    const found = async (...more: readonly string[]): Promise<string | undefined> => {
      await client.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', '>pw', ...rights.split(' '), ...more)
      vi.stubEnv('SIGNALBOX_REDIS_URL', url)
      out = ''
      await doctor({ data })
      return /^redis: (?:(?!: ).)*/m.exec(out)?.[0]
    }
    try {
      expect(await found()).toBe('redis: answers and takes writes')
      expect(process.exitCode).toBeUndefined()
      expect(await found('-@scripting')).toBe('redis: runs no scripts')
      expect(await found('-time')).toBe('redis: does not tell its time')
      expect(await found('resetchannels')).toBe('redis: refuses its channels')
      expect(process.exitCode).toBe(1)
    } finally {
      client.disconnect()
    }
  })
})
