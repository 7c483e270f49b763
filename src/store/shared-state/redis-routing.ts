import type { Redis } from 'ioredis'
import { randomId } from '../../lib/id.ts'

/** Session pins in Redis: the `PinStore` of router/sticky. */
export interface SharedPins {
  get(key: string, signal: AbortSignal): Promise<string | undefined>
  set(key: string, endpointId: string, ttlMs: number, moved: boolean): void
  listen(handler: (pin: { readonly key: string; readonly endpointId: string }) => void): void
}

const MAX_ID_CHARS = 512

/** Unlike keys, channels are shared by all databases of a server, so the database number is part of the name. */
const channelOf = ({ options }: Redis, namespace: string, what: string): string =>
  `${namespace}:${options.db === undefined || options.db === 0 ? '' : `${options.db}:`}${what}`

/** `subscriber`: a separate connection, because one that subscribes takes no other commands. */
export function createRedisPins(redis: Redis, subscriber: Redis, namespace = 'signalbox', onRefused: OnRefused = () => undefined): SharedPins {
  const nameOf = (key: string): string => `{${namespace}}:pin:${key}`
  const channel = channelOf(redis, namespace, 'pins')
  const publish = createPublisher(redis, channel, onRefused)
  const self = randomId(12)
  return {
    async get(key, signal) {
      if (redis.status !== 'ready' || signal.aborted) return undefined
      return (await redis.get(nameOf(key))) ?? undefined
    },
    set(key, endpointId, ttlMs, moved) {
      if (redis.status !== 'ready' || endpointId.length > MAX_ID_CHARS) return
      redis.set(nameOf(key), endpointId, 'PX', Math.max(1, Math.ceil(ttlMs))).catch(() => undefined)
      if (moved) publish({ from: self, key, endpointId })
    },
    listen(handler) {
      publish({ from: self })
      subscribe(subscriber, channel, onRefused, (message) => {
        const { from, key, endpointId } = message
        if (from !== self && typeof key === 'string' && typeof endpointId === 'string' && endpointId.length <= MAX_ID_CHARS)
          handler({ key, endpointId })
      })
    },
  }
}

interface SharedCooldown {
  readonly endpointId: string
  readonly until: number
}

/** Cooldowns for the other processes: the `CooldownChannel` of router/health. */
export interface SharedCooldowns {
  announce(cooldown: SharedCooldown): void
  listen(handler: (cooldown: SharedCooldown) => void): () => void
}

/** Called with Redis's error if it does not let this process subscribe or publish (ACLs restrict channels and commands). */
export type OnRefused = (error: Error) => void

const ifRefused =
  (onRefused: OnRefused) =>
  (error: unknown): void =>
    void (error instanceof Error && error.name === 'ReplyError' && onRefused(error))

/** Listeners publish an empty message first, so that missing rights show at once and not with the first cooldown weeks later. */
function createPublisher(redis: Redis, channel: string, onRefused: OnRefused): (message: object) => void {
  return (message) => {
    if (redis.status === 'ready') redis.publish(channel, JSON.stringify(message)).catch(ifRefused(onRefused))
  }
}

/** Subscribes to a channel, and again after every reconnection. Returns how to stop. Others may publish there too, so anything but JSON objects is ignored. */
function subscribe(
  subscriber: Redis,
  channel: string,
  onRefused: OnRefused,
  handler: (message: { readonly [field: string]: unknown }) => void,
): () => void {
  const onMessage = (from: string, text: string): void => {
    if (from !== channel) return
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return
    }
    if (typeof message === 'object' && message !== null) handler(message as { readonly [field: string]: unknown })
  }
  // A connection that breaks meanwhile subscribes again when it is back; if the server refuses, it does so again then.
  const ask = (): void => void subscriber.subscribe(channel).catch(ifRefused(onRefused))
  subscriber.on('message', onMessage)
  subscriber.on('ready', ask)
  if (subscriber.status === 'ready') ask()
  return () => {
    subscriber.off('message', onMessage)
    subscriber.off('ready', ask)
  }
}

/** `subscriber`: a separate connection, because one that subscribes takes no other commands. */
export function createRedisCooldowns(
  redis: Redis,
  subscriber: Redis,
  namespace = 'signalbox',
  onRefused: OnRefused = () => undefined,
): SharedCooldowns {
  const channel = channelOf(redis, namespace, 'cooldowns')
  const publish = createPublisher(redis, channel, onRefused)
  const self = randomId(12)
  return {
    announce({ endpointId, until }) {
      publish({ from: self, endpointId, until })
    },
    listen(handler) {
      publish({ from: self })
      return subscribe(subscriber, channel, onRefused, ({ from, endpointId, until }) => {
        if (from !== self && typeof endpointId === 'string' && typeof until === 'number' && Number.isFinite(until)) handler({ endpointId, until })
      })
    },
  }
}
