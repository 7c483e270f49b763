import { createHash, createHmac } from 'node:crypto'
import type { SignableRequest } from '../../core/provider.ts'

export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface AwsScope {
  readonly service: string
  readonly region: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
/** Headers that proxies change on the way, or that the connection sets itself. */
const UNSIGNED: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'user-agent',
  'accept',
  'accept-encoding',
  'x-amzn-trace-id',
])

/**
 * Signature version 4 in the `authorization` header: the request as given, plus `x-amz-date`, the session token if there is one and the
 * signature. `now` in milliseconds since the epoch. The path is encoded once more for the signature, as every service but S3 wants it.
 */
export function signAws(request: SignableRequest, keys: AwsKeys, scope: AwsScope, now: number): SignableRequest {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const date = time.slice(0, 8)
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-date': time,
    ...(keys.sessionToken === undefined ? {} : { 'x-amz-security-token': keys.sessionToken }),
  }
  const url = new URL(request.url)
  const signed = Object.entries({ ...headers, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')] as const)
    .filter(([name]) => !UNSIGNED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(request.body),
  ].join('\n')
  const credentialScope = `${date}/${scope.region}/${scope.service}/aws4_request`
  const toSign = [ALGORITHM, time, credentialScope, sha256(canonical)].join('\n')
  const signature = hmac(signingKey(keys.secretAccessKey, date, scope), toSign).toString('hex')
  const authorization = `${ALGORITHM} Credential=${keys.accessKeyId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...request, headers: { ...headers, authorization } }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Everything but unreserved characters, as RFC 3986 counts them. */
const encode = (text: string): string => encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalPath = (path: string): string => path.split('/').map(encode).join('/')

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&')
}

/** Keys hold for a day: the four steps are done once for each. */
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
