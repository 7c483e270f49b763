import dns, { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * The C library resolves names, and occupies a thread of the process's pool for ten seconds and more while a name server does not answer. libuv allows
 * half of the pool's threads for this. Therefore all requests for the same name share one lookup at a time. With one lookup per connection, a single
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
      // The lookup itself failed, as for a name with a NUL, so no callback will ever come.
      underWay.delete(key)
      throw error
    }
  }
}

type Callback = Parameters<LookupFunction>[2]
type LookUp = (hostname: string, options: LookupOptions, callback: Callback) => void

/**
 * The same for libraries that open their own connections and do not accept a lookup function (drivers of databases and brokers), in each thread: it
 * replaces Node's own function, which sockets call by name. A pool whose database had a silent name server retried all the time and occupied every thread
 * within a second, so that no provider could be resolved.
 */
export function shareLookups(node: Pick<typeof dns, 'lookup'> = dns): void {
  const own = node.lookup
  const shared = createLookup(own)
  const lookup = (hostname: string, options: unknown, callback: unknown): unknown =>
    typeof options === 'object' && options !== null && typeof callback === 'function'
      ? shared(hostname, options, callback as Callback)
      : (own as (...given: unknown[]) => unknown)(hostname, options, callback)
  // Keeps the property that `util.promisify` uses.
  node.lookup = Object.defineProperties(lookup, Object.getOwnPropertyDescriptors(own)) as typeof own
}

export interface BoundedOptions {
  /** Concurrent lookups. */
  readonly most: number
  /** Names that may wait for their turn. */
  readonly waiting: number
  /** Longest wait for a turn, in milliseconds. */
  readonly limitMs: number
}

/**
 * Resolves names that callers choose, with few threads: whoever owns a name can make its server silent, and could occupy every thread with enough such
 * names. Rejects with the system's error, or with code `EAI_AGAIN` if a name's turn does not come in time or too many are waiting.
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

/** libuv's default pool size. */
const POOL = 4

/** The number of threads that libuv uses at the same time for slow work such as name resolution: half of the pool (`slow_work_thread_threshold`). */
export const lookupThreads = (poolSize = process.env['UV_THREADPOOL_SIZE']): number => {
  const size = Math.min(1024, Math.max(1, Math.floor(Number(poolSize)) || POOL))
  return Math.floor((size + 1) / 2)
}
