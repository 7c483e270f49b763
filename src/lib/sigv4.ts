import { createHash, createHmac } from 'node:crypto'

/**
 * AWS Signature Version 4 in the `authorization` header, implemented from the published algorithm. Small libraries sign asynchronously, but requests are
 * built here without waiting. The test compares the results with such a library.
 */

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** The service and region for which a signature is valid. */
export interface AwsScope {
  readonly service: string
  readonly region: string
  /** Whether the rules of object storage apply: the path is signed as it is sent, and the hash of the body is sent as a header. */
  readonly storage?: boolean
}

export interface UnsignedAwsRequest {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string | Buffer
}

type Signed<R> = Omit<R, 'headers'> & { readonly headers: { readonly [name: string]: string } }

/** Differences between services. */
interface Rules {
  /** Percent-encode the path once more for the signature. */
  readonly encodePath: boolean
  /** Send the hash of the body as a header. */
  readonly sendHash: boolean
  /** Headers left out of the signature. */
  readonly unsigned: ReadonlySet<string>
}

/** Every service except storage. Headers that proxies change, or that the connection sets itself, are not signed. */
const COMMON: Rules = {
  encodePath: true,
  sendHash: false,
  unsigned: new Set(['authorization', 'connection', 'content-length', 'expect', 'user-agent', 'accept', 'accept-encoding', 'x-amzn-trace-id']),
}

const STORAGE: Rules = { encodePath: false, sendHash: true, unsigned: new Set(['content-type']) }

const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * The request with `x-amz-date`, the session token if there is one, and the signature. Its path must already be percent-encoded once.
 *
 * @param now milliseconds since the epoch
 */
export function signAws<R extends UnsignedAwsRequest>(request: R, keys: AwsKeys, scope: AwsScope, now: number): Signed<R> {
  const rules = scope.storage === true ? STORAGE : COMMON
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const date = time.slice(0, 8)
  const bodyHash = sha256(request.body ?? '')
  const headers: Record<string, string> = {
    ...(rules.sendHash ? Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])) : request.headers),
    ...(rules.sendHash ? { 'x-amz-content-sha256': bodyHash } : {}),
    'x-amz-date': time,
    ...(keys.sessionToken ? { 'x-amz-security-token': keys.sessionToken } : {}),
  }
  const url = new URL(request.url)
  const signed = Object.entries({ ...headers, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const)
    .filter(([name]) => !rules.unsigned.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    rules.encodePath ? encodePath(url.pathname) : url.pathname,
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const credentialScope = `${date}/${scope.region}/${scope.service}/aws4_request`
  const toSign = [ALGORITHM, time, credentialScope, sha256(canonical)].join('\n')
  const signature = hmac(signingKey(keys.secretAccessKey, date, scope), toSign).toString('hex')
  const authorization = `${ALGORITHM} Credential=${keys.accessKeyId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...request, headers: { ...headers, authorization } }
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const encodePart = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** The same for a path, whose slashes are kept. */
export const encodePath = (path: string): string => path.split('/').map(encodePart).join('/')

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => [encodePart(name), encodePart(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&')
}

/** Derived keys are valid for a day, so the four derivation steps run once for each. */
const derived = new Map<string, Buffer>()
const MAX_DERIVED = 32

function signingKey(secret: string, date: string, { region, service }: AwsScope): Buffer {
  const id = sha256([secret, date, region, service].join('\n'))
  let key = derived.get(id)
  if (key === undefined) {
    key = [date, region, service, 'aws4_request'].reduce<string | Buffer>((last, step) => hmac(last, step), `AWS4${secret}`) as Buffer
    if (derived.size >= MAX_DERIVED) derived.clear()
    derived.set(id, key)
  }
  return key
}
