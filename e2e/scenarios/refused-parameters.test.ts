import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'

/** Refuses these parameters by name, starting with the first that is present. */
const picky =
  (...names: readonly string[]): Reply =>
  ({ body }, response) => {
    const sent = names.find((name) => Object.hasOwn(body as object, name))
    if (sent === undefined) {
      const voice = VENDOR_VOICES.get('openai-chat')!
      response.writeHead(200, { 'content-type': voice.contentType })
      for (const frame of voice.stream({ text: 'Rome' })) response.write(frame)
      return void response.end()
    }
    const error = { message: `Unsupported parameter: '${sent}' is not supported with this model.`, type: 'invalid_request_error', param: sent }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  }

describe('a parameter the upstream refuses', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    upstream = await startFakeUpstream()
    const voice = VENDOR_VOICES.get('openai-chat')!
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['k'], options: voice.options }],
      models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }],
      routing: { sticky: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })
  const ASKED = { input: 'Where is it?', temperature: 0.2, top_p: 0.5, frequency_penalty: 0.1 }

  it('is left out of a second try, and so is the next one', async () => {
    upstream.script(picky('temperature', 'top_p'))
    const answer = await askGateway(gateway, ASKED, false)
    expect(answer['output_text']).toBe('Rome')
    expect(answer.gateway_metadata).toMatchObject({ params: { refused: expect.stringMatching(/^temperature, top_p: left out/) } })
    expect(upstream.requests).toHaveLength(3)
    expect(upstream.requests[2]!.body).toMatchObject({ frequency_penalty: 0.1 })
  })

  it('has its text moved to the instructions if it is a tool description that is too long', async () => {
    const description = 'Looks at the clock. '.repeat(60)
    upstream.script((request, response) => {
      const [tool] = request.body['tools'] as readonly { readonly function: { readonly description: string } }[]
      const { length } = tool!.function.description
      if (length <= 1024) return void picky()(request, response)
      const message = `Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length ${length} instead.`
      const error = { message, type: 'invalid_request_error', param: 'tools[0].function.description', code: 'string_above_max_length' }
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    })
    const answer = await askGateway(gateway, { input: 'When?', tools: [{ type: 'function', name: 'clock', description }] }, false)
    expect(answer['output_text']).toBe('Rome')
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[1]!.body['messages']).toMatchObject([
      { role: 'system', content: expect.stringMatching(/^The tool clock, further:\n/) },
      { role: 'user', content: 'When?' },
    ])
  })

  it.each([
    ['the caller wants it heeded', { ...ASKED, provider: { require_parameters: true } }, 'temperature'],
    ['the caller sent none', { input: 'Hi' }, 'stream'],
    ['an answer cannot do without it', { ...ASKED, max_output_tokens: 50 }, 'max_tokens'],
  ])('ends the call where %s', async (_name, body, name) => {
    upstream.script(picky(name))
    expect((await gateway.respond({ model: 'acme/small', ...body })).status).toBe(400)
    expect(upstream.requests).toHaveLength(1)
  })
})

/**
 * GPT since 5.6 in chat completions reasons unless told not to, and does not accept tools while it reasons. The name of a deployment may not reveal the
 * model.
 */
describe('a model that accepts tools only with reasoning switched off', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    const voice = VENDOR_VOICES.get('openai-chat')!
    upstream = await startFakeUpstream(({ body }, response) => {
      if (body['tools'] !== undefined && body['reasoning_effort'] !== 'none') {
        const message =
          "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        const error = { message, type: 'invalid_request_error', param: 'reasoning_effort', code: null }
        return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
      }
      response.writeHead(200, { 'content-type': voice.contentType })
      for (const frame of voice.stream({ text: 'Rome' })) response.write(frame)
      response.end()
    })
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['k'] }],
      models: [
        { slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', upstream_model: 'prod', pricing: { input: 1, output: 1 } }] },
      ],
      routing: { sticky: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })
  const tools = [{ type: 'function', name: 'f' }]

  it.each([[{}], [{ reasoning: { effort: 'high' } }]])('has reasoning switched off after it has refused, and only with tools: %j', async (body) => {
    const answer = await askGateway(gateway, { ...body, tools }, true)
    expect(answer['output_text']).toBe('Rome')
    expect(upstream.requests.map(({ body: sent }) => sent['reasoning_effort'])).toHaveLength(2)
    expect(upstream.requests[0]!.body['reasoning_effort']).not.toBe('none')
    expect(upstream.requests[1]!.body).toMatchObject({ reasoning_effort: 'none' })
    await askGateway(gateway, body, true)
    expect(upstream.requests).toHaveLength(3)
    expect(upstream.requests[2]!.body['reasoning_effort']).not.toBe('none')
  })

  it('is not used where the caller requires its parameters', async () => {
    const response = await gateway.respond({
      model: 'acme/small',
      input: 'hi',
      tools,
      reasoning: { effort: 'high' },
      provider: { require_parameters: true },
    })
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(upstream.requests.length).toBeLessThanOrEqual(1)
  })
})

