import { Redis, type RedisOptions } from 'ioredis'
import { parseSentinelUrl } from '../../lib/sentinel-url.ts'

/** How long one sentinel may take to name the master, and the pause after all were asked without success. Milliseconds. */
export interface SentinelLimits {
  readonly answerMs: number
  /** Undefined: do not ask again. */
  readonly pauseMs: ((times: number) => number) | undefined
}

/** The error for a server that accepts connections but is not ready. */
export const NOT_READY = 'connected, and not ready to serve: it loads its data, perhaps'

/**
 * A connection to the Redis of a URL: to an address, or to the master that sentinels name, which are asked again at each connection. `onDoubt` is
 * called with the answer of each sentinel that knew none, because the error that follows says only that all were asked.
 */
export function openRedis(url: string, options: RedisOptions, { answerMs, pauseMs }: SentinelLimits, onDoubt: (error: Error) => void): Redis {
  const named = parseSentinelUrl(url)
  if (named === undefined) return leaveOtherDatabases(new Redis(url.replace(/^valkey(s?):/, 'redis$1:'), options))
  const { sentinels, master, database, isTls, username, password, sentinelUsername, sentinelPassword } = named
  const redis = new Redis({
    ...options,
    sentinels: [...sentinels],
    name: master,
    db: database,
    sentinelCommandTimeout: answerMs,
    sentinelRetryStrategy: (times) => pauseMs?.(times) ?? null,
    ...(isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
  })
  redis.on('sentinelError', onDoubt)
  return leaveOtherDatabases(redis)
}

/** If the URL's database is refused the client would continue with database 0, which may belong to another installation. */
function leaveOtherDatabases(redis: Redis): Redis {
  return redis.on('error', (error: Error & { readonly command?: { readonly name?: string } }) => {
    if (error.command?.name === 'select') redis.disconnect(true)
  })
}
