import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import type { SignableRequest } from '../core/provider.ts'
import type { ModelRequest } from '../core/request.ts'
import { anthropicMessages } from '../dialects/anthropic-messages/index.ts'
import { gemini } from '../dialects/gemini/index.ts'
import { Secret } from '../lib/secret.ts'
import { googleVertex } from './google-vertex.ts'
import { parseGoogleCredentials } from './shared/google-auth.ts'

const request: SignableRequest = { method: 'POST', url: 'https://x/y', path: '/y', headers: {}, body: '{}' }
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
/** The id of the key with which a request for a token is signed. */
const keyIdIn = (form: string): unknown => {
  const [header = ''] = new URLSearchParams(form).get('assertion')?.split('.') ?? []
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid?: string }).kid ?? 'none'
}
let revoked = ''
let keyFile: { readonly [field: string]: string } = {}
let path = ''
let directory = ''

beforeAll(async () => {
  let exchanges = 0
  const server = createServer(
    (incoming, response) =>
      void text(incoming).then((form) => {
        if (keyIdIn(form) !== revoked) return response.end(`{"access_token":"fresh-${++exchanges}","expires_in":3600}`)
        return response.writeHead(400).end('{"error":"invalid_grant"}')
      }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const token_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  keyFile = { type: 'service_account', client_email: 'a@b', private_key: privateKey, project_id: 'from-key', token_uri }
  directory = mkdtempSync(join(tmpdir(), 'vertex-'))
  path = join(directory, 'key.json')
  writeFileSync(path, JSON.stringify(keyFile))
  return () => {
    server.close()
    rmSync(directory, { recursive: true })
  }
})

/** The headers that a connection with these keys and settings adds to a request. */
async function headers(keys: readonly string[], extra: { readonly [key: string]: unknown } = {}): Promise<SignableRequest['headers']> {
  const apiKeys = keys.map((key) => new Secret(key))
  const { sign } = googleVertex.connect!({ apiKeys, options: {}, extra })
  const credential = apiKeys[0] === undefined ? undefined : { id: '0', secret: apiKeys[0] }
  return (await sign!(request, credential, new AbortController().signal)).headers
}
const baseUrl = (keys: readonly string[], extra: { readonly [key: string]: unknown } = {}): string | undefined =>
  googleVertex.connect!({ apiKeys: keys.map((key) => new Secret(key)), options: {}, extra }).baseUrl

describe('credentials', () => {
  test('an access token is sent as it is', async () => {
    expect(await headers(['ya29.abc'])).toEqual({ authorization: 'Bearer ya29.abc' })
  })
  test('an API key has a header of its own', async () => {
    expect(await headers(['AIzaSyExample'])).toEqual({ 'x-goog-api-key': 'AIzaSyExample' })
  })
  test('a key file is exchanged, whichever way it is given', async () => {
    expect((await headers([path]))['authorization']).toMatch(/^Bearer fresh-\d+$/)
    expect((await headers([JSON.stringify(keyFile)]))['authorization']).toMatch(/^Bearer fresh-\d+$/)
    expect((await headers([], { credentials: path }))['authorization']).toMatch(/^Bearer fresh-\d+$/)
    expect((await headers([], { credentials: keyFile }))['authorization']).toMatch(/^Bearer fresh-\d+$/)
  })
  test('one token serves all requests of a connection', async () => {
    const { sign } = googleVertex.connect!({ apiKeys: [], options: {}, extra: { credentials: path } })
    const signed = await Promise.all([1, 2, 3].map(async () => await sign!(request, undefined, new AbortController().signal)))
    expect(new Set(signed.map((each) => each.headers['authorization'])).size).toBe(1)
  })
  test('a key file that is gone is an error of this credential, when it is used', async () => {
    await expect(headers(['/nowhere/key.json'])).rejects.toMatchObject({ errorType: 'authentication', details: { credentialDead: true } })
  })
  test.each([
    ['empty', ''],
    ['half written', '{"type":"service_account","client_em'],
    ['of another kind', '{"type":"external_account"}'],
  ])('a key file that is %s is the fault of this credential and not of the call', async (_, content) => {
    const broken = join(directory, 'broken.json')
    writeFileSync(broken, content)
    await expect(headers([broken])).rejects.toMatchObject({ errorType: 'authentication', details: { credentialDead: true } })
  })
})

describe('a key file that is exchanged while the gateway runs', () => {
  const signWith = async (file: string): Promise<() => Promise<string | undefined>> => {
    const secret = new Secret(file)
    const { sign } = googleVertex.connect!({ apiKeys: [secret], options: {}, extra: {} })
    const signed = async () => (await sign!(request, { id: '0', secret }, AbortSignal.timeout(1_000))).headers['authorization']
    return signed
  }
  const write = (file: string, private_key_id: string): void => writeFileSync(file, JSON.stringify({ ...keyFile, private_key_id }))

  test('is read again once its old key is refused', async () => {
    const file = join(directory, 'exchanged.json')
    write(file, 'old')
    const signed = await signWith(file)
    revoked = 'old'
    await expect(signed()).rejects.toMatchObject({ errorType: 'authentication', details: { providerCode: 'invalid_grant' } })
    write(file, 'new')
    expect(await signed()).toMatch(/^Bearer fresh-\d+$/)
  })
  test('says what was refused as long as nothing usable is there', async () => {
    const file = join(directory, 'emptied.json')
    write(file, 'old')
    const signed = await signWith(file)
    revoked = 'old'
    await expect(signed()).rejects.toMatchObject({ details: { providerCode: 'invalid_grant' } })
    writeFileSync(file, '')
    await expect(signed()).rejects.toMatchObject({ errorType: 'authentication', details: { credentialDead: true } })
    write(file, 'new')
    expect(await signed()).toMatch(/^Bearer fresh-\d+$/)
  })
})

describe("a caller's own key", () => {
  const signWith = async (own: string): Promise<SignableRequest['headers']> => {
    const { sign } = googleVertex.connect!({ apiKeys: [new Secret('ya29.operator')], options: {}, extra: {} })
    return (await sign!(request, { id: 'own', secret: new Secret(own) }, AbortSignal.timeout(1_000))).headers
  }
  test('names no file of this machine', async () => {
    expect(await signWith(path)).toEqual({ authorization: `Bearer ${path}` })
  })
  test.each([
    ['as its key', (file: string) => ({ apiKeys: [new Secret(file)], options: {}, extra: {} })],
    ['as a setting', (file: string) => ({ apiKeys: [], options: {}, extra: { credentials: file } })],
  ])('names no file of the operator either, given %s, before and after it was used', async (_, settings) => {
    const given = settings(path)
    const { sign } = googleVertex.connect!(given)
    const signed = async (secret: Secret | undefined) =>
      (await sign!(request, secret && { id: 'one', secret }, AbortSignal.timeout(1_000))).headers['authorization']
    expect(await signed(new Secret(path))).toBe(`Bearer ${path}`)
    expect(await signed(given.apiKeys[0])).toMatch(/^Bearer fresh-\d+$/)
    expect(await signed(new Secret(path))).toBe(`Bearer ${path}`)
  })
  test('cannot choose a URL the gateway posts to', async () => {
    const refused = await signWith(JSON.stringify({ ...keyFile, private_key: 'no key' })).catch((error: unknown) => error)
    expect(refused).toMatchObject({ errorType: 'authentication' })
    expect(parseGoogleCredentials(JSON.stringify(keyFile), false).tokenUri).toBe('https://oauth2.googleapis.com/token')
  })
})

describe('the address', () => {
  test('takes the project of the key file where none is set', () => {
    expect(baseUrl([path])).toBe('https://aiplatform.googleapis.com/v1/projects/from-key/locations/global')
    expect(baseUrl([path], { project: 'mine', location: 'europe-west4' })).toBe(
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/mine/locations/europe-west4',
    )
  })
  test('takes it also of a key file that came after the start', async () => {
    const file = join(directory, 'late.json')
    const secret = new Secret(file)
    const { baseUrl: base, sign } = googleVertex.connect!({ apiKeys: [secret], options: {}, extra: { location: 'europe-west4' } })
    const urlOf = async (url: string) => (await sign!({ ...request, url }, { id: '0', secret }, AbortSignal.timeout(1_000))).url
    writeFileSync(file, JSON.stringify(keyFile))
    const path = '/publishers/google/models/gemini-3-flash-preview:generateContent'
    expect(await urlOf(`${base}${path}`)).toBe(`https://europe-west4-aiplatform.googleapis.com/v1/projects/from-key/locations/europe-west4${path}`)
    const elsewhere = `https://proxy.example/v1${path}`
    expect(await urlOf(elsewhere)).toBe(elsewhere)
  })
  test('is never made of what is no name of a project', async () => {
    const file = join(directory, 'odd.json')
    const secret = new Secret(file)
    const { baseUrl: base, sign } = googleVertex.connect!({ apiKeys: [secret], options: {}, extra: {} })
    writeFileSync(file, JSON.stringify({ ...keyFile, project_id: '../../evil' }))
    const url = `${base}/publishers/x`
    expect((await sign!({ ...request, url }, { id: '0', secret }, AbortSignal.timeout(1_000))).url).toBe(url)
  })
  test('needs no project with an API key', () => {
    expect(baseUrl(['AIzaSyExample'])).toBe('https://aiplatform.googleapis.com/v1')
  })
})

test.each([
  ['gemini-3-flash-preview', undefined],
  ['endpoints/123456', undefined],
  ['claude-sonnet-4-6@20260101', 'anthropic-messages'],
  ['meta/llama-4-maverick-17b-128e-instruct-maas', 'openai-chat'],
  ['deepseek-ai/deepseek-v3.1-maas', 'openai-chat'],
])('%s speaks %s', (model, dialect) => {
  expect(googleVertex.dialectFor!(model)).toBe(dialect)
})

/** `Unknown name "id"`: Vertex's REST interface lacks fields of the public one. */
describe('fields that Vertex refuses are left out', () => {
  const encode = (request: ModelRequest): string =>
    gemini.encodeRequest(request, {
      provider: 'google-vertex',
      providerName: 'Google',
      upstreamModel: 'gemini-3-flash-preview',
      options: gemini.options.parse(googleVertex.options),
      supports: new Set(gemini.supports),
      contextLength: 1_000_000,
      scope: 's',
      stream: true,
    }).body
  const question = { type: 'message', role: 'user', content: 'q' } as const

  test('ids of calls and their results', () => {
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' } as const
    expect(encode({ input: [question, call, { type: 'function_call_output', call_id: 'call_1', output: 'r' }] })).not.toContain('call_1')
  })
  test('the wish to see what native tools do beside functions', () => {
    const body = encode({ input: [question], tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] })
    expect(body).toContain('googleSearch')
    expect(body).not.toContain('toolConfig')
  })
  test('formats and strict tools of Claude, which organisations have to allow first', () => {
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } } as const
    const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: true }
    const encode = (upstreamModel: string, fields: Partial<ModelRequest>): { readonly [field: string]: unknown } =>
      JSON.parse(
        anthropicMessages.encodeRequest(
          { input: [question], ...fields },
          {
            provider: 'google-vertex',
            providerName: 'Google',
            upstreamModel,
            options: anthropicMessages.options.parse(googleVertex.dialectOptions!['anthropic-messages']),
            supports: new Set(anthropicMessages.supports),
            contextLength: 200_000,
            scope: 's',
            stream: true,
          },
        ).body,
      )
    expect(encode('claude-opus-4-6', { text: { format } })).toMatchObject({ tool_choice: { type: 'tool', name: 'structured_answer' } })
    for (const model of ['claude-opus-4-6', 'claude-sonnet-5', 'claude-opus-5-5']) {
      expect(encode(model, { text: { format } })).not.toHaveProperty('output_config')
      expect(JSON.stringify(encode(model, { tools: [tool] })['tools'])).not.toContain('strict')
    }
  })
})
