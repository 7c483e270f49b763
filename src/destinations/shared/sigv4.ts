import { createHash, createHmac } from 'node:crypto'
import type { OutgoingRequest } from '../../core/destination.ts'

/**
 * AWS Signature Version 4, from the published algorithm. Written here because a connection test is built without waiting and the
 * small libraries sign asynchronously; one of them checks the results in the test.
 */

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** What a signature is good for. */
export interface AwsScope {
  readonly service: string
  readonly region: string
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/**
 * The request with its signature in the headers. Every header given is signed, but for `content-type`. The path must be percent-encoded
 * once already and is signed as it is sent, which is S3's rule; other services want it encoded twice.
 */
export function signAws(request: OutgoingRequest, credentials: AwsCredentials, { service, region }: AwsScope, now: number): OutgoingRequest {
  const { method, body = '' } = request
  const url = new URL(request.url)
  const time = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const headers: Record<string, string> = {
    ...Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])),
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': time,
    ...(credentials.sessionToken ? { 'x-amz-security-token': credentials.sessionToken } : {}),
  }
  const signable = { ...headers, host: url.host }
  const names = Object.keys(signable)
    .filter((name) => name !== 'content-type')
    .sort()
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(signable[name as keyof typeof signable] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`
  const key = [region, service, 'aws4_request'].reduce(
    (derived, part) => hmac(derived, part),
    hmac(`AWS4${credentials.secretAccessKey}`, time.slice(0, 8)),
  )
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...request, headers: { ...headers, authorization } }
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
    .sort()
    .join('&')
}

/** Percent-encodes all but the characters RFC 3986 leaves alone. */
function encodePart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The same for a path: its slashes stay. */
export const encodePath = (path: string): string => path.split('/').map(encodePart).join('/')
