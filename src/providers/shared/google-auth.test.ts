import { generateKeyPairSync, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isGatewayError } from '../../core/error.ts'
import { manualClock } from '../../testing/deterministic.ts'
import { madeUpKey } from '../../testing/made-up-key.ts'
import { createGoogleTokens, parseGoogleCredentials, type GoogleCredentials } from './google-auth.ts'

type Reply = (response: ServerResponse, attempt: number) => void

const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const live = new AbortController().signal
const token: Reply = (response, attempt) => response.end(JSON.stringify({ access_token: `token-${attempt}`, expires_in: 3599, token_type: 'Bearer' }))

let reply: Reply = token
const forms: URLSearchParams[] = []
const server = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => reply(response, forms.push(new URLSearchParams(text))))
})
let url = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  return () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => {
  reply = token
  forms.length = 0
})

const keyFile = (fields: object = {}): string =>
  JSON.stringify({
    type: 'service_account',
    client_email: 'sa@p.test',
    private_key: keys.privateKey,
    private_key_id: 'k1',
    project_id: 'p',
    token_uri: url,
    ...fields,
  })
const account = (): GoogleCredentials => parseGoogleCredentials(keyFile())

async function failure(work: Promise<unknown>): Promise<{ readonly type: string; readonly dead: boolean; readonly message: string }> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isGatewayError(error)) throw new Error('no GatewayError', { cause: error })
  return { type: error.errorType, dead: error.details.credentialDead === true, message: error.message }
}

describe('a private key that a caller brought', () => {
  test('is refused when it is so large that signing takes a second', async () => {
    const tokens = createGoogleTokens(parseGoogleCredentials(keyFile({ private_key: madeUpKey(16_384) })), manualClock())
    expect(await failure(tokens.get(live))).toEqual({
      type: 'authentication',
      dead: true,
      message: 'The private key of the service account is longer than 4096 bits',
    })
    expect(forms).toEqual([])
  })
})

describe('the exchange', () => {
  test('sends an assertion the key signed, for one hour and this endpoint', async () => {
    const clock = manualClock(1_700_000_000_500)
    expect(await createGoogleTokens(account(), clock).get(live)).toBe('token-1')
    expect(forms[0]?.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head, claims, signature] = forms[0]!.get('assertion')!.split('.')
    const decode = (part: string | undefined): unknown => JSON.parse(Buffer.from(part!, 'base64url').toString())
    expect(decode(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
    expect(decode(claims)).toEqual({
      iss: 'sa@p.test',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: url,
      iat: 1_700_000_000,
      exp: 1_700_003_600,
    })
    expect(verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), keys.publicKey, Buffer.from(signature!, 'base64url'))).toBe(true)
  })

  test('refreshes a user credential', async () => {
    const user = parseGoogleCredentials(
      JSON.stringify({ type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r', token_uri: url }),
    )
    expect(await createGoogleTokens(user, manualClock()).get(live)).toBe('token-1')
    expect(Object.fromEntries(forms[0]!)).toEqual({ grant_type: 'refresh_token', client_id: 'c', client_secret: 's', refresh_token: 'r' })
  })

  test.each<[string, Reply, string, boolean]>([
    ['a refused key', (response) => response.writeHead(400).end('{"error":"invalid_grant"}'), 'authentication', true],
    ['a failing endpoint', (response) => response.writeHead(503).end('busy'), 'provider_unavailable', false],
    ['a limit', (response) => response.writeHead(429).end('{}'), 'provider_unavailable', false],
    ['an answer without token', (response) => response.end('[]'), 'provider_unavailable', false],
    ['a cut connection', (response) => response.destroy(), 'provider_unavailable', false],
    ['an endless answer', (response) => response.end('x'.repeat(100_000)), 'provider_unavailable', false],
  ])('reports %s, and tries again for the next caller', async (_name, bad, type, dead) => {
    reply = bad
    const tokens = createGoogleTokens(account(), manualClock())
    expect(await failure(tokens.get(live))).toMatchObject({ type, dead })
    reply = token
    expect(await tokens.get(live)).toBe('token-2')
  })
})

describe('the cache', () => {
  test('keeps a token until five minutes before its end', async () => {
    const clock = manualClock()
    const tokens = createGoogleTokens(account(), clock)
    await tokens.get(live)
    clock.advance((3599 - 300) * 1000 - 1)
    expect(await tokens.get(live)).toBe('token-1')
    clock.advance(1)
    expect(await tokens.get(live)).toBe('token-2')
  })

  test('renews a token in time when the clock is set back meanwhile', async () => {
    const clock = manualClock()
    let setBackMs = 0
    const tokens = createGoogleTokens(account(), { now: () => clock.now() - setBackMs, monotonic: clock.monotonic })
    await tokens.get(live)
    setBackMs = 3_600_000
    clock.advance(3_599_000)
    expect(await tokens.get(live)).toBe('token-2')
  })

  test('asks once for all who come at the same time', async () => {
    const tokens = createGoogleTokens(account(), manualClock())
    expect(await Promise.all([tokens.get(live), tokens.get(live), tokens.get(live)])).toEqual(['token-1', 'token-1', 'token-1'])
    expect(forms).toHaveLength(1)
  })

  test('continues when one of several callers leaves, and stops when all are gone', async () => {
    let waiting: ServerResponse | undefined
    const arrived = new Promise<void>((resolve) => {
      reply = (response) => {
        waiting = response
        resolve()
      }
    })
    const tokens = createGoogleTokens(account(), manualClock())
    const [first, second] = [new AbortController(), new AbortController()]
    const leaves = tokens.get(first.signal)
    const stays = tokens.get(second.signal)
    await arrived
    first.abort(new Error('gone'))
    await expect(leaves).rejects.toThrow('gone')
    const closed = once(waiting!, 'close')
    second.abort(new Error('gone too'))
    await expect(stays).rejects.toThrow('gone too')
    await closed
    reply = token
    expect(await tokens.get(live)).toBe('token-2')
  })
})

describe('key files', () => {
  test.each<[string, string]>([
    ['not JSON', 'nope'],
    ['null', 'null'],
    ['a service account without a key', '{"type":"service_account","client_email":"a"}'],
    ['workload identity', '{"type":"external_account"}'],
    ['a token address of another kind', keyFile({ token_uri: 'file:///etc/passwd' })],
  ])('refuses %s with a sentence', (_name, text) => {
    expect(() => parseGoogleCredentials(text)).toThrow(/^The key file /)
  })
  test('never quotes the key', async () => {
    const broken = parseGoogleCredentials(keyFile({ private_key: 'super-secret', token_uri: url }))
    const { type, dead, message } = await failure(createGoogleTokens(broken, manualClock()).get(live))
    expect([type, dead]).toEqual(['authentication', true])
    expect(message).not.toContain('super-secret')
  })
})