/** Templates of open models, and some vendors, require what no format specifies: the form that an endpoint wants is only known after it has refused another. */
describe('a conversation in a form the upstream refuses', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    upstream = await startFakeUpstream()
    gateway = await startGateway({
      providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['k'] }],
      models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }],
      routing: { sticky: false, retries: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  type Message = { readonly role: string; readonly [field: string]: unknown }
  const message = (role: string, content: string): Message => ({ type: 'message', role, content })
  const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'c1', output: 'sun' }
  const thoughts = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] }
  /** Refuses messages for which `wrong` is true. */
  const strict =
    (status: number, refusal: string, wrong: (messages: readonly Message[]) => boolean): Reply =>
    (request, response) => {
      if (!wrong(request.body['messages'] as readonly Message[])) return void picky()(request, response)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: refusal, code: status } }))
    }
  const inARow = (messages: readonly Message[]): boolean => messages.some(({ role }, at) => role === messages[at - 1]?.role)

  it.each<[string, object[], Reply, object[]]>([
    [
      'without turns of one role in a row',
      [message('user', 'a'), message('user', 'b'), message('assistant', 'c'), message('system', 'd'), message('user', 'e')],
      strict(400, 'Conversation roles must alternate user/assistant/user/assistant/...', inARow),
      [
        { role: 'user', content: 'a\n\nb' },
        { role: 'assistant', content: 'c' },
        { role: 'user', content: '<system_message>\nd\n</system_message>\n\ne' },
      ],
    ],
    [
      'without the role of the system',
      [message('system', 'a'), message('user', 'b')],
      strict(400, 'System role not supported', (messages) => messages.some(({ role }) => role === 'system')),
      [{ role: 'user', content: 'a\n\nb' }],
    ],
    [
      'with the thoughts that led to calls',
      [message('user', 'a'), thoughts, call, result],
      strict(400, 'The `reasoning_content` in the thinking mode must be passed back to the API.', (messages) =>
        messages.some((each) => each['tool_calls'] !== undefined && each['reasoning_content'] === undefined),
      ),
      [{ role: 'user' }, { role: 'assistant', reasoning_content: 'why' }, { role: 'tool' }],
    ],
    [
      'with a blank where the thoughts that led to calls are lost',
      [message('user', 'a'), call, result],
      strict(400, 'The `reasoning_content` in the thinking mode must be passed back to the API.', (messages) =>
        messages.some((each) => each['tool_calls'] !== undefined && !each['reasoning_content']),
      ),
      [{ role: 'user' }, { role: 'assistant', reasoning_content: ' ' }, { role: 'tool' }],
    ],
  ])('is sent again %s', async (_name, input, reply, expected) => {
    upstream.script(reply)
    const answer = await askGateway(gateway, { input, tools: [{ type: 'function', name: 'look' }] }, false)
    expect(answer['output_text']).toBe('Rome')
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[1]!.body['messages']).toMatchObject(expected)
    expect(upstream.requests[1]!.body).not.toHaveProperty('request_forms')
    expect(answer.gateway_metadata).toMatchObject({ params: { refused: expect.stringContaining('Acme does not take it') } })
  })

  it('does not count as a failure of a server that says so with status 500', async () => {
    upstream.script(strict(500, 'system message must be at the beginning', inARow))
    const asked = { input: [message('user', 'a'), message('user', 'b')] }
    await askGateway(gateway, asked, false)
    expect((await askGateway(gateway, asked, false))['output_text']).toBe('Rome')
  })

  it('ends the call where it is refused in every form; the internal form field of callers is ignored', async () => {
    upstream.script(strict(400, 'Conversation roles must alternate user/assistant/user/assistant/...', () => true))
    const response = await gateway.respond({ model: 'acme/small', input: 'a', request_forms: { no_system_role: true } })
    expect(response.status).toBe(400)
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[0]!.body).not.toHaveProperty('request_forms')
  })
})

