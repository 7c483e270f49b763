import { isIP } from 'node:net'
import { classifyAddress } from './address-class.ts'
import { isHeaderValue } from './header-value.ts'

/** Checks a request as far as its text allows. The addresses of names are checked when they are resolved. */

export type EgressFailure = 'refused' | 'dns' | 'connect' | 'timeout' | 'aborted' | 'network'

export interface BegunAnswer {
  readonly status: number
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: { readonly [name: string]: string }
}

/**
 * There was no answer. `refused`: the policy forbids the request, so it was never made; the others are worth a retry. Messages name the host as given,
 * never the addresses it resolved to, and contain no secrets.
 */
export class EgressError extends Error {
  readonly kind: EgressFailure
  /** Of an answer that began but whose body is incomplete. */
  readonly begun: BegunAnswer | undefined

  constructor(kind: EgressFailure, message: string, cause?: unknown, begun?: BegunAnswer) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EgressError'
    this.kind = kind
    this.begun = begun
  }
}

export interface EgressPolicy {
  /** Whether loopback, private, unique-local and carrier-grade NAT ranges may be reached. Metadata and link-local addresses never may. */
  readonly allowPrivate: boolean
  /** Whether unencrypted HTTP to public addresses is allowed. To private ones it always is. */
  readonly allowHttp: boolean
  /** Allowed ports besides 80, 443 and the unprivileged ones. */
  readonly extraPorts: readonly number[]
}

/** Services with line-based protocols on unprivileged ports, which may read an HTTP request as commands. */
const REFUSED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
])

/** Parses and checks the URL of a request. Throws EgressError `refused`. */
export function checkUrl(text: string, policy: EgressPolicy): URL {
  if (!URL.canParse(text)) throw new EgressError('refused', 'the address is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new EgressError('refused', `scheme ${url.protocol.slice(0, 20)} is not allowed`)
  if (url.username !== '' || url.password !== '') throw new EgressError('refused', 'the address carries credentials')
  checkPort(url, policy)
  // URL has already converted decimal, octal and hexadecimal hosts to dotted notation.
  const host = hostOf(url)
  if (host === '') throw new EgressError('refused', 'the address has no host')
  if (isIP(host) !== 0) checkAddress(host, url.protocol, policy, host)
  return url
}

/** The host without brackets and without the final dot of absolute names. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function checkPort(url: URL, policy: EgressPolicy): void {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const usual = port === 80 || port === 443 || (port >= 1024 && !REFUSED_PORTS.has(port))
  if (!usual && !policy.extraPorts.includes(port)) throw new EgressError('refused', `port ${port} is not allowed`)
}

/** Throws EgressError `refused` unless this address of `host` may be connected to. */
export function checkAddress(address: string, protocol: string, policy: EgressPolicy, host: string): void {
  const kind = classifyAddress(address)
  if (kind === 'forbidden') throw new EgressError('refused', `${host} leads to an address that is never allowed`)
  if (kind === 'private' && !policy.allowPrivate)
    throw new EgressError('refused', `${host} leads to a private address; the operator has not allowed those`)
  if (kind === 'public' && protocol === 'http:' && !policy.allowHttp) throw new EgressError('refused', `${host} is public: only https is allowed`)
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const REFUSED_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'expect',
])

/** Whether requests must not set this header, because the client sets it. */
export const isRefusedHeader = (name: string): boolean => REFUSED_HEADERS.has(name.toLowerCase())

/** The headers with lower-case names. Throws EgressError `refused` for those that the client sets itself and for anything that could split a message. */
export function checkHeaders(headers: { readonly [name: string]: string }): Record<string, string> {
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!HEADER_NAME.test(name) || isRefusedHeader(name))
      throw new EgressError('refused', `header ${JSON.stringify(name.slice(0, 60))} is not allowed`)
    if (!isHeaderValue(value))
      throw new EgressError('refused', `the value of header ${lower} has characters no header can hold: one line of ASCII or Latin-1 is expected`)
    checked[lower] = value
  }
  return checked
}
