import { connect, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ApiKey } from '../../core/store.ts'
import { GatewayError } from '../../core/error.ts'
import { Admission } from '../admission.ts'
import { BodyHold, BodyMemory } from '../body-memory.ts'
import { createManagementApp } from './app.ts'
import { parseBody, parseInput, parseQuery } from './request-input.ts'

/** A route of every kind; each says what it got. */
const body = z.strictObject({ name: z.string(), ids: z.array(z.string()).optional(), config: z.record(z.string(), z.unknown()).optional() })
let app: FastifyInstance
const bugs: unknown[] = []

beforeAll(() => {
  const caller = { owner: { workspaceId: 'w' }, key: {} as ApiKey }
  app = createManagementApp(
    { authenticate: () => caller as never, onBug: (error) => bugs.push(error), newRequestId: () => 'r', bodyLimitBytes: 1_000, bodyStallMs: 100 },
    [
      (routes) => {
        routes.delete('/things/:id', async () => ({ deleted: true }))
        routes.post('/things/:id/pause', async (request) => ({ got: request.body ?? 'nothing' }))
        routes.post('/things', async (request) => parseBody(body, request))
        routes.get('/things', async (request) => parseQuery(z.object({ workspace_id: z.string().optional() }), request))
        routes.get('/things/:id', async (request) => parseInput(z.object({ id: z.string() }), request.params))
      },
    ],
  )
})
afterAll(() => app.close())

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: string) {
  const headers = payload === undefined ? {} : { 'content-type': 'application/json' }
  const { statusCode, body: sent } = await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
  const answer = JSON.parse(sent) as { error?: { message: string } }
  return { status: statusCode, answer, message: answer.error?.message }
}

