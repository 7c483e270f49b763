import { BlockList, isIP } from 'node:net'
import { isLoopback } from './loopback.ts'

/** A forward proxy that opens tunnels (RFC 9110, section 9.3.6). */
export interface Proxy {
  /** Whether the connection to the proxy itself uses TLS. */
  readonly secure: boolean
  /** Without the brackets of an IPv6 address. */
  readonly host: string
  readonly port: number
  /** The value of `Proxy-Authorization` if the proxy's address contains a name and a password. */
  readonly authorization: string | undefined
}

/** The target of a connection. An empty `port` stands for the protocol's default. */
export interface ConnectionTarget {
  /** `https:` or `http:`. */
  readonly protocol: string
  /** As in a URL: IPv6 addresses may have brackets. */
  readonly hostname: string
  readonly port: string
}

export interface Proxies {
  /** The proxy for a connection; undefined if it is direct. */
  of(target: ConnectionTarget): Proxy | undefined
  /** The proxy for targets with TLS (`secure`) and without (`plain`). */
  readonly secure: Proxy | undefined
  readonly plain: Proxy | undefined
  /** The targets, besides this machine, that are reached directly, as written in the environment; may be empty. */
  readonly except: string
}

/** An environment variable that should name a proxy but does not. The message never contains its value, which may include a password. */
export class ProxyVariableError extends Error {
  readonly variable: string

  constructor(variable: string, message: string) {
    super(message)
    this.name = 'ProxyVariableError'
    this.variable = variable
  }
}

type Environment = { readonly [name: string]: string | undefined }

/**
 * Reads the proxies of the environment like curl, Go and Python: `HTTPS_PROXY` for targets with TLS, `HTTP_PROXY` for others, `ALL_PROXY` if the specific
 * one is missing, and `NO_PROXY`; lower-case names have priority. This machine is always reached directly. Undefined if no proxy is named, so that
 * connections need no check. Throws ProxyVariableError.
 */
export function readProxies(env: Environment): Proxies | undefined {
  const secure = proxyOf(env, ['HTTPS_PROXY', 'ALL_PROXY'])
  const plain = proxyOf(env, ['HTTP_PROXY', 'ALL_PROXY'])
  if (secure === undefined && plain === undefined) return undefined
  const except = valueOf(env, 'NO_PROXY') ?? ''
  const isException = exceptions(except)
  return {
    of({ protocol, hostname, port }) {
      const proxy = protocol === 'https:' ? secure : plain
      if (proxy === undefined) return undefined
      const host = normalized(hostname)
      return isLoopback(host) || isException(host, portOf(protocol, port)) ? undefined : proxy
    },
    secure,
    plain,
    except,
  }
}

/** The proxy's address for display, without the password. */
export const nameOfProxy = ({ secure, host, port }: Proxy): string =>
  `${secure ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`

export const portOf = (protocol: string, port: string): number => Number(port) || (protocol === 'https:' ? 443 : 80)

const valueOf = (env: Environment, name: string): string | undefined => env[name.toLowerCase()]?.trim() || env[name]?.trim() || undefined

function proxyOf(env: Environment, names: readonly string[]): Proxy | undefined {
  const name = names.find((each) => valueOf(env, each) !== undefined)
  if (name === undefined) return undefined
  const text = valueOf(env, name)!
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || url.hostname === '' || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new ProxyVariableError(
      name,
      'not the address of a proxy; expected one such as http://proxy.example:3128 (http or https; SOCKS is not spoken)',
    )
  return {
    secure: url.protocol === 'https:',
    host: normalized(url.hostname),
    port: portOf(url.protocol, url.port),
    authorization: url.username === '' && url.password === '' ? undefined : `Basic ${credentialsOf(url, name)}`,
  }
}

function credentialsOf({ username, password }: URL, name: string): string {
  try {
    return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  } catch {
    throw new ProxyVariableError(name, 'its name or password has a percent sign that is not followed by two hexadecimal digits; write it as %25')
  }
}

const normalized = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')

function familyOf(host: string): 'ipv4' | 'ipv6' | undefined {
  const family = isIP(host)
  return family === 0 ? undefined : family === 4 ? 'ipv4' : 'ipv6'
}

type Exception = (host: string, port: number) => boolean

/**
 * Parses `NO_PROXY`. Entries are separated by commas or spaces: `*`, names (which include their subdomains), addresses, and ranges such as 10.0.0.0/8; a
 * port may follow.
 */
function exceptions(list: string): Exception {
  const entries = list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(exception)
  return (host, port) => entries.some((matches) => matches(host, port))
}

function exception(entry: string): Exception {
  if (entry === '*') return () => true
  const range = /^(.+)\/(\d{1,3})$/.exec(entry)
  if (range !== null) return inRange(range[1]!, Number(range[2]))
  // An IPv6 address without brackets has no port.
  const [, bracketed, name = entry, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? []
  const wanted = normalized(bracketed ?? name).replace(/^\*?\./, '')
  return (host, at) => (host === wanted || (isIP(host) === 0 && host.endsWith(`.${wanted}`))) && (port === undefined || Number(port) === at)
}

function inRange(address: string, prefix: number): Exception {
  const family = familyOf(address)
  if (family === undefined || prefix > (family === 'ipv4' ? 32 : 128)) return () => false
  const range = new BlockList()
  range.addSubnet(address, prefix, family)
  return (host) => familyOf(host) === family && range.check(host, family)
}
