import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import {
  chatEvents,
  chatJson,
  chatText,
  reset,
  silence,
  startFakeUpstream,
  status,
  stream,
  type FakeUpstream,
  type Reply,
} from '../../src/testing/fake-upstream.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Failover before the commit point and honesty after it, over real sockets: a primary that misbehaves and a backup that serves. */
let primary: FakeUpstream
let backup: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  primary = await startFakeUpstream()
  backup = await startFakeUpstream(stream(chatText('from the backup')))
  const timeouts = { connect: '1s', first_token: '400ms', idle: '400ms', total: '5s' }
  const config = chatConfig([primary.url, backup.url]) as { providers: object[] }
  gateway = await startGateway({ ...config, providers: config.providers.map((provider) => ({ ...provider, timeouts })), routing: { sticky: false } })
})
afterEach(async () => {
  await gateway.close()
  await primary.close()
  await backup.close()
})

const ask = (streamed: boolean) =>
  gateway.respond(
    { model: 'acme/small', input: 'hi', stream: streamed, provider: { order: ['acme', 'backup1'] } },
    { headers: { 'x-gateway-experimental-metadata': 'enabled' } },
  )
const overloaded = { error: { message: 'busy', type: 'server_error' } }

/** An error whose body begins and never ends: silent, or a character every 20 ms. */
const unending =
  (code: number, headers: { readonly [name: string]: string }, everyMs?: number): Reply =>
  async (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).write('{"error":{"message":"not now ')
    if (everyMs === undefined) return
    for (; !response.destroyed; await new Promise((resolve) => setTimeout(resolve, everyMs))) response.write('y')
  }

const invisible: readonly (readonly [string, readonly Reply[]])[] = [
  ['503', [status(503, overloaded)]],
  ['429 with a long hint', [status(429, { error: { message: 'slow down' } }, { 'retry-after': '60' })]],
  ['a 503 whose body never ends', [unending(503, {})]],
  ['a rejected credential', [status(401, { error: { message: 'bad key' } })]],
  ['a reset before headers', [reset()]],
  ['silence', [silence()]],
  ['headers and then silence', [stream([], { then: 'hang' })]],
  ['a role chunk and then silence', [stream([chatEvents.role()], { then: 'hang' })]],
  ['an error inside the stream before any content', [stream([{ error: { message: 'overloaded', code: 503 } }])]],
  ['an empty answer that calls itself finished', [stream([chatEvents.role(), chatEvents.finish(), chatEvents.usage(), chatEvents.done()])]],
  ['a web page', [status(200, '<html>hello</html>', { 'content-type': 'text/html' })]],
  ['an empty body', [status(200, '')]],
  ['a JSON error with status 200', [status(200, overloaded)]],
  ['a redirect', [status(302, '', { location: 'http://169.254.169.254/' })]],
]

describe.each([true, false])('failover before the first content (stream: %s)', (streamed) => {
  it.each(invisible)(
    verifies('P13', 'P15', 'P16', 'P21', 'C1', 'C4', 'C5', 'C6', 'C7', 'P11', 'C18', 'C19', 'C22', 'serves from the next endpoint after %s'),
    async (_name, replies) => {
      primary.script(...replies)
      const response = await ask(streamed)
      expect(response.status).toBe(200)
      const body = await response.text()
      const answer = streamed ? (checkWire(body).terminal['response'] as Record<string, unknown>) : (JSON.parse(body) as Record<string, unknown>)
      expect(answer['output_text']).toBe('from the backup')
      expect(answer['gateway_metadata']).toMatchObject({
        attempts: expect.arrayContaining([
          expect.objectContaining({ provider: 'Acme 1', status: 200 }),
          expect.objectContaining({ provider: 'Acme 0', error_type: expect.any(String) }),
        ]),
      })
      expect(backup.requests).toHaveLength(1)
      expect(backup.requests[0]!.headers.authorization).toBe('Bearer upstream-key-1')
    },
  )
})

