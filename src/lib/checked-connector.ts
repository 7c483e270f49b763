import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { createConnector } from './connector.ts'
import { checkAddress, EgressError, type EgressPolicy } from './egress-policy.ts'
import { createBoundedLookup, lookupThreads } from './lookup.ts'
import type { ConnectionTarget, Proxies } from './proxy.ts'
import type { buildConnector } from './undici.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}
/** All addresses of a host name. */
export type Resolver = (host: string) => Promise<readonly ResolvedAddress[]>

export interface CheckedConnectorOptions {
  readonly resolver?: Resolver
  /** Milliseconds for name resolution, TCP and TLS together; default 5,000. */
  readonly connectTimeoutMs?: number
  /** Certificate authorities besides the system's, PEM. */
  readonly ca?: string
  /** A proxy resolves names itself. Names that can be resolved here as well are checked first; the rest is left to the proxy. */
  readonly proxies?: Proxies | undefined
}

/** A quarter of the threads that resolve names: another thread of the gateway uses as many, and half is for the names of providers. */
const addressesOf = createBoundedLookup({ most: Math.max(1, Math.floor(lookupThreads() / 4)), waiting: 1_000, limitMs: 5_000 })
const systemResolver: Resolver = async (host) => (await addressesOf(host)).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))

/**
 * Connects only to addresses that the policy allows. A name is resolved once, all its addresses are checked, and the connection uses one of them, so that
 * the address checked is the address used. If a proxy resolves the name instead, the addresses known here are checked before the proxy is asked.
 */
export function createCheckedConnector(options: CheckedConnectorOptions, policy: EgressPolicy): buildConnector.connector {
  const resolver = options.resolver ?? systemResolver
  const timeout = options.connectTimeoutMs ?? 5_000
  const build = (protocol: string): buildConnector.connector =>
    createConnector({
      timeoutMs: timeout,
      lookup: checkedLookup(resolver, protocol, policy, timeout),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      proxies: options.proxies,
    })
  const connectors = { secure: build('https:'), plain: build('http:') }
  return (target, callback) => {
    const connect = target.protocol === 'https:' ? connectors.secure : connectors.plain
    if (options.proxies?.of(target) !== undefined) {
      const refused = (error: unknown): void => callback(error as Error, null)
      return void checkProxied(resolver, target, policy).then(() => connect(target, callback), refused)
    }
    connect(target, (...result) => {
      const socket = result[1]
      // Final check: however the connection was made, the peer itself must be allowed.
      const peer = socket?.remoteAddress
      if (socket && peer !== undefined) {
        try {
          checkAddress(peer.replace(/^::ffff:(?=\d+\.)/, ''), target.protocol, policy, target.hostname)
        } catch (error) {
          socket.destroy()
          callback(error as Error, null)
          return
        }
      }
      callback(...result)
    })
  }
}

/** `lookup` of a socket: resolves once, and checks and returns all addresses. */
function checkedLookup(resolver: Resolver, protocol: string, policy: EgressPolicy, timeoutMs: number): LookupFunction {
  const resolve = async (host: string): Promise<readonly ResolvedAddress[]> => {
    const addresses = await withLimit(resolver(host), timeoutMs, host)
    if (addresses.length === 0) throw new EgressError('dns', `${host} has no address`)
    for (const { address } of addresses) checkAddress(address, protocol, policy, host)
    return addresses
  }
  const lookup = callbackify(resolve)
  return (hostname, lookupOptions, callback) => {
    lookup(hostname, (error, addresses) => {
      if (error) return callback(error instanceof EgressError ? error : new EgressError('dns', `${hostname} could not be resolved`, error), [])
      const { family, all } = lookupOptions
      const wanted = addresses.filter((each) => !family || family === each.family || family === `IPv${each.family}`)
      const usable = wanted.length > 0 ? wanted : addresses
      if (all) return callback(null, [...usable])
      return callback(null, usable[0]!.address, usable[0]!.family)
    })
  }
}

/** Networks behind a proxy often have name servers that do not know public names, and that take their time to say so. */
const PROXIED_LOOKUP_MS = 1_000

/** Names of private networks: single-label names, or names below a reserved domain (RFC 6762, RFC 8375, and `internal`, reserved by ICANN). */
const INNER_NAME = /^[^.]+$|\.(?:internal|local|localhost|home\.arpa)$/

/** Rejects with EgressError `refused`. */
async function checkProxied(resolver: Resolver, target: ConnectionTarget, policy: EgressPolicy): Promise<void> {
  const host = target.hostname.replace(/\.$/, '')
  if (isIP(host) !== 0) return checkAddress(host, target.protocol, policy, host)
  const addresses = await withLimit(resolver(host), PROXIED_LOOKUP_MS, host).catch(() => [])
  for (const { address } of addresses) checkAddress(address, target.protocol, policy, host)
  if (addresses.length > 0) return
  if (INNER_NAME.test(host.toLowerCase())) {
    if (!policy.allowPrivate) throw new EgressError('refused', `${host} is a name of private networks; the operator has not allowed those`)
  } else if (target.protocol === 'http:' && !policy.allowHttp) throw new EgressError('refused', `${host} may be public: only https is allowed`)
}

async function withLimit<T>(work: Promise<T>, timeoutMs: number, host: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new EgressError('dns', `${host} was not resolved in time`)), timeoutMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}
