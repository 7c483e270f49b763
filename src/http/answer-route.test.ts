import { once } from 'node:events'
import { request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { verifies } from '../../e2e/requirements.ts'
import type { Handler } from '../core/call.ts'
import { NO_COST } from '../core/cost.ts'
import { GatewayError } from '../core/error.ts'
import { responses } from '../doors/responses/door.ts'
import type { Door } from '../doors/shared/door.ts'
import type { ModelEvent } from '../core/event.ts'
import type { Generation } from '../core/generation.ts'
import type { ModelRequest } from '../core/request.ts'
import { createUsage } from '../core/usage.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { LiveSet } from '../lib/live-map.ts'
import { recordLayer } from '../pipeline/record.ts'
import { checkWire } from '../testing/check-wire.ts'
import { manualClock, sequentialIds } from '../testing/deterministic.ts'
import type { Authenticated } from './authenticate.ts'
import { RecentItems } from './recent-items.ts'
import { AnswerMemory, LargeAnswer } from './answer-memory.ts'
import { BodyHold, BodyMemory } from './body-memory.ts'
import { createAnswerRoute, type AnswerRouteOptions } from './answer-route.ts'
import { createGatewayServer } from './server.ts'
import { KeepAlive, type SseBody } from './sse-body.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const ANSWER: readonly ModelEvent[] = [
  { type: 'item-start', key: 'a', item: { type: 'message', role: 'assistant', content: [] } },
  { type: 'text-delta', key: 'a', delta: 'Hello' },
  { type: 'item-end', key: 'a' },
  { type: 'response-end', reason: 'stop', usage: createUsage({ inputTokens: 2, outputTokens: 1 }) },
]

/** Says its answer, then goes on with what is left to do until it may stop. */
function lingering(after?: readonly ModelEvent[]): { readonly handler: Handler; readonly release: () => void; readonly over: () => boolean } {
  const gate = Promise.withResolvers<void>()
  let over = false
  return {
    async *handler() {
      yield ANSWER
      await gate.promise
      over = true
      if (after === undefined) return
      yield after
      throw new GatewayError('server', 'too late to matter')
    },
    release: gate.resolve,
    over: () => over,
  }
}

const bodies = new BodyMemory({ limits: () => ({ enabled: true, memoryShare: 1 }), memoryLeft: () => Infinity })
const holdBody = (): BodyHold => new BodyHold(bodies)
const answers = new AnswerMemory({ limits: () => ({ enabled: true, memoryShare: 0.9 }), memoryLeft: () => Infinity, monotonic: () => 0 })
const holdAnswer = (signal: AbortSignal): LargeAnswer => new LargeAnswer(answers, signal)

const owner = { workspaceId: 'home', keyHash: 'a'.repeat(64), keyName: 'test', keyLabel: 'sk-...' }

async function start(
  handler: Handler,
  keepAlive = new KeepAlive(),
  door?: Door,
): Promise<(body: object, headers?: Record<string, string>) => Promise<Response>> {
  const url = await listen(handler, door === undefined ? { keepAlive } : { keepAlive, door })
  return (body, headers = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'm', input: 'Hi', ...body }),
      signal: AbortSignal.timeout(5_000),
    })
}

interface Surroundings {
  readonly keepAlive?: KeepAlive
  readonly clock?: Clock
  /** The head of a request is here. */
  readonly onHead?: () => void
  /** Default: that of Responses. */
  readonly door?: Door
  readonly options?: Partial<AnswerRouteOptions>
}

