import { sign } from 'node:crypto'
import { promisify } from 'node:util'
import { GatewayError, isGatewayError } from '../../core/error.ts'
import type { Clock } from '../../lib/clock.ts'
import { createHttpClient } from '../../lib/http-client.ts'
import { readProxies } from '../../lib/proxy.ts'
import { MAX_KEY_BITS, signingKey } from '../../lib/signing-key.ts'

/** A key file of the cloud platform, reduced to the parts that the exchange needs. */
export type GoogleCredentials =
  | {
      readonly type: 'service_account'
      readonly clientEmail: string
      readonly privateKey: string
      readonly privateKeyId?: string
      readonly tokenUri: string
      readonly projectId?: string
    }
  | {
      readonly type: 'authorized_user'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
      readonly tokenUri: string
      readonly projectId?: string
    }

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** The longest lifetime that a signed request for a token may claim. */
const ASSERTION_SECONDS = 3600
const RENEW_BEFORE_MS = 5 * 60_000
const EXCHANGE_TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024

/**
 * Parses the JSON of a key file. Throws GatewayError `invalid_request` with what is wrong, but never with what the file contains.
 * @param ownEndpoint whether the file may name the token endpoint. It may not in a caller's credential, or the caller would choose where the gateway
 * posts
 */
export function parseGoogleCredentials(text: string, ownEndpoint = true): GoogleCredentials {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid('is not JSON')
  }
  if (typeof value !== 'object' || value === null) throw invalid('is not an object')
  const fields = value as { readonly [field: string]: unknown }
  const need = (name: string): string => {
    const field = fields[name]
    if (typeof field !== 'string' || field === '') throw invalid(`lacks ${name}`)
    return field
  }
  const optional = (name: string): string | undefined => (typeof fields[name] === 'string' && fields[name] !== '' ? fields[name] : undefined)
  const projectId = optional('project_id') ?? optional('quota_project_id')
  const shared = { tokenUri: tokenUri(ownEndpoint ? optional('token_uri') : undefined), ...(projectId === undefined ? {} : { projectId }) }
  switch (fields['type']) {
    case 'service_account': {
      const keyId = optional('private_key_id')
      return {
        type: 'service_account',
        clientEmail: need('client_email'),
        privateKey: need('private_key'),
        ...(keyId === undefined ? {} : { privateKeyId: keyId }),
        ...shared,
      }
    }
    case 'authorized_user':
      return {
        type: 'authorized_user',
        clientId: need('client_id'),
        clientSecret: need('client_secret'),
        refreshToken: need('refresh_token'),
        ...shared,
      }
    default:
      throw invalid('is of a type that is not supported; expected service_account or authorized_user')
  }
}

function tokenUri(text: string | undefined): string {
  if (text === undefined) return TOKEN_URI
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? '')) throw invalid('has a token_uri that is no URL')
  return text
}

const invalid = (what: string): GatewayError => new GatewayError('invalid_request', `The key file ${what}`)

const signInPool = promisify(sign)

/** A signed request for a token, valid for one hour from `now` (milliseconds). Signed in another thread, because a signature takes milliseconds. */
async function signAssertion(credentials: Extract<GoogleCredentials, { type: 'service_account' }>, now: number): Promise<string> {
  const seconds = Math.floor(now / 1000)
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = { alg: 'RS256', typ: 'JWT', ...(credentials.privateKeyId === undefined ? {} : { kid: credentials.privateKeyId }) }
  const claims = { iss: credentials.clientEmail, scope: SCOPE, aud: credentials.tokenUri, iat: seconds, exp: seconds + ASSERTION_SECONDS }
  const unsigned = `${encode(header)}.${encode(claims)}`
  const unusable = (why: string, cause?: unknown): GatewayError =>
    new GatewayError('authentication', `The private key of the service account ${why}`, { credentialDead: true, cause })
  try {
    const key = signingKey(credentials.privateKey)
    if (key === undefined) throw unusable(`is longer than ${MAX_KEY_BITS} bits`)
    return `${unsigned}.${(await signInPool('RSA-SHA256', Buffer.from(unsigned), key)).toString('base64url')}`
  } catch (error) {
    throw isGatewayError(error) ? error : unusable('cannot sign', error)
  }
}

export interface GoogleTokens {
  /**
   * An access token that is valid for at least five more minutes. Concurrent callers share one fetch. Throws GatewayError `authentication` if the key
   * is refused, `provider_unavailable` if nobody answers.
   */
  get(signal: AbortSignal): Promise<string>
}