describe('retry discipline', () => {
  it.each<[string, Reply]>([
    ['a 500', status(500, overloaded)],
    ['a connection that is reset', reset()],
  ])(verifies('P42', 'C3', 'repeats %s once on the same endpoint'), async (_, fault) => {
    primary.script(fault, stream(chatText('second try')))
    expect(((await (await ask(false)).json()) as { output_text: string }).output_text).toBe('second try')
    expect(primary.requests).toHaveLength(2)
    expect(backup.requests).toHaveLength(0)
  })

  it(verifies('P42', 'C3', 'sends a request that loses its connection twice in all, whether the first connection was kept or new'), async () => {
    primary.script(stream(chatText('kept')))
    await (await ask(false)).json()
    primary.script(reset())
    expect(((await (await ask(false)).json()) as { output_text: string }).output_text).toBe('from the backup')
    expect(primary.requests).toHaveLength(3)
  })

  it(verifies('P47', 'C6', 'asks a silent endpoint only once'), async () => {
    primary.script(silence())
    await (await ask(false)).json()
    expect(primary.requests).toHaveLength(1)
  })

  it(verifies('P50', 'reports an error of the caller at once'), async () => {
    primary.script(status(400, { error: { message: "Invalid value for 'temperature'", type: 'invalid_request_error', param: 'temperature' } }))
    const response = await ask(true)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 400, metadata: { error_type: 'invalid_request', source: 'provider', provider_name: 'Acme 0' } },
    })
  })

  it(verifies('P34', 'G4', 'never blames the caller for a credential of the gateway'), async () => {
    primary.script(status(401, { error: { message: 'Incorrect API key provided: sk-secret123456789', code: 'invalid_api_key' } }))
    backup.script(status(403, { error: { message: 'no' } }))
    const response = await ask(false)
    expect(response.status).toBe(502)
    const text = await response.text()
    expect(JSON.parse(text)).toMatchObject({ error: { metadata: { provider_code: 'invalid_api_key', provider_name: 'Acme 0' } } })
    expect(text).toContain('upstream_credentials_exhausted')
    expect(text).not.toContain('sk-secret123456789')
  })

  it(verifies('C1', 'returns to an endpoint that asked for a short pause when all others have failed'), async () => {
    primary.script(status(429, overloaded, { 'retry-after': '0.2' }), stream(chatText('after the pause')))
    backup.script(status(401, { error: { message: 'bad key' } }))
    const answer = (await (await ask(false)).json()) as Record<string, unknown>
    expect(answer['output_text']).toBe('after the pause')
    expect(primary.requests[1]!.at - primary.requests[0]!.at).toBeGreaterThanOrEqual(200)
    expect(backup.requests).toHaveLength(1)
  })

  it(verifies('C1', 'answers 429 with the shortest pause when all endpoints are rate limited'), async () => {
    primary.script(status(429, overloaded, { 'retry-after': '40' }))
    backup.script(status(429, overloaded, { 'retry-after': '20' }))
    const response = await ask(true)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('20')
  })

  it.each([
    ['429', 'is silent', 429, undefined, 429, 'rate_limit_exceeded'],
    ['429', 'trickles', 429, 20, 429, 'rate_limit_exceeded'],
    ['503', 'trickles', 503, 20, 503, 'provider_overloaded'],
    ['401', 'is silent', 401, undefined, 502, 'provider_unavailable'],
  ])(
    verifies('C1', 'C4', 'a %s whose body %s counts as what its status says, and not as silence'),
    async (_name, _how, upstream, everyMs, code, errorType) => {
      primary.script(unending(upstream, { 'retry-after': '40' }, everyMs))
      backup.script(status(upstream, overloaded, { 'retry-after': '50' }))
      const before = performance.now()
      const response = await ask(true)
      expect(performance.now() - before).toBeLessThan(3_000)
      expect(response.status).toBe(code)
      expect(await response.json()).toMatchObject({
        error: { metadata: { error_type: errorType, attempts: [{ status: upstream }, { status: upstream }] } },
      })
      if (upstream !== 401) expect(response.headers.get('retry-after')).toBe('40')
      await expect.poll(() => primary.requests[0]!.abortedAt).toBeDefined()
    },
  )

  it(verifies('C4', 'stays on one endpoint when fallbacks are switched off'), async () => {
    primary.script(status(503, overloaded))
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', provider: { order: ['acme'], allow_fallbacks: false } })
    expect(response.status).toBe(503)
    expect(backup.requests).toHaveLength(0)
  })
})