async function listen(
  handler: Handler,
  { keepAlive = new KeepAlive(), clock = systemClock, onHead, door = responses, options = {} }: Surroundings,
): Promise<string> {
  const route = createAnswerRoute(
    {
      authenticate: () => {
        onHead?.()
        return { owner } as Authenticated
      },
      handler,
      presets: { find: () => undefined },
      withDefaults: (request) => request,
      presentMetadata: (call) => ({ strategy: call.trace.strategy }),
      promptTokens: () => 7,
      bodyLimitBytes: 10_000,
      mirrorReasoning: () => false,
      errorEvent: () => false,
      betaHeaders: ['x-betas'],
      callerHeaders: () => ({ sessions: [], traces: false }),
      echoUpstreamBody: () => true,
      recentItems: new RecentItems({ clock: systemClock, maxEntries: 10, maxChars: 10_000, ttlMs: 1_000 }),
      clock,
      newId: sequentialIds(),
      random: () => 0.5,
      keepAlive,
      onBug: () => undefined,
      inFlight: new LiveSet(),
      admission: { enter: () => undefined, leave: () => undefined, holdBody, holdAnswer },
      accepting: () => true,
      ...options,
    },
    door,
  )
  const server = createGatewayServer({ routes: new Map([['POST /', route]]), fallback: route })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('a failure that cannot be sent', () => {
  it('ends the connection, and is logged', async () => {
    const bugs: GatewayError[] = []
    const untellable = (): never => {
      throw new Error('no metadata')
    }
    async function* breaks(): ReturnType<Handler> {
      yield ANSWER.slice(0, 2)
      throw new GatewayError('provider_unavailable', 'The upstream is gone')
    }
    const url = await listen(breaks, { options: { presentMetadata: untellable, onBug: (error) => bugs.push(error) } })
    const answer = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-experimental-metadata': 'enabled' },
      body: JSON.stringify({ model: 'm', input: 'Hi', stream: true }),
      signal: AbortSignal.timeout(5_000),
    }).then((response) => response.text())
    // Not that nothing comes.
    await expect(answer).rejects.toBeInstanceOf(TypeError)
    expect(bugs.map(({ cause }) => String(cause))).toContain('Error: no metadata')
  })
})

describe('the end of an answer', () => {
  it('reaches a JSON caller with the end of the model’s answer, before the remaining work of the gateway', async () => {
    const model = lingering()
    const call = await start(model.handler)
    const answer = (await (await call({})).json()) as { status: string }
    expect(answer.status).toBe('completed')
    expect(model.over()).toBe(false)
    model.release()
  })

  it('reaches a streaming caller the same way, complete', async () => {
    const model = lingering()
    const call = await start(model.handler)
    const text = await (await call({ stream: true })).text()
    expect(text).toMatch(/event: response\.completed\n[\s\S]*data: \[DONE\]\n\n$/)
    expect(model.over()).toBe(false)
    model.release()
  })

  it('waits for the whole call where the caller wants its metadata', async () => {
    const model = lingering()
    const call = await start(model.handler)
    const answer = call({}, { 'x-gateway-experimental-metadata': 'enabled' })
    const first = await Promise.race([answer.then(() => 'answered'), new Promise((resolve) => setTimeout(resolve, 50, 'waits'))])
    expect(first).toBe('waits')
    model.release()
    expect(await (await answer).json()).toHaveProperty('gateway_metadata.strategy', 'direct')
  })

  it('comes once: events and failures after it are not sent', async () => {
    const model = lingering([{ type: 'text-delta', key: 'nobody', delta: 'late' }])
    const call = await start(model.handler)
    const response = await call({ stream: true })
    const text = response.text()
    model.release()
    expect((await text).match(/event: response\.(completed|failed)/g)).toEqual(['event: response.completed'])
    expect(await text).not.toContain('late')
  })
})

it('a call is received when its body is complete: the time its caller takes to send it does not count', async () => {
  const clock = manualClock()
  const head = Promise.withResolvers<void>()
  let receivedAt: number | undefined
  const url = await listen(
    async function* (call) {
      receivedAt = call.receivedAt
      yield ANSWER
    },
    { clock, onHead: head.resolve },
  )
  const body = JSON.stringify({ model: 'm', input: 'Hi' })
  const sending = request(url, { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': body.length } })
  sending.write(body.slice(0, 5))
  await head.promise
  clock.advance(9_000)
  const answered = once(sending, 'response')
  sending.end(body.slice(5))
  const [response] = (await answered) as [IncomingMessage]
  expect(response.resume().statusCode).toBe(200)
  expect(receivedAt).toBe(clock.now())
})

describe('an answer that cannot be written', () => {
  it.each([true, false])(verifies('P35', 'is recorded as failed (stream: %s)'), async (stream) => {
    const records: Generation[] = []
    const layer = recordLayer({
      sink: { record: ({ generation }) => void records.push(generation), flush: () => Promise.resolve() },
      costOf: () => NO_COST,
      estimateUsage: () => createUsage({ inputTokens: 2, outputTokens: 1, estimated: true }),
    })
    const call = await start(
      layer(async function* () {
        yield ANSWER.slice(0, 2)
        yield [{ type: 'text-delta', key: 'nobody', delta: 'of no item' }]
      }),
    )
    const response = await call({ stream })
    const text = await response.text()
    if (stream) expect(text).toContain('event: response.failed\n')
    else expect(response.status).toBe(500)
    expect(records).toMatchObject([{ status: 'failed', httpStatus: 500, errorType: 'server' }])
  })
})

describe('references to items of earlier answers', () => {
  it(verifies('A3', 'B1', 'expand to no more than a body may hold, however often one item is referenced'), async () => {
    const call = await start(async function* () {
      yield ANSWER
    })
    const { output } = (await (await call({})).json()) as { readonly output: readonly { readonly id: string }[] }
    const naming = (times: number) => call({ input: Array.from({ length: times }, () => ({ id: output[0]!.id })) })
    expect((await naming(3)).status).toBe(200)
    const refused = await naming(100)
    expect(refused.status).toBe(413)
    expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('10000 bytes'), metadata: { path: 'input' } } })
  })
})

