import type { Redis } from 'ioredis'
import { randomId } from '../../lib/id.ts'
import { accepted, createOpenPlaces, type OpenCall } from './open-places.ts'

export interface HeartbeatOptions {
  readonly redis: Redis
  readonly namespace: string
  /** How long a process, and the places of its calls, count without a heartbeat. */
  readonly leaseMs: number
  readonly openCalls: ReadonlyMap<string, OpenCall>
  /** At each new connection. */
  readonly onReady: () => void
  /** Called with the error if Redis refuses the heartbeat (no memory, a replica, missing rights), and with undefined if it is accepted. */
  readonly onRefused: (error: Error | undefined) => void
}

export interface Heartbeat {
  /** Now, because Redis has lost what it held; once for all who ask at the same time. Never rejects. */
  readonly beat: () => Promise<void>
  /** Processes that count together, including this one; while Redis is away, the last known number. */
  readonly peers: () => number
  stop(): Promise<void>
}

/** A refused heartbeat is repeated after this time. */
const REFUSED_RETRY_MS = 5_000

/** Announces this process, renews the places of its open calls and counts the other processes, regularly and whenever Redis connects. */
export function startHeartbeat({ redis, namespace, leaseMs, openCalls, onReady, onRefused }: HeartbeatOptions): Heartbeat {
  const key = `{${namespace}}:processes`
  const self = randomId(12)
  const everyMs = leaseMs / 3
  const places = createOpenPlaces({ redis, namespace, leaseMs, openCalls })
  let peers = 1
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const heartbeat = async (): Promise<void> => {
    const now = await serverNow(redis)
    const pipeline = redis
      .pipeline()
      .zremrangebyscore(key, '-inf', now - leaseMs)
      .zadd(key, now, self)
      .zcard(key)
      .pexpire(key, leaseMs * 2)
    const replies = await accepted(pipeline)
    peers = Math.max(1, Number(replies[2] ?? 1))
    if (!stopped) await places.renew(now)
  }
  const beat = async (): Promise<void> => {
    clearTimeout(timer)
    let waitMs = everyMs
    try {
      await heartbeat()
      onRefused(undefined)
    } catch (error) {
      // A lost connection reports itself; a connection that stands and refuses would be noticed only when calls are counted.
      if (isRefusal(error)) {
        onRefused(error)
        waitMs = Math.min(everyMs, REFUSED_RETRY_MS)
      }
    }
    clearTimeout(timer)
    if (!stopped) timer = setTimeout(() => void beat(), waitMs).unref()
  }
  const connected = (): void => {
    onReady()
    void beat()
  }
  redis.on('ready', connected)
  void beat()
  let asked: Promise<void> | undefined
  return {
    beat: () => (asked ??= beat().finally(() => (asked = undefined))),
    peers: () => peers,
    async stop() {
      stopped = true
      clearTimeout(timer)
      redis.off('ready', connected)
      if (redis.status === 'ready') await redis.zrem(key, self).catch(() => undefined)
    },
  }
}

/** Whether Redis answered with a refusal, unlike a connection that breaks or stays silent. */
const isRefusal = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Leases use the clock of Redis, the only one that all processes share. */
async function serverNow(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time()
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}
