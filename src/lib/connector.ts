import type { LookupAddress } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { whenLate } from './late.ts'
import { createLookup } from './lookup.ts'
import { portOf, type Proxies } from './proxy.ts'
import { ofProxy, openTunnel } from './tunnel.ts'
import { buildConnector } from './undici.ts'

/** Time for one address before the next is tried in parallel (RFC 8305, section 5). */
const HEAD_START_MS = 250
/** After a minute of silence the kernel probes whether the peer is still there. One read takes up to 64 KiB of what the kernel has. */
const SOCKET = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000, highWaterMark: 64 * 1024 }

export interface ConnectorOptions {
  /** Must resolve a name to all of its addresses. */
  readonly lookup: LookupFunction
  /** Milliseconds for name resolution, TCP and TLS together. */
  readonly timeoutMs: number
  /** Certificate authorities besides the system's, PEM. */
  readonly ca?: string
  /** If there is a proxy for the target, the proxy resolves the host name. */
  readonly proxies?: Proxies | undefined
}

const lookupOfProxies = createLookup()

/**
 * Connects like undici, except to a name with several addresses, where it follows RFC 8305: after a quarter of a second without an answer the next address
 * is tried in parallel, and the first connection is used. Node abandons one address for the next. A gateway without IPv6 therefore gave up the only
 * address it could reach if the provider had both families and took longer than that, or if one turn of the gateway's event loop did (timers run before
 * the events that have arrived).
 */
export function createConnector({ lookup, timeoutMs, ca, proxies }: ConnectorOptions): buildConnector.connector {
  // The limit is for all steps together and is enforced here.
  const secure = buildConnector({ allowH2: false, timeout: 0, ...(ca === undefined ? {} : { ca }) })
  return (target, callback) => {
    let isOver = false
    let stop = (): void => undefined
    const settle: buildConnector.Callback = (...result) => {
      if (isOver) return
      isOver = true
      callOff()
      callback(...result)
    }
    const giveUp = (): void => {
      if (isOver) return
      settle(connectTimeout(), null)
      stop()
    }
    const callOff = whenLate(timeoutMs, giveUp)
    const take = (socket: Socket): void => {
      if (target.protocol !== 'https:') return settle(null, socket)
      stop = () => void socket.destroy()
      secure({ ...target, httpSocket: socket }, settle)
    }
    const proxy = proxies?.of(target)
    const peer = proxy ?? { host: target.hostname, port: portOf(target.protocol, target.port) }
    const fail = (error: Error): void => settle(proxy === undefined ? error : ofProxy(error), null)
    addressesOf(proxy === undefined ? lookup : lookupOfProxies, peer.host, (failure, addresses) => {
      if (isOver) return
      if (failure !== null) return fail(failure)
      const open = ({ address, family }: LookupAddress): Socket => connect({ ...SOCKET, host: address, family, port: peer.port })
      stop = firstToConnect(addresses, open, (...[error, socket]) => {
        if (error !== null) return fail(error)
        if (proxy === undefined) return take(socket)
        openTunnel(socket, proxy, { target, secure, holds: (socketInUse) => (stop = () => void socketInUse.destroy()) }, (...[refusal, tunnel]) =>
          refusal === null ? take(tunnel) : fail(refusal),
        )
      })
    })
  }
}

const connectTimeout = (): Error => Object.assign(new Error('connecting took too long'), { code: 'UND_ERR_CONNECT_TIMEOUT' })

function addressesOf(lookup: LookupFunction, host: string, found: (error: Error | null, addresses: readonly LookupAddress[]) => void): void {
  const family = isIP(host)
  if (family !== 0) return found(null, [{ address: host, family }])
  lookup(host, { all: true, family: 0, hints: 0 }, (error, addresses) => found(error, addresses as LookupAddress[]))
}

type FirstSocket = (...result: [error: null, socket: Socket] | [error: Error]) => void

/**
 * Passes on the first socket that connects, or else the error of all attempts, with the code of the first. If an address fails, the next is tried at once.
 * Returns a function that ends all attempts.
 */
export function firstToConnect(addresses: readonly LookupAddress[], open: (address: LookupAddress) => Socket, done: FirstSocket): () => void {
  const left = alternating(addresses)
  const trying = new Set<Socket>()
  const errors: Error[] = []
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    clearTimeout(timer)
    left.length = 0
    for (const socket of trying) socket.destroy()
    trying.clear()
  }
  const next = (): void => {
    clearTimeout(timer)
    const address = left.shift()
    if (address === undefined) return
    const socket = open(address)
    trying.add(socket)
    socket.once('connect', () => {
      trying.delete(socket)
      stop()
      done(null, socket)
    })
    // The listener stays on the chosen socket, for errors before its new owner listens.
    socket.on('error', (error) => {
      if (!trying.delete(socket)) return
      errors.push(error)
      if (left.length > 0) next()
      else if (trying.size === 0) done(errorOf(errors))
    })
    if (left.length > 0) timer = setTimeout(next, HEAD_START_MS)
  }
  if (left.length === 0) done(errorOf(errors))
  next()
  return stop
}

/** In the given order, but alternating between the two families, because one of them may be unreachable. */
function alternating(addresses: readonly LookupAddress[]): LookupAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family)
  const other = addresses.filter(({ family }) => family !== addresses[0]?.family)
  const longest = Math.max(first.length, other.length)
  return Array.from({ length: longest }, (_, at) => [first[at], other[at]])
    .flat()
    .filter((each) => each !== undefined)
}

function errorOf(errors: readonly Error[]): Error {
  const [first] = errors
  if (first === undefined || errors.length === 1) return first ?? new Error('the name has no address')
  return Object.assign(new AggregateError(errors, errors.map(({ message }) => message).join(', ')), { code: (first as NodeJS.ErrnoException).code })
}