describe('a stream that fails', () => {
  const failing: Handler = async function* () {
    yield ANSWER.slice(0, 2)
    throw new GatewayError('provider_unavailable', 'It "broke" off')
  }
  const asked = { 'x-gateway-error-event': 'on' }
  const typesOf = (text: string): readonly string[] => checkWire(text).events.map(({ type }) => type)

  it('sends an error event of its own, flat and nested, for callers who ask', async () => {
    const text = await (await (await start(failing))({ stream: true }, asked)).text()
    const { events, terminal } = checkWire(text)
    const said = { code: 'server_error', message: 'It "broke" off', param: null }
    expect(events.at(-2)).toEqual({
      type: 'error',
      sequence_number: events.length - 2,
      ...said,
      error: { type: 'provider_unavailable', ...said },
    })
    expect(terminal).toMatchObject({ type: 'response.failed', response: { error: { code: said.code, message: said.message } } })
  })

  it('has one terminal event for all others', async () => {
    const call = await start(failing)
    for (const headers of [undefined, { 'x-gateway-error-event': 'off' }])
      expect(typesOf(await (await call({ stream: true }, headers)).text())).not.toContain('error')
  })

  it('sends no error event when it ends well, or is not a stream', async () => {
    const call = await start(async function* () {
      yield ANSWER
    })
    expect(typesOf(await (await call({ stream: true }, asked)).text())).not.toContain('error')
    expect(await (await call({}, asked)).json()).toMatchObject({ status: 'completed' })
  })

  it('has two values', async () => {
    const response = await (await start(failing))({ stream: true }, { 'x-gateway-error-event': 'yes' })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('x-gateway-error-event: expected on or off')])
  })
})

describe('the error code of a failure before the first byte', () => {
  const tooLong: Handler = async function* () {
    yield []
    throw new GatewayError('context_length_exceeded', 'Too long')
  }
  const codeOf = async (headers?: { readonly [name: string]: string }, body: object = { stream: true }): Promise<readonly unknown[]> => {
    const response = await (await start(tooLong))(body, headers)
    return [response.status, ((await response.json()) as { readonly error: { readonly code: unknown } }).error.code]
  }

  it('is the status, or the code used in streams for callers who ask', async () => {
    expect(await codeOf()).toEqual([400, 400])
    expect(await codeOf({ 'x-gateway-error-code': 'status' })).toEqual([400, 400])
    for (const stream of [true, false]) expect(await codeOf({ 'x-gateway-error-code': 'Word' }, { stream })).toEqual([400, 'context_length_exceeded'])
  })

  it('applies to failures of parsing, too', async () => {
    expect(await codeOf({ 'x-gateway-error-code': 'word' }, { stream: 'x' })).toEqual([400, 'invalid_prompt'])
  })

  it('has two values', async () => {
    const response = await (await start(tooLong))({}, { 'x-gateway-error-code': 'name' })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('x-gateway-error-code: expected status or word')])
  })
})

