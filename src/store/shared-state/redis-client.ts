import { createHash } from 'node:crypto'
import type { Redis, RedisOptions as DriverOptions } from 'ioredis'
import { whenLate } from '../../lib/late.ts'
import type { Logger } from '../../lib/logger.ts'
import type { Secret } from '../../lib/secret.ts'
import { NOT_READY, openRedis } from './open-redis.ts'
import { createOutageLog, type OutageLog } from './outage-log.ts'

export interface RedisOptions {
  readonly url: Secret
  readonly logger: Logger
  /** If several connections lead to one Redis: their common log, and the name of this one. */
  readonly outages?: OutageLog
  readonly name?: string
  /** How often it is pinged, how long it may leave a command unanswered, and how long it may be connected but not ready. Milliseconds. */
  readonly probe?: { readonly everyMs: number; readonly silenceMs: number; readonly lateMs?: number }
}

/** Milliseconds a script may take; short, because a call waits for it. */
const SCRIPT_LIMIT_MS = 250
/** For commands that nobody waits for, or waits for with a limit of their own. */
const COMMAND_LIMIT_MS = 1_000
const CONNECT_LIMIT_MS = 1_000
/** How long a start waits for it: a server that does not even refuse is not worth waiting for. */
const FIRST_CONTACT_MS = 1_000
const LONGEST_RETRY_MS = 1_000
/** A server that loads its data accepts connections and serves nobody; after this time that counts as an outage. */
const LATE_MS = 2_000
/** Longer than one command can keep a server busy, so that a connection that is only slow is kept. */
const PROBE = { everyMs: 5_000, silenceMs: 10_000 }
/** A replica may stay one, so connections to it are given up at most this often. */
const LEAVE_REPLICA_MS = 5_000

/**
 * A connection whose users never wait: without Redis every command fails at once, and it reconnects within a second of its return. Nothing is queued
 * meanwhile, because a late answer is of no use to a call.
 *
 * A network that drops a connection tells nobody: a connection that only subscribes would never notice, another one after a quarter of an hour. So
 * both are probed regularly, and reopened if no answer comes.
 */
export function connectRedis({ url, logger, outages = createOutageLog(logger), name = 'connection', probe = PROBE }: RedisOptions): Redis {
  const retryMs = (times: number): number => Math.min(LONGEST_RETRY_MS, 50 * 2 ** Math.min(times, 6))
  const options: DriverOptions = {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_LIMIT_MS,
    connectTimeout: CONNECT_LIMIT_MS,
    socketTimeout: probe.silenceMs,
    maxLoadingRetryTime: LONGEST_RETRY_MS,
    retryStrategy: retryMs,
    // Subscribers do it themselves (`redis-routing.ts`): if the client's own resubscribing fails because the server disappears again, its error
    // cannot be caught and would end the process.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    connectionName: 'signalbox',
    reconnectOnError: createReplicaWatch(),
  }
  let doubt: Error | undefined
  const redis = openRedis(url.reveal(), options, { answerMs: COMMAND_LIMIT_MS, pauseMs: retryMs }, (error) => (doubt = error))
  // An `error` event without a listener would end the process.
  redis.on('error', (error: Error) => {
    outages.tell(name, doubt ?? error)
    doubt = undefined
  })
  watchSilence(redis, (error) => outages.tell(name, error), probe.lateMs)
  const probing = setInterval(() => void (redis.status === 'ready' && redis.ping().catch(() => undefined)), probe.everyMs).unref()
  redis.on('end', () => clearInterval(probing))
  return redis
}

/** States without an error: a server that is connected but not ready, and a proxy that accepts connections and closes them at once. */
function watchSilence(redis: Redis, report: (error: Error | undefined) => void, lateMs = LATE_MS): void {
  let closed = 0
  let timer: NodeJS.Timeout | undefined
  redis.on('connect', () => {
    timer = setTimeout(() => report(new Error(NOT_READY)), lateMs).unref()
  })
  for (const event of ['ready', 'close'] as const) redis.on(event, () => clearTimeout(timer))
  redis.on('ready', () => {
    closed = 0
    report(undefined)
  })
  // A working connection may end like this once and is reopened at once.
  redis.on('reconnecting', () => void (++closed > 1 && report(new Error('the connection is closed before it is ready to serve'))))
}

/**
 * After a failover a connection may lead to a server that is now a replica: it works, but refuses every write, and a new connection may find the
 * master. Older servers report that in the middle of a script's error.
 */
function createReplicaWatch(): (error: Error) => boolean {
  let leftAt = -Infinity
  return ({ message }) => {
    if (!message.includes('READONLY') || performance.now() - leftAt < LEAVE_REPLICA_MS) return false
    leftAt = performance.now()
    return true
  }
}

/**
 * Resolves when the connection stands, at its first failure, or after the limit (milliseconds); never rejects. Until it stands each process counts
 * alone, so a start waits for it, and its first calls are held to what the others have counted.
 */
export function firstContact(redis: Redis, limitMs = FIRST_CONTACT_MS): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  for (const event of ['ready', 'error', 'end'] as const) redis.once(event, () => resolve())
  if (redis.status === 'ready') resolve()
  return promise.finally(() => clearTimeout(timer))
}

/** Ends a connection without waiting for a server that does not answer. */
export async function disconnectRedis(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await redis.quit().catch(() => undefined)
  redis.disconnect()
}

/** A script, sent by its hash, or by its text if the server does not know it (restart, failover, flush). Rejects if it takes too long. */
export function createScript(redis: Redis, text: string, limitMs = SCRIPT_LIMIT_MS): (keys: readonly string[], argument: string) => Promise<unknown> {
  const sha = createHash('sha1').update(text).digest('hex')
  return async (keys, argument) => {
    try {
      return await withinLimit(redis.evalsha(sha, keys.length, ...keys, argument), limitMs)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return withinLimit(redis.eval(text, keys.length, ...keys, argument), limitMs)
    }
  }
}

/** A limit that does not blame Redis for a busy process. */
function withinLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const callOff = whenLate(limitMs, () => reject(new Error(`Redis did not answer within ${limitMs} ms`)))
  work.then(resolve, reject).finally(callOff)
  return promise
}