describe('under pressure', () => {
  const bodies = new BodyMemory({ limits: () => ({ enabled: true, memoryShare: 1 }), memoryLeft: () => Infinity })
  const holdBody = (): BodyHold => new BodyHold(bodies)

  it('a large body of a caller with an inference key has to fit into the free memory, as for calls to models', async () => {
    const admission = new Admission(
      () => ({ enabled: true, eventLoopDelayMs: 1_000, memoryShare: 0.9, calls: 10 }),
      () => 0,
    )
    const small = createManagementApp(
      {
        authenticate: () => ({ owner: { workspaceId: 'w', keyHash: 'h' }, key: { kind: 'inference' } as ApiKey }) as never,
        admission,
        onBug: (error) => bugs.push(error),
        newRequestId: () => 'r',
        bodyLimitBytes: 1_000_000,
      },
      [(routes) => void routes.post('/explain', { config: { access: 'any' } }, async () => ({}))],
    )
    const ask = async () =>
      (await small.inject({ method: 'POST', url: '/explain', payload: JSON.stringify({ input: 'x'.repeat(300_000) }) })).statusCode
    const other = admission.holdBody()
    other.grow(300_000)
    expect(await ask()).toBe(503)
    other.release()
    expect([await ask(), await ask()]).toEqual([200, 200])
    await small.close()
  })

  it('callers with an inference key are admitted like calls to models, and management keys always', async () => {
    let kind: ApiKey['kind'] = 'inference'
    const under: string[] = []
    let isFull = false
    const busy = createManagementApp(
      {
        authenticate: () => ({ owner: { workspaceId: 'w', keyHash: 'h' }, key: { kind } as ApiKey }) as never,
        admission: {
          enter: (key) => {
            if (isFull) throw new GatewayError('provider_overloaded', 'more than it can serve', { retryAfterMs: 2_000 })
            under.push(key)
          },
          leave: (key) => void under.splice(under.indexOf(key), 1),
          holdBody,
        },
        onBug: (error) => bugs.push(error),
        newRequestId: () => 'r',
        bodyLimitBytes: 1_000,
      },
      [(routes) => void routes.post('/explain', { config: { access: 'any' } }, async () => ({ under: [...under] }))],
    )
    const ask = () => busy.inject({ method: 'POST', url: '/explain', payload: '{}' })
    expect((await ask()).json()).toEqual({ under: ['h'] })
    expect(under).toEqual([])
    expect((await busy.inject({ method: 'POST', url: '/explain', payload: '{' })).statusCode).toBe(400)
    expect(under).toEqual([])
    isFull = true
    const { statusCode, headers } = await ask()
    expect([statusCode, headers['retry-after']]).toEqual([503, '2'])
    kind = 'management'
    expect((await ask()).json()).toEqual({ under: [] })
    await busy.close()
  })

  it('a caller who left while his key was looked for takes no place', async () => {
    const under: string[] = []
    const look = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const slow = createManagementApp(
      {
        authenticate: async () => {
          asked.resolve()
          await look.promise
          return { owner: { workspaceId: 'w', keyHash: 'h' }, key: { kind: 'inference' } as ApiKey } as never
        },
        admission: { enter: (key) => under.push(key), leave: (key) => void under.splice(under.indexOf(key), 1), holdBody },
        onBug: (error) => bugs.push(error),
        newRequestId: () => 'r',
        bodyLimitBytes: 1_000,
      },
      [(routes) => void routes.get('/models', { config: { access: 'any' } }, async () => ({}))],
    )
    await slow.listen({ host: '127.0.0.1', port: 0 })
    const gone = new Promise<void>((resolve) => slow.server.once('request', (_request, response) => response.once('close', () => resolve())))
    const socket = connect((slow.server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('GET /models HTTP/1.1\r\nhost: a\r\n\r\n')
    await asked.promise
    socket.destroy()
    await gone
    look.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect(under).toEqual([])
    await slow.close()
  })
})

describe('many requests of one workspace', () => {
  it('wait for each other and delay no other workspace; routes that do not use the database do not queue', async () => {
    let workspaceId = 'w'
    let running = 0
    const end = Promise.withResolvers<void>()
    const busy = createManagementApp(
      {
        authenticate: () => ({ owner: { workspaceId, keyHash: 'h' }, key: { kind: 'management' } as ApiKey }) as never,
        onBug: (error) => bugs.push(error),
        newRequestId: () => 'r',
        bodyLimitBytes: 1_000,
      },
      [
        (routes) => {
          routes.get('/endless', async () => {
            running++
            await end.promise
            return { running }
          })
          routes.get('/failed', () => Promise.reject(new GatewayError('not_found', 'no')))
          routes.get('/quick', async () => ({ running }))
          routes.post('/test', { config: { asksElsewhere: true } }, async () => ({ running }))
        },
      ],
    )
    const ask = async (url: string, method: 'GET' | 'POST' | 'HEAD' = 'GET') => busy.inject({ method, url })
    for (let n = 0; n < 20; n++) expect([(await ask('/failed')).statusCode, (await ask('/quick', 'HEAD')).statusCode]).toEqual([404, 200])
    const flood = Array.from({ length: 50 }, () => ask('/endless'))
    const behind = ask('/quick')
    await expect.poll(() => running).toBeGreaterThanOrEqual(3)
    expect((await ask('/test', 'POST')).json()).toEqual({ running: 3 })
    workspaceId = 'another'
    expect((await ask('/quick')).json()).toEqual({ running: 3 })
    end.resolve()
    for (const { statusCode } of await Promise.all(flood)) expect(statusCode).toBe(200)
    expect((await behind).json()).toEqual({ running: 50 })
    await busy.close()
  })

  it('change nothing any more if their key ended while they waited', async () => {
    let isRevoked = false
    const carriedOut: number[] = []
    const end = Promise.withResolvers<void>()
    const busy = createManagementApp(
      {
        authenticate: () => {
          if (isRevoked) throw new GatewayError('authentication', 'The API key has been revoked')
          return { owner: { workspaceId: 'w', keyHash: 'h' }, key: { kind: 'management' } as ApiKey } as never
        },
        onBug: (error) => bugs.push(error),
        newRequestId: () => 'r',
        bodyLimitBytes: 1_000,
      },
      [
        (routes) =>
          void routes.post('/things', async () => {
            carriedOut.push(carriedOut.length)
            await end.promise
            return {}
          }),
      ],
    )
    const flood = Array.from({ length: 5 }, async () => (await busy.inject({ method: 'POST', url: '/things' })).statusCode)
    await expect.poll(() => carriedOut).toHaveLength(3)
    isRevoked = true
    end.resolve()
    expect(await Promise.all(flood)).toEqual([200, 200, 200, 401, 401])
    expect(carriedOut).toHaveLength(3)
    await busy.close()
  })
})

it('an address that cannot be read is refused with the id of the request, as everything is', async () => {
  const { statusCode, headers } = await app.inject({ method: 'GET', url: '/things/%ff' })
  expect([statusCode, headers['x-request-id']]).toEqual([400, 'r'])
})

describe('an empty body with the content type JSON', () => {
  it('is no body: clients name the type with every request', async () => {
    expect(await call('DELETE', '/things/1', '')).toMatchObject({ status: 200, answer: { deleted: true } })
    expect(await call('POST', '/things/1/pause', '')).toMatchObject({ status: 200, answer: { got: 'nothing' } })
  })

  it('is an error where a body is required, as if there were none', async () => {
    const refusal = await call('POST', '/things', '')
    expect(refusal).toMatchObject({ status: 400 })
    expect(refusal).toEqual(await call('POST', '/things'))
  })

  it('is distinguished from one that is not JSON', async () => {
    expect(await call('DELETE', '/things/1', '{')).toMatchObject({ status: 400 })
  })
})

describe('a body', () => {
  it.each([
    ['nests deeper than 256 levels', `{"name":${'['.repeat(400)}${']'.repeat(400)}}`, 'nested more than 256 deep'],
    ['has the key __proto__', '{"name":"a","__proto__":{}}', 'the key "__proto__" is not accepted'],
    ['ends too early', '{"name":', 'The body is not valid JSON'],
  ])('that %s is refused as for calls to models', async (_what, sent, reason) => {
    const { status, message } = await call('POST', '/things', sent)
    expect(status).toBe(400)
    expect(message).toContain(reason)
  })

  it('that is not UTF-8 is refused', async () => {
    const { statusCode } = await app.inject({ method: 'POST', url: '/things', payload: Buffer.from([0x22, 0xff, 0x22]) })
    expect(statusCode).toBe(400)
  })

  it('may begin with a byte order mark', async () => {
    expect(await call('POST', '/things', '\uFEFF{"name":"a"}')).toMatchObject({ status: 200, answer: { name: 'a' } })
  })

  it('that is too large is refused by what is announced and by what arrives', async () => {
    expect(await call('POST', '/things', `{"name":"${'x'.repeat(1_000)}"}`)).toMatchObject({ status: 413 })
    const unannounced = { headers: { 'transfer-encoding': 'chunked' }, payload: Readable.from([Buffer.alloc(600), Buffer.alloc(600)]) }
    expect((await app.inject({ method: 'POST', url: '/things', ...unannounced })).statusCode).toBe(413)
  })

  it('that pauses for too long is given up with 408', async () => {
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const socket = connect(Number(port), '127.0.0.1')
    socket.write('POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"name":')
    // Until the gateway closes the connection.
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })
})

describe('the character U+0000, which no database column of text takes', () => {
  it('is in no id: nothing is found', async () => {
    expect(await call('GET', '/things/a%00b')).toMatchObject({ status: 404 })
    expect(await call('DELETE', '/things/%00')).toMatchObject({ status: 404 })
  })

  it.each([
    ['a name', { name: 'a\0b' }, 'name'],
    ['a list of ids', { name: 'a', ids: ['ok', '\0'] }, 'ids'],
    ['what is nested', { name: 'a', config: { deep: [{ text: '\0' }] } }, 'config'],
    ['the name of a field', { name: 'a', config: { '\0': 1 } }, 'config'],
  ])('is refused in %s, with a sentence that says where', async (_where, value, path) => {
    const { status, message } = await call('POST', '/things', JSON.stringify(value))
    expect([status, message]).toEqual([400, `${path}: may not contain the character U+0000`])
  })

  it('is refused in a query', async () => {
    expect(await call('GET', '/things?workspace_id=a%00')).toMatchObject({
      status: 400,
      message: 'workspace_id: may not contain the character U+0000',
    })
  })

  it('is looked for as deep as a body may nest', async () => {
    const deep = (inside: string): string => `{"name":"a","config":{"a":${'['.repeat(254)}${inside}${']'.repeat(254)}}}`
    expect(await call('POST', '/things', deep('1'))).toMatchObject({ status: 200 })
    expect(await call('POST', '/things', deep('"\\u0000"'))).toMatchObject({ status: 400 })
  })

  it('never is an error of the gateway', () => {
    expect(bugs).toEqual([])
  })
})

describe('a path that does not exist', () => {
  it.each(['/v1/responses', '/responses/', '/api/responses?x=1', '/api/v1/responses/responses'])('%s gets a hint at the call routes', async (url) => {
    expect((await call('POST', url, '{}')).message).toMatch(/^There is no POST .*: use POST \/api\/v1\/responses/)
  })
  it.each([
    ['/chat/completions', '/api/v1/chat/completions (base URL: /api/v1)'],
    ['/v1/chat/completions', '/api/v1/chat/completions (base URL: /api/v1)'],
    ['/api/v1/deployments/a%2Fb/chat/completions', '/api/v1/chat/completions (base URL: /api/v1)'],
    ['/api/v1/responses/chat/completions', '/api/v1/chat/completions (base URL: /api/v1)'],
    ['/openai/v1/chat/completions', '/api/openai/v1/chat/completions (base URL: /api)'],
    ['/api/v1/openai/deployments/a/b/chat/completions', '/api/openai/deployments/a/b/chat/completions (base URL: /api)'],
    ['/openai/responses', '/api/openai/responses (base URL: /api)'],
    ['/v1/messages', '/api/v1/messages (base URL: /api)'],
    ['/api/v1/v1/messages', '/api/v1/messages (base URL: /api)'],
  ])('%s gets a hint at the route of its format', async (url, way) => {
    const { status, message } = await call('POST', url, '{}')
    expect([status, message]).toEqual([404, `There is no POST ${url}: use POST ${way}`])
  })
  it.each(['/api/v1/completions', '/v1/engines/a/completions'])('%s gets a hint at a supported format', async (url) => {
    const { status, message } = await call('POST', url, '{}')
    expect(status).toBe(404)
    expect(message).toMatch(/this gateway does not speak that format: use POST \/api\/v1\/chat\/completions/)
  })
  it.each([
    ['POST', '/v1/embeddings', 'use POST /api/v1/embeddings'],
    ['GET', '/v1/models', 'models are listed with GET /api/v1/models'],
    ['GET', '/models/', 'models are listed with GET /api/v1/models'],
  ] as const)('%s %s gets a hint at the right path', async (method, url, way) => {
    const { status, message } = await call(method, url)
    expect([status, message]).toEqual([404, `There is no ${method} ${url}: ${way} (base URL: /api/v1)`])
  })
  it.each(['/v1/messages', '/api/v1/messages/batches?limit=1'])('%s gets the error envelope of its format', async (url) => {
    const { body } = await app.inject({ method: 'POST', url, payload: '{}' })
    expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { type: 'not_found_error', error_type: 'not_found' } })
  })
  it.each(['/api/v1/responses/resp_1', '/v1/responses/resp_1/input_items', '/api/v1/conversations', '/conversations/conv_1'])(
    '%s gets the hint that nothing is stored',
    async (url) =>
      expect((await call('GET', url)).message).toMatch(/^There is no GET .*: answers and conversations are not stored, so send the items/),
  )
  it.each([
    ['/api/v1/files', 'files are not stored'],
    ['/api/upload/v1beta/files', 'files are not stored'],
    ['/v1beta/files/abc', 'files are not stored'],
    ['/api/v1beta/files:register', 'files are not stored'],
    ['/api/v1/cachedContents', 'prompts are not stored'],
    ['/api/v1beta/cachedContents/abc', 'prompts are not stored'],
    ['/api/v1/interactions', 'use POST /api/v1beta/models/{model}:generateContent'],
    ['/v1/batches', 'there are no batches'],
  ])('%s gets a hint what to do instead', async (url, instead) => {
    expect((await call('POST', url, '{}')).message).toContain(`There is no POST ${url}: ${instead}`)
  })
  it.each(['x-goog-api-key', 'x-goog-api-client'])('gets an error in the format that the client’s headers name, on any path: %s', async (header) => {
    const told = async (headers: { readonly [name: string]: string }): Promise<unknown> =>
      (JSON.parse((await app.inject({ method: 'GET', url: '/api/v1/files', headers })).body) as { error: { status?: string } }).error.status
    expect([await told({ [header]: 'x' }), await told({})]).toEqual(['NOT_FOUND', undefined])
  })
  it('any other gets no hint', async () => {
    for (const url of ['/nothing', '/api/v1/responses/compact', '/api/v1/responses/input_tokens'])
      expect((await call('GET', url)).message).toBe(`There is no GET ${url}`)
  })
})
