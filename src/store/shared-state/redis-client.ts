import { createHash } from 'node:crypto'
import type { Redis, RedisOptions as DriverOptions } from 'ioredis'
import type { Logger } from '../../lib/logger.ts'
import type { Secret } from '../../lib/secret.ts'
import { NOT_READY, openRedis } from './open-redis.ts'
import { createOutageLog, type OutageLog } from './outage-log.ts'

export interface RedisOptions {
  readonly url: Secret
  readonly logger: Logger
  /** Where several connections lead to one Redis: what they say together, and which of them this is. */
  readonly outages?: OutageLog
  readonly name?: string
  /** How often it is asked for a sign of life, how long it may say nothing to what it was asked, and how long be connected and not ready. Milliseconds. */
  readonly probe?: { readonly everyMs: number; readonly silenceMs: number; readonly lateMs?: number }
}

/** Milliseconds a script may take. A call waits for it, so it is short. */
const SCRIPT_LIMIT_MS = 250
/** For everything nobody waits for, or waits for with a limit of his own. */
const COMMAND_LIMIT_MS = 1_000
const CONNECT_LIMIT_MS = 1_000
/** What a start waits for it: a server that does not even refuse is none to wait for. */
const FIRST_CONTACT_MS = 1_000
const LONGEST_RETRY_MS = 1_000
/** A server that loads its data takes connections and serves nobody: after this long that is an outage. */
const LATE_MS = 2_000
/** Longer than a server is busy with one command: a connection that is only slow is kept, with what was sent over it. */
const PROBE = { everyMs: 5_000, silenceMs: 10_000 }
/** A replica stays one, perhaps: connections to it are given up no more often than this. */
const LEAVE_REPLICA_MS = 5_000

/**
 * A connection that never waits: without Redis every command fails at once, and it reconnects by itself within a second of its return.
 * Nothing is queued while it is away: an answer that comes late is of no use to a call.
 *
 * A network that forgets a connection tells nobody: the one that only subscribes would never hear of it, the other a quarter of an hour later.
 * Both are asked for a sign of life now and then, and made anew when none comes.
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
    // Subscribers do so themselves (`redis-routing.ts`): the client's own subscribing, refused by a server that goes away again at once, is
    // an error nobody can catch, and would end the process.
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    connectionName: 'signalbox',
    reconnectOnError: createReplicaWatch(),
  }
  let doubt: Error | undefined
  const redis = openRedis(url.reveal(), options, { answerMs: COMMAND_LIMIT_MS, pauseMs: retryMs }, (error) => (doubt = error))
  // Without a listener an error event would end the process.
  redis.on('error', (error: Error) => {
    outages.tell(name, doubt ?? error)
    doubt = undefined
  })
  watchSilence(redis, (error) => outages.tell(name, error), probe.lateMs)
  const probing = setInterval(() => void (redis.status === 'ready' && redis.ping().catch(() => undefined)), probe.everyMs).unref()
  redis.on('end', () => clearInterval(probing))
  return redis
}

/** What no error tells of: a server that is there and not ready, and something before it that takes connections and closes them without a word. */
function watchSilence(redis: Redis, tell: (error: Error | undefined) => void, lateMs = LATE_MS): void {
  let closed = 0
  let late: NodeJS.Timeout | undefined
  redis.on('connect', () => {
    late = setTimeout(() => tell(new Error(NOT_READY)), lateMs).unref()
  })
  for (const event of ['ready', 'close'] as const) redis.on(event, () => clearTimeout(late))
  redis.on('ready', () => {
    closed = 0
    tell(undefined)
  })
  // One that stood may end like this, and is made anew at once.
  redis.on('reconnecting', () => void (++closed > 1 && tell(new Error('the connection is closed before it is ready to serve'))))
}

/**
 * After a failover a connection may lead to what is a replica by then, as lively as ever: it refuses every write for good, and one made anew may
 * find the server that is now. Older servers say so in the middle of a script's error.
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
 * Resolves when the connection stands, at the first failure to make it, or when the limit (milliseconds) is over; never rejects. Before it stands each
 * process counts alone: a start waits, so that its first calls are held to what the others have counted.
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

/** A script, sent by its hash; by its text when the server does not know it (a restart, a failover, a flush). Rejects when it takes too long. */
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

/**
 * A limit that does not blame Redis for a busy process: after a long turn of the event loop timers come before the answers that have arrived
 * meanwhile, so these are read first.
 */
function withinLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const timer = setTimeout(() => setImmediate(() => reject(new Error(`Redis did not answer within ${limitMs} ms`))), limitMs)
  work.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