describe('a failure after the commit point', () => {
  it.each([
    ['a reset', { then: 'reset' }, 'provider_unavailable'],
    ['silence', { then: 'hang' }, 'timeout'],
    ['a bare end', { then: 'end' }, 'provider_unavailable'],
  ] as const)(
    verifies('P12', 'P35', 'C8', 'C9', 'P36', 'reports %s in the stream, with the partial text and a record'),
    async (_name, options, errorType) => {
      primary.script(stream([chatEvents.role(), chatEvents.text('half an '), chatEvents.text('answer')], options))
      const response = await ask(true)
      const { terminal, output } = checkWire(await response.text())
      expect(terminal.type).toBe('response.failed')
      expect(terminal['response']).toMatchObject({ error_type: errorType, output_text: 'half an answer' })
      expect(output[0]!['status']).toBe('incomplete')
      expect(backup.requests).toHaveLength(0)
      const record = await gateway.api('GET', `/api/v1/generation?id=${response.headers.get('x-generation-id')}`)
      const { data } = (await record.json()) as { data: { readonly [field: string]: unknown } }
      expect(data).toMatchObject({ finish_reason: 'error', streamed: true, provider_name: 'Acme 0' })
      // The failure contains the usage that the caller pays for.
      const { usage } = terminal['response'] as { usage: { readonly [field: string]: unknown } | null }
      expect(usage?.['cost']).toBeGreaterThan(0)
      expect(usage).toMatchObject({ cost: data['total_cost'], prompt_tokens: data['tokens_prompt'], completion_tokens: data['tokens_completion'] })
    },
  )

  it(verifies('P13', 'C8', 'does not exist for a JSON caller, who has seen nothing: the next endpoint gives the whole answer'), async () => {
    primary.script(stream([chatEvents.text('half')], { then: 'reset' }))
    const response = await ask(false)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ output_text: 'from the backup' })
  })

  it(verifies('P13', 'C8', 'P50', 'gives a JSON caller an HTTP error with all attempts when no other endpoint can answer'), async () => {
    primary.script(stream([chatEvents.text('half')], { then: 'reset' }))
    backup.script(stream([chatEvents.text('half')], { then: 'reset' }))
    const response = await ask(false)
    expect(response.status).toBe(502)
    const { error } = (await response.json()) as { error: { metadata: { attempts: { provider: string; status: number }[] } } }
    // An answer that broke is listed with the status that it began with.
    expect(new Set(error.metadata.attempts.map(({ provider, status }) => `${provider} ${status}`))).toEqual(new Set(['Acme 0 200', 'Acme 1 200']))
  })

  it(verifies('S2-kill', 'P12', 'P35', 'ends a stream cut after every single event with an error or a terminal event'), async () => {
    const events = [
      chatEvents.role(),
      chatEvents.reasoning('hm'),
      chatEvents.text('a'),
      chatEvents.text('b'),
      chatEvents.call(0, 'c1', 'f', '{"x"'),
      chatEvents.args(0, ':1}'),
      chatEvents.finish('tool_calls'),
      chatEvents.usage(),
    ]
    backup.script(status(503, overloaded))
    for (let kept = 0; kept < events.length; kept++) {
      primary.script(stream(events.slice(0, kept), { then: 'reset' }))
      const response = await ask(true)
      const text = await response.text()
      if (response.status === 200) expect(['response.failed', 'response.completed']).toContain(checkWire(text).terminal.type)
      else expect(JSON.parse(text)).toMatchObject({ error: { code: response.status } })
      if (kept < events.length - 1 && response.status === 200) expect(checkWire(text).terminal.type).toBe('response.failed')
      const id = response.headers.get('x-generation-id')
      expect((await gateway.api('GET', `/api/v1/generation?id=${id}`)).status).toBe(200)
    }
  })

  it(verifies('C11', 'finishes at once when only the end mark is missing'), async () => {
    primary.script(stream(chatText('whole').slice(0, -1), { then: 'hang' }))
    const started = performance.now()
    expect(checkWire(await (await ask(true)).text()).terminal.type).toBe('response.completed')
    expect(performance.now() - started).toBeLessThan(4_000)
  })

  it(verifies('P17', 'C10', 'skips one frame that is not JSON'), async () => {
    primary.script(
      stream([chatEvents.text('a'), 'data: {"id": broken\n\n', chatEvents.text('b'), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]),
    )
    expect(checkWire(await (await ask(true)).text()).text).toBe('ab')
  })
})

