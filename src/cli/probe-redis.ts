import type { Redis } from 'ioredis'
import { NOT_READY, openRedis } from '../store/shared-state/open-redis.ts'
import { reasonOf } from './reason.ts'

export interface RedisFinding {
  readonly fault: boolean
  readonly text: string
}

/** In the order in which the gateway would run into them, each with what to tell the operator. */
const STEPS: readonly (readonly [fault: string, step: (redis: Redis, namespace: string, limitMs: number) => Promise<unknown>])[] = [
  ['does not answer', (redis) => redis.ping()],
  ['takes no writes', (redis, namespace, limitMs) => redis.set(keyIn(namespace), '1', 'PX', limitMs)],
  ['runs no scripts', (redis, namespace) => redis.eval('return redis.call("del", KEYS[1])', 1, keyIn(namespace))],
  ['does not tell its time', (redis) => redis.time()],
  ['refuses its channels', (redis, namespace) => redis.publish(`${namespace}:doctor`, '')],
]

const keyIn = (namespace: string): string => `{${namespace}}:doctor`

/**
 * Whether a Redis does what the gateway needs. An answer to PING is not enough: a replica, a cluster node or a server without memory answers and
 * refuses writes, and a restricted user may write but run no scripts.
 */
export async function probeRedis(url: string, namespace: string, limitMs: number): Promise<RedisFinding> {
  // The reason a connection failed arrives here; the pending command learns only that the connection is closed.
  let why: unknown
  let found = 'does not answer'
  const options = {
    lazyConnect: true,
    connectTimeout: limitMs,
    commandTimeout: limitMs,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: limitMs,
    retryStrategy: () => null,
  }
  const redis = openRedis(url, options, { answerMs: limitMs, pauseMs: undefined }, (error) => (why ??= error))
  redis.on('error', (error) => (why ??= error))
  try {
    await connected(redis, limitMs)
    // A sentinel that is away is no fault while another one answers.
    why = undefined
    for (const [fault, step] of STEPS) {
      found = fault
      await step(redis, namespace, limitMs)
    }
    return { fault: false, text: `answers and takes writes${await evictionNote(redis)}` }
  } catch (error) {
    return { fault: true, text: `${found}: ${reasonOf(why ?? error)}` }
  } finally {
    redis.disconnect()
  }
}

/** A server that evicts keys to make room reports no error: per-minute limits silently start again. */
async function evictionNote(redis: Redis): Promise<string> {
  const info = await redis.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  if (policy === undefined || policy === 'noeviction' || !/^maxmemory:[1-9]/m.test(info)) return ''
  return `, and drops keys when its memory is full, counts of limits among them (maxmemory-policy ${policy}; noeviction keeps them)`
}

/** While a server loads its data the client waits, which takes minutes if the data is large. All other failures end the wait by themselves. */
async function connected(redis: Redis, limitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  redis.once('connect', () => {
    // Longer than the limit of a command, so that its error comes first.
    timer = setTimeout(() => reject(new Error(NOT_READY)), 2 * limitMs)
  })
  redis.connect().then(resolve, reject)
  await promise.finally(() => clearTimeout(timer))
}