describe('a request with a field that the upstream names differently or does not know', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    upstream = await startFakeUpstream()
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['k'], options: { reasoning_style: 'effort' } }],
      models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }],
      routing: { sticky: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  it.each<[string, string, object]>([
    [
      'max_tokens',
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { max_completion_tokens: 50 },
    ],
    ['stream_options', 'Unrecognized request argument supplied: stream_options', { max_tokens: 50 }],
    ['reasoning_effort', '"llama3.1:8b" does not support thinking', { max_tokens: 50 }],
  ])('is sent again: %s', async (field, message, expected) => {
    upstream.script((request, response) => {
      if (request.body[field] === undefined) return void picky()(request, response)
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }))
    })
    const answer = await askGateway(gateway, { input: 'Where is it?', max_output_tokens: 50, reasoning: { effort: 'low' } }, true)
    expect(answer['output_text']).toBe('Rome')
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[1]!.body).toMatchObject(expected)
    expect(upstream.requests[1]!.body).not.toHaveProperty(field)
  })
})

/** Clients of Claude set cache breakpoints wherever they send their requests. */
describe('cache breakpoints, where the upstream does not know them', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  it.each<[string, object]>([
    ['openai-chat', { cache_breakpoints: true }],
    ['anthropic-messages', {}],
  ])('are left out: %s', async (dialect, options) => {
    const voice = VENDOR_VOICES.get(dialect)!
    upstream = await startFakeUpstream(({ body }, response) => {
      if (JSON.stringify(body).includes('cache_control')) {
        const message = "Extra inputs are not permitted, field: 'messages[0].cache_control'"
        return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
      }
      response.writeHead(200, { 'content-type': voice.contentType })
      for (const frame of voice.stream({ text: 'Rome' })) response.write(frame)
      response.end()
    })
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect, base_url: upstream.url, api_keys: ['k'], options }],
      models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }],
      routing: { sticky: false, retries: false },
    })
    const content = [{ type: 'input_text', text: 'Where is it?', prompt_cache_breakpoint: { mode: 'explicit' } }]
    const answer = await askGateway(gateway, { input: [{ type: 'message', role: 'user', content }] }, false)
    expect(answer['output_text']).toBe('Rome')
    expect(upstream.requests).toHaveLength(2)
    expect(answer.gateway_metadata).toMatchObject({ params: { refused: expect.stringMatching(/^cache_control: /) } })
  })
})

/** DeepSeek and Kimi reason unless told not to, in this format too, and require their reasoning back; clients of this format omit unsigned reasoning. */
describe('calls without their reasoning, where the upstream requires it', () => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    const voice = VENDOR_VOICES.get('anthropic-messages')!
    upstream = await startFakeUpstream(({ body }, response) => {
      const said = body['messages'] as readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[]
      const bare = said.some(({ content }) => content.some(({ type }) => type === 'tool_use') && content[0]!.type !== 'thinking')
      if (bare) {
        const message = 'The `content[].thinking` in the thinking mode must be passed back to the API.'
        return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
      }
      response.writeHead(200, { 'content-type': voice.contentType })
      for (const frame of voice.stream({ text: 'Rome' })) response.write(frame)
      response.end()
    })
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect: 'anthropic-messages', base_url: upstream.url, api_keys: ['k'] }],
      models: [{ slug: 'acme/small', context_length: 100_000, endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }] }],
      routing: { sticky: false, retries: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  it.each([
    ['with what the client has kept', [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] }], 'why'],
    ['with a blank', [], ' '],
  ])('are sent again %s', async (_name, thoughts, thinking) => {
    const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
    const input = [{ type: 'message', role: 'user', content: 'a' }, ...thoughts, call, { type: 'function_call_output', call_id: 'c1', output: 'sun' }]
    const answer = await askGateway(gateway, { input, tools: [{ type: 'function', name: 'look' }] }, false)
    expect(answer['output_text']).toBe('Rome')
    expect(upstream.requests).toHaveLength(2)
    expect(upstream.requests[1]!.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'thinking', thinking, signature: '' }, { type: 'tool_use' }] },
      { role: 'user' },
    ])
  })
})
