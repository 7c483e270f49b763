import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Secret } from '../lib/secret.ts'
import { freePort } from './free-port.ts'

const DEFAULT_URL = 'redis://127.0.0.1:6379'

export type TestRedis =
  | { readonly available: true; readonly url: Secret; /** A name no other run uses. */ readonly namespace: () => string }
  | { readonly available: false; readonly why: string }

/**
 * The Redis named by SIGNALBOX_TEST_REDIS_URL, or else the usual local one if it answers. If a named one does not answer, that is an error. Without any, a
 * visible message says which tests are skipped.
 */
export async function findTestRedis(whatIsSkipped: string): Promise<TestRedis> {
  const named = process.env['SIGNALBOX_TEST_REDIS_URL']
  const url = named ?? DEFAULT_URL
  if (await answers(url)) return { available: true, url: new Secret(url), namespace: () => `signalbox-test-${randomBytes(6).toString('hex')}` }
  if (named !== undefined) throw new Error('SIGNALBOX_TEST_REDIS_URL names a Redis that does not answer')
  const why = `no Redis at ${DEFAULT_URL}; name one in SIGNALBOX_TEST_REDIS_URL`
  console.warn(`\n*** SKIPPED: ${whatIsSkipped}: ${why} ***\n`)
  return { available: false, why }
}

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 1_000, maxRetriesPerRequest: 0, retryStrategy: () => null })
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    return (await redis.ping()) === 'PONG'
  } catch {
    return false
  } finally {
    redis.disconnect()
  }
}

/** The test's own Redis, to be killed and restarted. */
export interface PrivateRedis {
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Undefined, with a visible message, if the machine has no `redis-server`. `more`: further arguments. */
export async function startPrivateRedis(whatIsSkipped: string, more: readonly string[] = []): Promise<PrivateRedis | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  const start = async (): Promise<boolean> => {
    const given = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder, ...more]
    const started = spawn('redis-server', given, { stdio: 'ignore' })
    const failed = new Promise<boolean>((resolve) => started.once('error', () => resolve(true)))
    child = started
    for (let i = 0; i < 100; i++) {
      if (await Promise.race([failed, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50))])) return false
      if (await answers(url)) return true
    }
    return false
  }
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null || running.pid === undefined) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await gone
  }
  // An aborted test run must not leave a server running.
  process.once('exit', () => child?.kill('SIGKILL'))
  if (!(await start())) {
    await kill()
    await rm(folder, { recursive: true, force: true })
    console.warn(`\n*** SKIPPED: ${whatIsSkipped}: there is no redis-server on this machine ***\n`)
    return undefined
  }
  return {
    url,
    kill,
    start: async () => {
      // A server that is still running would be forgotten, and keep the port.
      await kill()
      if (!(await start())) throw new Error('redis-server did not start again')
    },
    close: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts a sentinel that watches a master under a name; it promotes a replica within a second or two of the master's death. */
export async function startSentinel(masterUrl: string, name: string): Promise<{ readonly port: number; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-sentinel-'))
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  const watched = [`monitor ${name} 127.0.0.1 ${new URL(masterUrl).port} 1`, `down-after-milliseconds ${name} 300`, `failover-timeout ${name} 2000`]
  await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...watched.map((line) => `sentinel ${line}`), ''].join('\n'))
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  for (let i = 0; i < 100 && !(await answers(`redis://127.0.0.1:${port}`)); i++) await new Promise((resolve) => setTimeout(resolve, 50))
  return {
    port,
    close: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      await rm(folder, { recursive: true, force: true })
    },
  }
}