describe('a keep-alive that carries data', () => {
  /** Signs of life when the test wants them. */
  class Pulse extends KeepAlive {
    #body: SseBody | undefined
    override add(body: SseBody): number {
      this.#body = body
      return super.add(body)
    }
    beat(): void {
      this.#body?.keepAlive(performance.now() + 11_000)
    }
  }
  const asked = { 'x-gateway-keep-alive': 'event' }

  it(verifies('P41', 'is an event of the stream, before the first word and within the answer, for callers who ask'), async () => {
    const pulse = new Pulse()
    const call = await start(async function* () {
      pulse.beat()
      yield ANSWER.slice(0, 2)
      pulse.beat()
      yield ANSWER.slice(2)
    }, pulse)
    const text = await (await call({ stream: true }, asked)).text()
    const { events, text: words } = checkWire(text)
    expect(words).toBe('Hello')
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'keepalive',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'keepalive',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(text).not.toContain(': keep-alive')
  })

  it('is followed by the failure, if there is one', async () => {
    const pulse = new Pulse()
    const call = await start(async function* () {
      pulse.beat()
      yield []
      throw new GatewayError('provider_overloaded', 'busy')
    }, pulse)
    const { terminal } = checkWire(await (await call({ stream: true }, asked)).text())
    expect(terminal).toMatchObject({ type: 'response.failed', response: { error_type: 'provider_overloaded' } })
  })

  it('is a comment for all others', async () => {
    const pulse = new Pulse()
    const call = await start(async function* () {
      pulse.beat()
      yield ANSWER
    }, pulse)
    const text = await (await call({ stream: true })).text()
    expect(text).toMatch(/^: keep-alive\n\nevent: response\.created\n/)
    expect(text).not.toContain('"keepalive"')
  })

  it('is an event in a format whose clients cannot read comments', async () => {
    const door: Door = { ...responses, signs: 'event' }
    const asked = async (headers: Record<string, string>): Promise<string> => {
      const pulse = new Pulse()
      const call = await start(
        async function* () {
          pulse.beat()
          yield ANSWER
        },
        pulse,
        door,
      )
      return (await call({ stream: true }, headers)).text()
    }
    expect(await asked({})).toContain('"keepalive"')
    expect(await asked({ 'x-gateway-keep-alive': 'comment' })).toMatch(/^: keep-alive/)
  })

  it('is whitespace in a stream without events, whatever its caller asks for', async () => {
    const door: Door = {
      ...responses,
      read: (sent) => ({ ...responses.read(sent), streamed: { headers: { 'content-type': 'text/plain' }, sign: () => '\n' } }),
    }
    for (const headers of [{}, { 'x-gateway-keep-alive': 'comment' }, asked]) {
      const pulse = new Pulse()
      const call = await start(
        async function* () {
          pulse.beat()
          yield ANSWER
        },
        pulse,
        door,
      )
      const response = await call({ stream: true }, headers)
      expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/plain', expect.stringMatching(/^\nevent: /)])
    }
  })

  it('has two values', async () => {
    const response = await (await start(lingering().handler))({ stream: true }, { 'x-gateway-keep-alive': 'often' })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('expected comment or event')
  })
})

