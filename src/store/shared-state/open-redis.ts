import { Redis, type RedisOptions } from 'ioredis'
import { parseSentinelUrl } from '../../lib/sentinel-url.ts'

/** How long one sentinel may take to say where the master is, milliseconds, and the pause after all were asked in vain. */
export interface SentinelLimits {
  readonly answerMs: number
  /** Undefined: they are not asked again. */
  readonly pauseMs: ((times: number) => number) | undefined
}

/** What is said of a server that takes connections and serves nobody. */
export const NOT_READY = 'connected, and not ready to serve: it loads its data, perhaps'

/**
 * A connection to the Redis of a URL: to an address, or to whatever its sentinels say is the master, asked anew at each connection. `onDoubt` is told
 * what each sentinel said that knew of none: the error that follows says only that all were asked.
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

/** Where the database of the URL is refused the client goes on with the first, which is another installation's, perhaps. */
function leaveOtherDatabases(redis: Redis): Redis {
  return redis.on('error', (error: Error & { readonly command?: { readonly name?: string } }) => {
    if (error.command?.name === 'select') redis.disconnect(true)
  })
}