describe('upstreams that ignore the requested format', () => {
  it(verifies('P43', 'are asked for a stream for a JSON caller, which the gateway collects'), async () => {
    primary.script(stream(chatText('piece ', 'by ', 'piece')))
    expect(await (await ask(false)).json()).toMatchObject({ status: 'completed', output_text: 'piece by piece' })
    expect(primary.requests.map(({ body }) => body['stream'])).toEqual([true])
  })

  it(verifies('C18', 'may answer a stream request with JSON'), async () => {
    primary.script(status(200, chatJson('whole')))
    const { text, terminal } = checkWire(await (await ask(true)).text())
    expect(text).toBe('whole')
    expect((terminal['response'] as { usage: object }).usage).toMatchObject({ input_tokens: 11, output_tokens: 7 })
  })

  it(verifies('C18', 'may send JSON with the content type of a stream'), async () => {
    const asStream = { 'content-type': 'text/event-stream' }
    for (const body of [chatJson('whole'), `\ufeff${JSON.stringify(chatJson('whole'))}`]) {
      primary.script(status(200, body, asStream))
      expect(checkWire(await (await ask(true)).text()).text).toBe('whole')
    }
    const tooLong = { error: { message: "This model's maximum context length is 10 tokens", code: 'context_length_exceeded' } }
    const before = primary.requests.length
    primary.script(status(200, tooLong, asStream))
    await (await ask(true)).text()
    expect(primary.requests.length - before).toBe(1)
  })

  it(verifies('C18', 'may send events under a wrong content type'), async () => {
    primary.script(stream(chatText('still ', 'fine'), { contentType: 'application/octet-stream' }))
    expect(checkWire(await (await ask(true)).text()).text).toBe('still fine')
  })
})

describe('an answer that is asked for in one piece', () => {
  const schema = { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } } }
  it.each([
    ['because a schema refuses streams', { streamed_schemas: false }, schema],
    ['because the operator wants no streams', { extra_body: { stream: false } }, {}],
  ])('%s has until the total limit, and not until its first token', async (_why, options, fields) => {
    await gateway.close()
    const config = chatConfig([primary.url, backup.url]) as { providers: object[] }
    const timeouts = { first_token: '200ms', idle: '200ms', total: '5s' }
    gateway = await startGateway({
      ...config,
      providers: config.providers.map((provider, n) => (n === 0 ? { ...provider, options, timeouts } : provider)),
    })
    primary.script(async (request, response) => {
      await new Promise((resolve) => setTimeout(resolve, 600))
      await status(200, chatJson('{"a":1}'))(request, response)
    })
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', provider: { order: ['acme', 'backup1'] }, ...fields })
    expect(await response.json()).toMatchObject({ output_text: '{"a":1}' })
    expect(primary.requests.map(({ body }) => [body['stream'], body['stream_options']])).toEqual([[false, undefined]])
    expect(backup.requests).toHaveLength(0)
  })
})