describe('a call', () => {
  const post = (url: string, body: unknown, init: RequestInit = {}) =>
    fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), signal: AbortSignal.timeout(5_000), ...init })
  const good = { model: 'm', input: 'Hi' }
  const answering: Handler = async function* () {
    yield ANSWER
  }
  const failing: Handler = async function* () {
    yield ANSWER.slice(0, 2)
    throw new Error('a bug')
  }

  function places(enter: (key: string) => void = () => undefined) {
    const changes: string[] = []
    const inFlight = new LiveSet<AbortController>()
    const admission = {
      enter: (key: string) => {
        enter(key)
        changes.push(`in ${key.slice(0, 1)}`)
      },
      leave: (key: string) => void changes.push(`out ${key.slice(0, 1)}`),
      holdBody,
      holdAnswer,
    }
    return { changes, inFlight, admission }
  }

  it.each<readonly [string, Handler, unknown, number]>([
    ['its answer', answering, good, 200],
    ['its stream', answering, { ...good, stream: true }, 200],
    ['a bug of ours', failing, good, 500],
    ['a stream that fails', failing, { ...good, stream: true }, 200],
    ['a body that is none', answering, '{', 400],
    ['a body that is too large', answering, { ...good, input: 'x'.repeat(20_000) }, 413],
  ])('keeps its place until %s', async (_what, handler, body, status) => {
    const { changes, ...options } = places()
    const answer = await post(await listen(handler, { options }), body)
    await answer.text()
    expect(answer.status).toBe(status)
    await expect.poll(() => [changes, options.inFlight.size]).toEqual([['in a', 'out a'], 0])
  })

  it('that is not admitted has no place to release', async () => {
    const full = places(() => {
      throw new GatewayError('provider_overloaded', 'full')
    })
    expect((await post(await listen(answering, { options: full }), good)).status).toBe(503)
    const unknown = { ...places(), authenticate: () => Promise.reject(new GatewayError('authentication', 'who?')) }
    expect((await post(await listen(answering, { options: unknown }), good)).status).toBe(401)
    await expect.poll(() => [full.inFlight.size, unknown.inFlight.size]).toEqual([0, 0])
    expect([full.changes, unknown.changes]).toEqual([[], []])
  })

  it('ends when its caller leaves, and that is no bug', async () => {
    const bugs: string[] = []
    const ended = Promise.withResolvers<unknown>()
    const waiting: Handler = async function* ({ signal }) {
      yield []
      if (!signal.aborted) await once(signal, 'abort')
      ended.resolve(signal.aborted)
      throw new Error('because of it')
    }
    const { changes, ...options } = places()
    const caller = new AbortController()
    const answer = post(await listen(waiting, { options: { ...options, onBug: ({ message }) => void bugs.push(message) } }), good, {
      signal: caller.signal,
    })
    await expect.poll(() => changes).toEqual(['in a'])
    caller.abort()
    await expect(answer).rejects.toThrow()
    expect(await ended.promise).toBe(true)
    await expect.poll(() => [changes, options.inFlight.size]).toEqual([['in a', 'out a'], 0])
    expect(bugs).toEqual([])
  })

  it('that meets a bug of the gateway gets an id, and the bug is logged', async () => {
    const bugs: unknown[] = []
    const url = await listen(failing, { options: { onBug: (error, id) => void bugs.push([(error.cause as Error).message, id]) } })
    const answer = await post(url, good, { headers: { 'x-request-id': 'mine' } })
    expect(await answer.text()).not.toContain('a bug')
    expect(bugs).toEqual([['a bug', 'mine']])
  })

  it('has its own id, and that of its caller if there is one', async () => {
    const url = await listen(answering, { clock: manualClock(1_700_000_000_999) })
    const own = await post(url, good)
    const id = own.headers.get('x-generation-id')
    expect(id).toMatch(/^gen-1700000000-/)
    expect([((await own.json()) as { id: string }).id, own.headers.get('x-request-id')]).toEqual([id, id])
    const given = await post(url, { ...good, stream: true }, { headers: { 'x-request-id': 'mine' } })
    expect([given.headers.get('x-request-id'), given.headers.get('content-type')]).toEqual(['mine', 'text/event-stream; charset=utf-8'])
    expect([given.headers.get('cache-control'), given.headers.get('x-accel-buffering')]).toEqual(['no-cache', 'no'])
  })

  it('is refused while the gateway is shutting down, before its key is checked', async () => {
    const { changes, ...options } = places()
    const authenticate = (): never => expect.unreachable()
    const answer = await post(await listen(answering, { options: { ...options, authenticate, accepting: () => false } }), good)
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('connection')]).toEqual([503, '1', 'close'])
    expect(changes).toEqual([])
  })

  it.each([
    [undefined, 1],
    [false, 0],
  ])('is kept for item references unless it is not to be stored: store %s', async (store, times) => {
    const remembered: string[] = []
    const recentItems = { find: () => undefined, remember: (workspace: string) => void remembered.push(workspace) }
    await (await post(await listen(answering, { options: { recentItems } }), { ...good, store })).text()
    await expect.poll(() => remembered).toEqual(Array.from({ length: times }, () => 'home'))
  })

  it('that names no model gets the default, if there is one', async () => {
    const withDefaults = (request: ModelRequest): ModelRequest => ({ model: 'acme/default', ...request })
    const asked: unknown[] = []
    const handler: Handler = async function* ({ request, requestedModel }) {
      asked.push([request.model, requestedModel])
      yield ANSWER
    }
    await (await post(await listen(handler, { options: { withDefaults } }), { input: 'Hi' })).text()
    await (await post(await listen(handler, { options: { withDefaults } }), good)).text()
    await (await post(await listen(handler, {}), { input: 'Hi' })).text()
    expect(asked).toEqual([
      ['acme/default', 'acme/default'],
      ['m', 'm'],
      [undefined, ''],
    ])
  })
})