interface Token {
  readonly value: string
  readonly renewAt: number
}

/** Keeps one token per key, in memory. */
export function createGoogleTokens(credentials: GoogleCredentials, clock: Clock): GoogleTokens {
  let token: Token | undefined
  let flight: { readonly promise: Promise<Token>; readonly abort: AbortController; waiting: number } | undefined

  const takeOff = (): NonNullable<typeof flight> => {
    const abort = new AbortController()
    const promise = exchange(credentials, clock, abort.signal)
    const started = { promise, abort, waiting: 0 }
    promise.then(
      (fresh) => {
        token = fresh
        if (flight === started) flight = undefined
      },
      () => {
        if (flight === started) flight = undefined
      },
    )
    return started
  }

  return {
    async get(signal) {
      if (token !== undefined && clock.monotonic() < token.renewAt) return token.value
      signal.throwIfAborted()
      const joined = (flight ??= takeOff())
      joined.waiting++
      try {
        return (await orAborted(joined.promise, signal)).value
      } finally {
        // The exchange stops only when its last waiting caller has gone.
        if (--joined.waiting === 0 && signal.aborted) {
          joined.abort.abort()
          if (flight === joined) flight = undefined
        }
      }
    },
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

async function exchange(credentials: GoogleCredentials, clock: Clock, signal: AbortSignal): Promise<Token> {
  const fields: Record<string, string> =
    credentials.type === 'service_account'
      ? { grant_type: GRANT, assertion: await signAssertion(credentials, clock.now()) }
      : {
          grant_type: 'refresh_token',
          client_id: credentials.clientId,
          client_secret: credentials.clientSecret,
          refresh_token: credentials.refreshToken,
        }
  const { status, body } = await post(credentials.tokenUri, new URLSearchParams(fields).toString(), signal)
  const answer = parseAnswer(body)
  if (status >= 200 && status < 300 && typeof answer['access_token'] === 'string') {
    const seconds = typeof answer['expires_in'] === 'number' && answer['expires_in'] > 0 ? answer['expires_in'] : ASSERTION_SECONDS
    // A token with a shorter lifetime than the margin is renewed after half of it.
    return { value: answer['access_token'], renewAt: clock.monotonic() + Math.max(seconds * 1000 - RENEW_BEFORE_MS, seconds * 500) }
  }
  const code = typeof answer['error'] === 'string' ? answer['error'] : `status ${status}`
  if (status >= 400 && status < 500 && status !== 429) {
    throw new GatewayError('authentication', `The token endpoint refused the credentials (${code.slice(0, 100)})`, {
      source: 'provider',
      upstreamStatus: status,
      providerCode: code.slice(0, 100),
      credentialDead: true,
    })
  }
  throw unavailable(`The token endpoint gave no token (${code.slice(0, 100)})`)
}

const unavailable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('provider_unavailable', message, { source: 'provider', failover: 'next', ...(cause === undefined ? {} : { cause }) })

function parseAnswer(body: string): { readonly [field: string]: unknown } {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as { readonly [field: string]: unknown }) : {}
  } catch {
    return {}
  }
}

/** One form, once an hour, so it has its own connection, which is closed after the answer. */
async function post(url: string, form: string, signal: AbortSignal): Promise<{ readonly status: number; readonly body: string }> {
  const client = createHttpClient({ proxies: readProxies(process.env) })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(EXCHANGE_TIMEOUT_MS)])
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(form)),
    accept: 'application/json',
  }
  const answer = client.send({ url, method: 'POST', headers, body: form, connectTimeoutMs: EXCHANGE_TIMEOUT_MS })
  const cancel = (): void => answer.cancel()
  limit.addEventListener('abort', cancel)
  if (limit.aborted) cancel()
  try {
    const { status } = await answer.head
    const chunks: Buffer[] = []
    let size = 0
    for (let read = await answer.read(); read !== undefined; read = await answer.read()) {
      chunks.push(...read)
      size += read.reduce((sum, { length }) => sum + length, 0)
      if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too long')
    }
    return { status, body: Buffer.concat(chunks).toString() }
  } catch (error) {
    throw unavailable('The token endpoint did not answer', error)
  } finally {
    limit.removeEventListener('abort', cancel)
    await client.close()
  }
}
