import type { Redis } from 'ioredis'
import { randomId } from '../../lib/id.ts'

/** Pins of sessions in Redis: what router/sticky asks for as its `PinStore`. */
export interface SharedPins {
  get(key: string, signal: AbortSignal): Promise<string | undefined>
  set(key: string, endpointId: string, ttlMs: number): void
}

const MAX_ID_CHARS = 512

export function createRedisPins(redis: Redis, namespace = 'signalbox'): SharedPins {
  const nameOf = (key: string): string => `{${namespace}}:pin:${key}`
  return {
    async get(key, signal) {
      if (redis.status !== 'ready' || signal.aborted) return undefined
      return (await redis.get(nameOf(key))) ?? undefined
    },
    set(key, endpointId, ttlMs) {
      if (redis.status !== 'ready' || endpointId.length > MAX_ID_CHARS) return
      redis.set(nameOf(key), endpointId, 'PX', Math.max(1, Math.ceil(ttlMs))).catch(() => undefined)
    },
  }
}

interface SharedCooldown {
  readonly endpointId: string
  readonly until: number
}

/** Cooldowns told to the other processes: what router/health asks for as its `CooldownChannel`. */
export interface SharedCooldowns {
  announce(cooldown: SharedCooldown): void
  listen(handler: (cooldown: SharedCooldown) => void): () => void
}

/** `subscriber` is a connection of its own: a subscribed one takes no other commands. */
export function createRedisCooldowns(redis: Redis, subscriber: Redis, namespace = 'signalbox'): SharedCooldowns {
  const channel = `${namespace}:cooldowns`
  const self = randomId(12)
  return {
    announce({ endpointId, until }) {
      if (redis.status === 'ready') redis.publish(channel, JSON.stringify({ from: self, endpointId, until })).catch(() => undefined)
    },
    listen(handler) {
      const onMessage = (_channel: string, text: string): void => {
        const cooldown = decode(text, self)
        if (cooldown !== undefined) handler(cooldown)
      }
      const subscribe = (): void => void subscriber.subscribe(channel).catch(() => undefined)
      subscriber.on('message', onMessage)
      subscriber.on('ready', subscribe)
      if (subscriber.status === 'ready') subscribe()
      return () => {
        subscriber.off('message', onMessage)
        subscriber.off('ready', subscribe)
      }
    },
  }
}

/** Others may write to the channel too: only what has the right shape counts, and nothing of our own. */
function decode(text: string, self: string): SharedCooldown | undefined {
  try {
    const { from, endpointId, until } = JSON.parse(text) as { readonly from?: unknown; readonly endpointId?: unknown; readonly until?: unknown }
    if (from === self || typeof endpointId !== 'string' || typeof until !== 'number' || !Number.isFinite(until)) return undefined
    return { endpointId, until }
  } catch {
    return undefined
  }
}
