import dns, { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * Names are resolved by the C library, which occupies a thread of the process's pool while a name server is silent: ten seconds and more. libuv
 * allows half of the pool's threads for that. So there is one look-up per name at a time, shared by all who ask: with one per connection, a single
 * provider with a silent name server would keep all others from being resolved.
 */
export function createLookup(lookUp: LookUp = dnsLookup): LookupFunction {
  const underWay = new Map<string, Callback[]>()
  return (hostname, options, callback) => {
    const key = JSON.stringify([hostname, options.family, options.hints, options.all, options.order, options.verbatim])
    const waiting = underWay.get(key)
    if (waiting !== undefined) return void waiting.push(callback)
    const callbacks: Callback[] = [callback]
    underWay.set(key, callbacks)
    try {
      lookUp(hostname, options, (...found) => {
        underWay.delete(key)
        for (const each of callbacks) each(...found)
      })
    } catch (error) {
      // A name with a NUL, for example: nobody will ever be called back.
      underWay.delete(key)
      throw error
    }
  }
}

type Callback = Parameters<LookupFunction>[2]
type LookUp = (hostname: string, options: LookupOptions, callback: Callback) => void

/**
 * The same for libraries that connect by themselves and take no look-up function of ours (drivers of databases and brokers), in each thread: replaces
 * Node's own, which sockets call by name. A pool whose database has a silent name server retries all the time, and within a second occupied every
 * thread, so that no provider could be resolved.
 */
export function shareLookups(node: Pick<typeof dns, 'lookup'> = dns): void {
  const own = node.lookup
  const shared = createLookup(own)
  const lookup = (hostname: string, options: unknown, callback: unknown): unknown =>
    typeof options === 'object' && options !== null && typeof callback === 'function'
      ? shared(hostname, options, callback as Callback)
      : (own as (...given: unknown[]) => unknown)(hostname, options, callback)
  // With how `util.promisify` calls it.
  node.lookup = Object.defineProperties(lookup, Object.getOwnPropertyDescriptors(own)) as typeof own
}

export interface BoundedOptions {
  /** Look-ups under way at a time. */
  readonly most: number
  /** Names that may wait for their turn. */
  readonly waiting: number
  /** How long one waits for its turn, milliseconds. */
  readonly limitMs: number
}

/**
 * Resolves names that callers choose, with a few threads only: whoever owns a name can make its server silent, and with enough names occupy every
 * thread. Rejects with the system's error, or with code `EAI_AGAIN` if a name's turn did not come in time or too many wait.
 */
export function createBoundedLookup({ most, waiting: room, limitMs }: BoundedOptions, lookUp: LookUp = dnsLookup) {
  const flights = new Map<string, Promise<readonly LookupAddress[]>>()
  const queue = new Set<() => void>()
  let underWay = 0
  const next = (): void => {
    const [first] = queue
    if (first === undefined || underWay >= most) return
    queue.delete(first)
    first()
  }
  const turn = (): Promise<void> => {
    if (underWay < most) {
      underWay++
      return Promise.resolve()
    }
    if (queue.size >= room) return Promise.reject(tooMany())
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer)
        underWay++
        resolve()
      }
      const timer = setTimeout(() => {
        queue.delete(begin)
        reject(tooMany())
      }, limitMs)
      queue.add(begin)
    })
  }
  const look = (host: string): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) =>
      lookUp(host, { all: true, verbatim: true }, (error, addresses) => {
        if (error === null) resolve(addresses as LookupAddress[])
        else reject(error)
      }),
    )
  const fly = async (host: string): Promise<readonly LookupAddress[]> => {
    try {
      await turn()
      try {
        return await look(host)
      } finally {
        underWay--
        next()
      }
    } finally {
      flights.delete(host)
    }
  }
  return (host: string): Promise<readonly LookupAddress[]> => {
    const known = flights.get(host)
    if (known !== undefined) return known
    const flight = fly(host)
    flights.set(host, flight)
    return flight
  }
}

const tooMany = (): Error => Object.assign(new Error('too many names are being looked up'), { code: 'EAI_AGAIN' })

/** libuv's default. */
const POOL = 4

/** Threads libuv gives at a time to what may take long, names among it: half of the pool (`slow_work_thread_threshold`). */
export const lookupThreads = (poolSize = process.env['UV_THREADPOOL_SIZE']): number => {
  const size = Math.min(1024, Math.max(1, Math.floor(Number(poolSize)) || POOL))
  return Math.floor((size + 1) / 2)
}
