import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, Place } from '../src/testing/cluster.ts'
import { ok, type FakeDestination, type Reaction } from '../src/testing/fake-destination.ts'
import type { PrivateRedis } from '../src/testing/redis.ts'

/** Failures of processes, their networks, Redis and a destination. They are drawn one after the other, and several may last at the same time. */

/** A process without its database, with start and end in milliseconds of `performance.now()`. */
export interface Severed {
  readonly place: Place
  readonly from: number
  readonly to: number
  /** Connections that were open then no longer reach anything, and the process notices it only by its time limits. */
  readonly silently: boolean
}

export interface MisfortunesOptions {
  readonly cluster: Cluster
  readonly redis: PrivateRedis
  readonly receiver: FakeDestination
  readonly random: () => number
  /** A restarted process has a new address. */
  readonly onRestart: (place: Place) => void
  /** Changes something that all processes have to learn, through a running one. */
  readonly change: (through: Place) => Promise<void>
}

export interface Misfortunes {
  /** Begins the next failure, if one is possible now. */
  next(): void
  /** Resolves when all failures are over and every process runs. Rejects if one did not end properly. */
  over(): Promise<void>
  readonly severed: readonly Severed[]
  /** What happened, one line each, with milliseconds of `performance.now()`. */
  readonly story: readonly string[]
}

export function createMisfortunes({ cluster, redis, receiver, random, onRestart, change }: MisfortunesOptions): Misfortunes {
  const { places } = cluster
  const gateways = places.filter(({ role }) => role === 'gateway')
  const workers = places.filter(({ role }) => role === 'worker')
  const severed: Severed[] = []
  const story: string[] = []
  const running: Promise<void>[] = []
  /** Only one failure at a time for each. */
  const struck = new Set<Place>()
  const tell = (what: string): void => void story.push(`${Math.round(performance.now())} ${what}`)
  const draw = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const between = (low: number, high: number): number => Math.round(low + random() * (high - low))

  const strike = (among: readonly Place[], act: (place: Place, ms: number) => Promise<void>, ms: number): Promise<void> | undefined => {
    const free = among.filter((place) => !struck.has(place) && place.process !== undefined)
    if (free.length === 0) return undefined
    const place = draw(free)
    struck.add(place)
    return act(place, ms).finally(() => struck.delete(place))
  }
  const restart =
    (signal: 'SIGTERM' | 'SIGKILL') =>
    async (place: Place, ms: number): Promise<void> => {
      tell(`${place.name}: ${signal}, back after ${ms} ms`)
      const code = await cluster.end(place, signal)
      await sleep(ms)
      await cluster.start(place)
      onRestart(place)
      tell(`${place.name}: runs again`)
      if (signal === 'SIGTERM' && code !== 0) throw new Error(`${place.name} ended with ${code}: ${place.outputs.at(-1)?.slice(-1_000)}`)
    }
  const suffer =
    (service: 'database' | 'redis', how: 'cut' | 'silence' | 'forget') =>
    async (place: Place, ms: number): Promise<void> => {
      tell(`${place.name}: ${service} ${how}, ${ms} ms`)
      const from = performance.now()
      place[service][how]()
      await sleep(ms)
      place[service].repair()
      if (service === 'database') severed.push({ place, from, to: performance.now(), silently: how === 'forget' })
    }
  const react = async (reaction: Reaction, ms: number): Promise<void> => {
    tell(`the receiver: ${JSON.stringify(reaction)}, ${ms} ms`)
    receiver.react = () => reaction
    await sleep(ms)
    receiver.react = () => ok
  }
  const changeThrough = async (place: Place | undefined): Promise<void> => {
    if (place !== undefined) await change(place)
  }
  /** One gateway must keep serving. */
  const endGateway = (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> | undefined =>
    gateways.every(({ process }) => process !== undefined) ? strike(gateways, restart(signal), between(200, 1_500)) : undefined

  const kinds: readonly (() => Promise<void> | undefined)[] = [
    () => endGateway('SIGKILL'),
    () => endGateway('SIGTERM'),
    () => strike(workers, restart('SIGKILL'), between(200, 1_500)),
    () => strike(workers, restart('SIGTERM'), between(200, 1_500)),
    () => strike(places, suffer('database', 'cut'), between(300, 4_000)),
    () => strike(places, suffer('database', 'silence'), between(300, 4_000)),
    () => strike(places, suffer('database', 'forget'), 10),
    () => strike(places, suffer('redis', 'cut'), between(300, 4_000)),
    () => strike(places, suffer('redis', 'silence'), between(300, 4_000)),
    () => strike(places, suffer('redis', 'forget'), 10),
    () => {
      tell('Redis: killed and started again, empty')
      return redis.start()
    },
    () => react({ kind: 'answer', status: 200, afterMs: 400 }, between(500, 3_000)),
    () => react({ kind: 'answer', status: 503 }, between(500, 3_000)),
    () => react({ kind: 'reset' }, between(300, 1_500)),
    () => react({ kind: 'hang' }, between(300, 2_000)),
    () => changeThrough(gateways.find(({ process }) => process !== undefined)),
    () => changeThrough(gateways.findLast(({ process }) => process !== undefined)),
    () => {
      const place = draw(places)
      tell(`${place.name}: SIGHUP`)
      place.process?.child.kill('SIGHUP')
      return undefined
    },
  ]
  return {
    severed,
    story,
    next() {
      const happening = draw(kinds)()
      if (happening !== undefined) running.push(happening)
    },
    async over() {
      await Promise.all(running)
      for (const { database, redis: shared } of places) {
        database.repair()
        shared.repair()
      }
      tell('all is well again')
    },
  }
}
