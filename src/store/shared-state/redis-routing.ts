import type { Redis } from 'ioredis'
import { randomId } from '../../lib/id.ts'

/** Pins of sessions in Redis: what router/sticky asks for as its `PinStore`. */
export interface SharedPins {
  get(key: string, signal: AbortSignal): Promise<string | undefined>
  set(key: string, endpointId: string, ttlMs: number, moved: boolean): void
  listen(handler: (pin: { readonly key: string; readonly endpointId: string }) => void): void
}

const MAX_ID_CHARS = 512

/** Channels are one for all databases of a server, unlike keys: installations that share it by database alone are told apart by its number. */
const channelOf = ({ options }: Redis, namespace: string, what: string): string =>
  `${namespace}:${options.db === undefined || options.db === 0 ? '' : `${options.db}:`}${what}`

/** `subscriber` is a connection of its own: a subscribed one takes no other commands. */
export function createRedisPins(redis: Redis, subscriber: Redis, namespace = 'signalbox', onRefused: OnRefused = () => undefined): SharedPins {
  const nameOf = (key: string): string => `{${namespace}}:pin:${key}`
  const channel = channelOf(redis, namespace, 'pins')
  const tell = createTeller(redis, channel, onRefused)
  const self = randomId(12)
  return {
    async get(key, signal) {
      if (redis.status !== 'ready' || signal.aborted) return undefined
      return (await redis.get(nameOf(key))) ?? undefined
    },
    set(key, endpointId, ttlMs, moved) {
      if (redis.status !== 'ready' || endpointId.length > MAX_ID_CHARS) return
      redis.set(nameOf(key), endpointId, 'PX', Math.max(1, Math.ceil(ttlMs))).catch(() => undefined)
      if (moved) tell({ from: self, key, endpointId })
    },
    listen(handler) {
      tell({ from: self })
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

/** Cooldowns told to the other processes: what router/health asks for as its `CooldownChannel`. */
export interface SharedCooldowns {
  announce(cooldown: SharedCooldown): void
  listen(handler: (cooldown: SharedCooldown) => void): () => void
}

/** Told what Redis says when it does not let this process listen or tell (users have lists of channels and commands of their own). */
export type OnRefused = (error: Error) => void

const ifRefused =
  (onRefused: OnRefused) =>
  (error: unknown): void =>
    void (error instanceof Error && error.name === 'ReplyError' && onRefused(error))

/** Whoever listens tells something empty first: what is refused is known then, not with the first cooldown weeks later. */
function createTeller(redis: Redis, channel: string, onRefused: OnRefused): (message: object) => void {
  return (message) => {
    if (redis.status === 'ready') redis.publish(channel, JSON.stringify(message)).catch(ifRefused(onRefused))
  }
}

/** Hears a channel from now on, and again after every reconnection. Returns how to stop. Others may write there too: what is no JSON object is dropped. */
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
  // A connection that breaks meanwhile asks again when it stands; what the server itself has refused it refuses then, too.
  const ask = (): void => void subscriber.subscribe(channel).catch(ifRefused(onRefused))
  subscriber.on('message', onMessage)
  subscriber.on('ready', ask)
  if (subscriber.status === 'ready') ask()
  return () => {
    subscriber.off('message', onMessage)
    subscriber.off('ready', ask)
  }
}

/** `subscriber` is a connection of its own: a subscribed one takes no other commands. */
export function createRedisCooldowns(
  redis: Redis,
  subscriber: Redis,
  namespace = 'signalbox',
  onRefused: OnRefused = () => undefined,
): SharedCooldowns {
  const channel = channelOf(redis, namespace, 'cooldowns')
  const tell = createTeller(redis, channel, onRefused)
  const self = randomId(12)
  return {
    announce({ endpointId, until }) {
      tell({ from: self, endpointId, until })
    },
    listen(handler) {
      tell({ from: self })
      return subscribe(subscriber, channel, onRefused, ({ from, endpointId, until }) => {
        if (from !== self && typeof endpointId === 'string' && typeof until === 'number' && Number.isFinite(until)) handler({ endpointId, until })
      })
    },
  }
}
