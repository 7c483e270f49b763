import dns, { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * Names are looked up by the C library, which keeps a thread of the process's pool for as long as a name server says nothing: ten seconds and
 * more. libuv has half of the pool's threads for that. So of each name one look-up is under way at a time, whoever else asks meanwhile: with one for
 * each connection, the name of a single provider whose server is silent would keep all others from being found.
 */
export function createLookup(lookUp: LookUp = dnsLookup): LookupFunction {
  const underWay = new Map<string, Callback[]>()
  return (hostname, options, callback) => {
    const key = JSON.stringify([hostname, options.family, options.hints, options.all, options.order, options.verbatim])
    const waiting = underWay.get(key)
    if (waiting !== undefined) return void waiting.push(callback)
    const callbacks: Callback[] = [callback]
    underWay.set(key, callbacks)
    lookUp(hostname, options, (...found) => {
      underWay.delete(key)
      for (const each of callbacks) each(...found)
    })
  }
}

type Callback = Parameters<LookupFunction>[2]
type LookUp = (hostname: string, options: LookupOptions, callback: Callback) => void

/**
 * The same for whatever connects by itself and takes no look-up of ours (drivers of databases and brokers), in each thread: Node's own is replaced,
 * which sockets ask for by its name each time. A database whose name server says nothing is tried again and again by a pool of connections, and
 * within a second had every thread for names; no provider was found any more.
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
 * Addresses of a name, for names that callers choose: whoever owns one can have its server say nothing, and with enough of them would hold every
 * thread there is for looking up. They have a few of these threads. Rejects with the system's error, or with one of the code `EAI_AGAIN` where
 * it was no name's turn in time or too many wait.
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

/** libuv's own number where nobody has set another. */
const POOL = 4

/** Threads libuv gives at a time to what may take long, names among it: half of the pool (`slow_work_thread_threshold`). */
export const lookupThreads = (poolSize = process.env['UV_THREADPOOL_SIZE']): number => {
  const size = Math.min(1024, Math.max(1, Math.floor(Number(poolSize)) || POOL))
  return Math.floor((size + 1) / 2)
}
