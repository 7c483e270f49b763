import type { LookupAddress } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { createLookup } from './lookup.ts'
import { portOf, type Proxies } from './proxy.ts'
import { ofProxy, openTunnel } from './tunnel.ts'
import { buildConnector } from './undici.ts'

/** How long an address has to itself before the next one is tried beside it (RFC 8305, 5). */
const HEAD_START_MS = 250
/** After a minute of silence the kernel asks whether the other end is still there; a read takes as much as the kernel has at hand. */
const SOCKET = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000, highWaterMark: 64 * 1024 }

export interface ConnectorOptions {
  /** Of a name; asked for all of its addresses. */
  readonly lookup: LookupFunction
  /** Milliseconds for name resolution, TCP and TLS together. */
  readonly timeoutMs: number
  /** Certificate authorities besides the system's, PEM. */
  readonly ca?: string
  /** If it names a proxy, the proxy resolves the host name. */
  readonly proxies?: Proxies | undefined
}

const lookupOfProxies = createLookup()

/**
 * Connects as undici would, but to a name with several addresses as RFC 8305 has it: an address that has not answered after a quarter of a second
 * has company, and whichever is first is taken. Node gives up one for the next. So a gateway without IPv6, further away than that from a provider that
 * has both, or busy for as long in one turn of its event loop (timers come before what has arrived), had given up the only address it could reach.
 */
export function createConnector({ lookup, timeoutMs, ca, proxies }: ConnectorOptions): buildConnector.connector {
  // The limit is for all steps together, and kept here.
  const secure = buildConnector({ allowH2: false, timeout: 0, ...(ca === undefined ? {} : { ca }) })
  return (target, callback) => {
    let isOver = false
    let stop = (): void => undefined
    const settle: buildConnector.Callback = (...result) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      callback(...result)
    }
    const giveUp = (): void => {
      if (isOver) return
      settle(connectTimeout(), null)
      stop()
    }
    // What has arrived while the event loop was busy comes before the limit.
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs).unref()
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
        openTunnel(socket, proxy, { target, secure, holds: (held) => (stop = () => void held.destroy()) }, (...[refusal, tunnel]) =>
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
 * Hands over the first socket that connects, or the error of all that were tried, whose code is that of the first. An address that fails makes room
 * for the next at once. Returns what ends all that is under way.
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
    // It stays with the one that is taken, for what may come before its new owner listens.
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

/** In their order, but the two families by turns: one of them may lead nowhere. */
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
