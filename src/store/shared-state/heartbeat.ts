import type { Redis } from 'ioredis'
import { randomId } from '../../lib/id.ts'

/** A call under way, as far as its lease is concerned. */
export interface BeatingCall {
  readonly subjects: readonly string[]
  /** Reserved in this process because Redis was away, at the share of one of so many; undefined: in Redis. */
  readonly aloneAmong: number | undefined
}

export interface HeartbeatOptions {
  readonly redis: Redis
  readonly namespace: string
  /** How long a process and the places of its calls are believed in without a sign of life. */
  readonly leaseMs: number
  readonly openCalls: ReadonlyMap<string, BeatingCall>
  /** At each new connection. */
  readonly onReady: () => void
  /** What Redis says where it refuses the sign of life (no memory, a replica, rights that are missing); undefined: it was taken. */
  readonly onRefused: (error: Error | undefined) => void
}

export interface Heartbeat {
  /** Processes that count together, this one included; the last that was heard while Redis is away. */
  readonly peers: () => number
  stop(): Promise<void>
}

/** While it is refused it is tried again this soon. */
const REFUSED_RETRY_MS = 5_000

/** Says that this process lives, holds the leases of its open calls, and counts the others; at once whenever Redis is (back) there. */
export function startHeartbeat({ redis, namespace, leaseMs, openCalls, onReady, onRefused }: HeartbeatOptions): Heartbeat {
  const key = `{${namespace}}:processes`
  const self = randomId(12)
  const everyMs = leaseMs / 3
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
    for (const [id, call] of openCalls) {
      if (call.aloneAmong === undefined) for (const subject of call.subjects) pipeline.zadd(`{${namespace}}:${subject}:open`, 'XX', now + leaseMs, id)
    }
    const replies = await pipeline.exec()
    const refusal = replies?.find(([error]) => error !== null)?.[0]
    if (refusal) throw refusal
    peers = Math.max(1, Number(replies?.[2]?.[1] ?? 1))
  }
  const beat = async (): Promise<void> => {
    clearTimeout(timer)
    let waitMs = everyMs
    try {
      await heartbeat()
      onRefused(undefined)
    } catch (error) {
      // A connection that is away says so itself; one that stands and refuses would not be noticed until calls are counted.
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
  return {
    peers: () => peers,
    async stop() {
      stopped = true
      clearTimeout(timer)
      redis.off('ready', connected)
      if (redis.status === 'ready') await redis.zrem(key, self).catch(() => undefined)
    },
  }
}

/** An answer that says no, unlike a connection that breaks or stays silent. */
const isRefusal = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Leases go by the clock of Redis, the only one all processes have in common. */
async function serverNow(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time()
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
}
