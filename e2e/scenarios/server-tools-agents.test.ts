import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, status, stream, type FakeUpstream, type Reply, type SeenRequest } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { threadTime } from '../../src/testing/thread-time.ts'
import { askGateway, calls, says } from '../../src/testing/tool-script.ts'
import { verifies } from '../requirements.ts'

/** Tools that call models, search tools and models, propose patches, or run in a sandbox. One upstream, scripted per model. */
type Json = Record<string, unknown>
interface ToldMessage {
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[]
}
let upstream: FakeUpstream
let sandbox: Server
let gateway: TestGateway
let scripts: { [model: string]: Reply[] }
const commands: { readonly path: string; readonly body: Json; readonly authorization: string | undefined }[] = []

const MODELS = ['small', 'big', 'other', 'draw-image']

beforeAll(async () => {
  upstream = await startFakeUpstream((request, response) => {
    const script = scripts[request.body['model'] as string] ?? []
    const reply = script.length > 1 ? script.shift() : script[0]
    return (reply ?? status(500, { error: { message: 'not scripted' } }))(request, response)
  })
  sandbox = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Json
      commands.push({ path: request.url ?? '', body, authorization: request.headers.authorization })
      const answers: { [path: string]: unknown } = {
        '/box/shell': { output: [{ stdout: 'hello\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
        '/box/bash': { stdout: 'hi', stderr: 'oops', exit_code: 3 },
        '/box/files': { result: ['notes.txt'] },
      }
      response.end(JSON.stringify(answers[request.url ?? ''] ?? {}))
    })
  })
  sandbox.listen(0, '127.0.0.1')
  await once(sandbox, 'listening')
  gateway = await startGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['upstream-key'] }],
    models: MODELS.map((name) => ({
      slug: `acme/${name}`,
      context_length: 64_000,
      endpoints: [{ provider: 'acme', upstream_model: name, pricing: { input: 1, output: 2 } }],
    })),
    routing: { sticky: false, cooldown: false },
    tools: { sandbox: { url: `http://127.0.0.1:${(sandbox.address() as AddressInfo).port}/box`, api_key: 'box-key' } },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  sandbox.close()
})
let from = 0
beforeEach(() => {
  scripts = {}
  from = upstream.requests.length
})
const requestsTo = (model: string): readonly SeenRequest[] => upstream.requests.slice(from).filter(({ body }) => body['model'] === model)
const ask = (body: Json, streamed: boolean) => askGateway(gateway, body, streamed)
const messagesOf = (request: SeenRequest) => request.body['messages'] as { role: string; content: string }[]

describe.each([true, false])('agents (stream: %s)', (streamed) => {
  it('asks an advisor, whose tokens are paid for but do not count as the answer’s', async () => {
    scripts = { small: [calls(['advisor', { prompt: 'Which way?' }]), says('Left.')], big: [says('Go left.')] }
    const answer = await ask({ tools: [{ type: 'gateway:advisor', parameters: { model: 'acme/big', instructions: 'Be decisive.' } }] }, streamed)
    expect(answer.output[0]).toMatchObject({
      type: 'gateway:advisor',
      status: 'completed',
      model: 'acme/big',
      prompt: 'Which way?',
      advice: 'Go left.',
      instance_name: 'advisor_0',
    })
    expect(messagesOf(requestsTo('big')[0]!)).toEqual([
      { role: 'system', content: 'Be decisive.' },
      { role: 'user', content: 'Which way?' },
    ])
    const turn = 11e-6 + 14e-6
    expect(answer['usage']).toMatchObject({ input_tokens: 22, cost: expect.closeTo(3 * turn, 9) })
    expect(answer.gateway_metadata).toMatchObject({ pipeline: [{ type: 'server_tools', cost_usd: expect.closeTo(turn, 9) }] })
  })

  it('shows advice as it comes, whole or broken off, in a text that is opened and closed', async () => {
    const tools = [{ type: 'gateway:advisor', parameters: { model: 'acme/big', stream: true } }]
    const asks = calls(['advisor', { prompt: 'Which way?' }])
    scripts = { small: [asks, says('Left.')], big: [says('Go left.')] }
    expect((await ask({ tools }, streamed)).output).toMatchObject([{ advice: 'Go left.', status: 'completed' }, { type: 'message' }])
    scripts = { small: [asks, says('Alone then.')], big: [stream([chatEvents.role(), chatEvents.text('Go ')], { then: 'reset' })] }
    expect((await ask({ tools }, streamed)).output).toMatchObject([{ status: 'failed' }, { type: 'message' }])
  })

  it('offers several advisors by name, each with its own memory, and forwards the conversation when asked', async () => {
    const advisors = [
      { type: 'gateway:advisor', parameters: { name: 'Reviewer', model: 'acme/big' } },
      { type: 'gateway:advisor', parameters: { name: 'Architect', model: 'acme/other', forward_transcript: true } },
    ]
    scripts = {
      small: [calls(['advisor_reviewer', { prompt: 'And now?' }], ['advisor_architect', {}]), says('Done.')],
      big: [says('Fix it.')],
      other: [says('Scale it.')],
    }
    const before = {
      type: 'gateway:advisor',
      id: 'st_1',
      status: 'completed',
      instance_name: 'Reviewer',
      prompt: 'First?',
      advice: 'Yes.',
      model: 'acme/big',
    }
    const answer = await ask(
      { input: [{ role: 'user', content: 'Build it.' }, before, { role: 'user', content: 'Go on.' }], tools: advisors },
      streamed,
    )
    expect(answer.output.slice(0, 2)).toMatchObject([
      { instance_name: 'Reviewer', advice: 'Fix it.' },
      { instance_name: 'Architect', advice: 'Scale it.' },
    ])
    expect(messagesOf(requestsTo('big')[0]!).map(({ content }) => content)).toEqual(['First?', 'Yes.', 'And now?'])
    expect(JSON.stringify(messagesOf(requestsTo('other')[0]!))).toContain('Build it.')
    const [, made] = requestsTo('small')[0]!.body['messages'] as { tool_calls: { function: { name: string } }[] }[]
    expect(made!.tool_calls[0]!.function.name).toBe('advisor_reviewer')
  })

  it('continues without advice when the advisor fails', async () => {
    scripts = { small: [calls(['advisor', { prompt: 'x' }]), says('Alone then.')], big: [status(400, { error: { message: 'no such parameter' } })] }
    const answer = await ask({ tools: [{ type: 'gateway:advisor', parameters: { model: 'acme/big' } }] }, streamed)
    expect(answer.output).toMatchObject([
      { type: 'gateway:advisor', status: 'failed', error: expect.stringContaining('advisor failed') },
      { type: 'message' },
    ])
  })

  it('treats a refusal of an agent, or reasoning alone, as no answer', async () => {
    const end = (reason: string): object[] => [chatEvents.finish(reason), chatEvents.usage()]
    const refuses = stream([
      { ...chatEvents.role(), choices: [{ index: 0, delta: { refusal: 'I will not.' }, finish_reason: null }] },
      ...end('stop'),
    ])
    const muses = stream([chatEvents.reasoning('Well'), ...end('length')])
    const asked = calls(['advisor', { prompt: 'x' }], ['subagent', { task_name: 't', task_description: 'd' }], ['fusion', { prompt: 'x' }])
    scripts = { small: [asked, says('Alone then.')], big: [refuses], other: [muses] }
    const tools = [
      { type: 'gateway:advisor', parameters: { model: 'acme/big' } },
      { type: 'gateway:subagent', parameters: { model: 'acme/other' } },
      { type: 'gateway:fusion', parameters: { analysis_models: ['acme/big'], tools: [] } },
    ]
    const answer = await ask({ tools }, streamed)
    const refused = expect.stringContaining('the model refused: I will not.')
    expect(answer.output).toMatchObject([
      { type: 'gateway:advisor', status: 'failed', error: refused },
      { type: 'gateway:subagent', status: 'failed', error: expect.stringContaining('used up its tokens') },
      { type: 'gateway:fusion', failed_models: [{ model: 'acme/big', error: refused }] },
      { type: 'message' },
    ])
    expect(answer.output[0]).not.toHaveProperty('advice')
    expect(answer['usage']).toMatchObject({ cost: expect.closeTo(5 * (11e-6 + 14e-6), 9) })
  })

  it('tells the model when what an agent said is cut off', async () => {
    const breaksOff = stream([chatEvents.role(), chatEvents.text('First you'), chatEvents.finish('length'), chatEvents.usage()])
    const asked = calls(['advisor', { prompt: 'x' }], ['subagent', { task_name: 't', task_description: 'd' }])
    scripts = { small: [asked, says('So far.')], big: [breaksOff], other: [says('All of it.')] }
    const tools = ['big', 'other'].map((name, i) => ({ type: `gateway:${['advisor', 'subagent'][i]}`, parameters: { model: `acme/${name}` } }))
    const answer = await ask({ tools }, streamed)
    expect(answer.output).toMatchObject([{ status: 'completed', advice: 'First you' }, { status: 'completed', outcome: 'All of it.' }, {}])
    const [advice, outcome] = messagesOf(requestsTo('small')[1]!).filter(({ role }) => role === 'tool')
    expect(JSON.parse(advice!.content)).toMatchObject({ advice: 'First you', note: expect.stringContaining('cut off') })
    expect(JSON.parse(outcome!.content)).not.toHaveProperty('note')
  })

  it(verifies('H5', 'hands tasks to a subagent with tools of its own, but no agents'), async () => {
    scripts = {
      small: [calls(['subagent', { task_name: 'count', task_description: 'Count the hours.' }]), says('Ten.')],
      big: [calls(['datetime', {}]), says('Ten hours.')],
    }
    const parameters = {
      model: 'acme/big',
      max_tool_calls: 3,
      tools: [{ type: 'gateway:datetime' }, { type: 'gateway:advisor' }, { type: 'gateway:fusion' }],
    }
    const answer = await ask({ tools: [{ type: 'gateway:subagent', parameters }] }, streamed)
    expect(answer.output[0]).toMatchObject({
      type: 'gateway:subagent',
      status: 'completed',
      call_id: 'call_subagent_0',
      task_name: 'count',
      outcome: 'Ten hours.',
      model: 'acme/big',
    })
    const [first, second] = requestsTo('big')
    expect((first!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual(['datetime'])
    expect(messagesOf(second!).at(-1)!.role).toBe('tool')
  })

  it('asks a panel and an analyst', async () => {
    const analysis = {
      consensus: ['It is round.'],
      contradictions: [],
      partial_coverage: [],
      unique_insights: [{ model: 'acme/big', insight: 'And blue.' }],
      blind_spots: [],
    }
    scripts = {
      small: [calls(['fusion', { prompt: 'What is the Earth?' }]), says('```json\n', JSON.stringify(analysis), '\n```'), says('Round and blue.')],
      big: [says('Round ', 'and blue.')],
      other: [status(429, { error: { message: 'slow down' } })],
    }
    const answer = await ask(
      { tools: [{ type: 'gateway:fusion', parameters: { analysis_models: ['acme/big', 'acme/other'], tools: [] } }] },
      streamed,
    )
    expect(answer.output[0]).toMatchObject({
      type: 'gateway:fusion',
      status: 'completed',
      analysis,
      responses: [{ model: 'acme/big', content: 'Round and blue.' }],
      failed_models: [{ model: 'acme/other', status_code: 429 }],
    })
  })

  it('pays for a model that made no picture', async () => {
    scripts = { small: [calls(['image_generation', { prompt: 'a cat' }]), says('Sorry.')], 'draw-image': [says('I would rather not.')] }
    const answer = await ask({ tools: [{ type: 'gateway:image_generation', parameters: { model: 'acme/draw-image' } }] }, streamed)
    expect(answer.output[0]).toMatchObject({ type: 'gateway:image_generation', error: expect.stringContaining('made no image') })
    expect(answer['usage']).toMatchObject({ cost: expect.closeTo(3 * (11e-6 + 14e-6), 9) })
  })

  it('pays for the turns of a subagent that failed in a later one', async () => {
    scripts = {
      small: [calls(['subagent', { task_name: 'count', task_description: 'Count the hours.' }]), says('Alone then.')],
      big: [calls(['datetime', {}]), status(400, { error: { message: 'no such parameter' } })],
    }
    const parameters = { model: 'acme/big', tools: [{ type: 'gateway:datetime' }] }
    const answer = await ask({ tools: [{ type: 'gateway:subagent', parameters }] }, streamed)
    expect(answer.output[0]).toMatchObject({ type: 'gateway:subagent', status: 'failed' })
    expect(answer['usage']).toMatchObject({ cost: expect.closeTo(3 * (11e-6 + 14e-6), 9) })
  })

  it('says why no model of a panel answered', async () => {
    scripts = { small: [calls(['fusion', { prompt: 'x' }]), says('Sorry.')], other: [status(429, { error: { message: 'slow down' } })] }
    const answer = await ask({ tools: [{ type: 'gateway:fusion', parameters: { analysis_models: ['acme/other'], tools: [] } }] }, streamed)
    expect(answer.output[0]).toMatchObject({ type: 'gateway:fusion', status: 'incomplete', failure_reason: 'rate_limited' })
  })

  const draws = (url: string): Reply =>
    stream([
      {
        id: 'c',
        object: 'chat.completion.chunk',
        model: 'draw-image',
        choices: [{ index: 0, delta: { role: 'assistant', images: [{ type: 'image_url', image_url: { url } }] } }],
      },
      chatEvents.finish(),
      chatEvents.usage(),
      chatEvents.done(),
    ])

  it.each(['gateway:image_generation', 'image_generation'])('makes an image by %s', async (type) => {
    const picture = 'iVBORw0KGgo='
    scripts = { small: [calls(['image_generation', { prompt: 'a cat' }]), says('Here.')], 'draw-image': [draws(`data:image/png;base64,${picture}`)] }
    const answer = await ask({ tools: [{ type }] }, streamed)
    expect(answer.output[0]).toMatchObject({ type: type.includes(':') ? type : 'image_generation_call', status: 'completed', result: picture })
    expect(answer.output[0]).not.toHaveProperty('output_format')
    expect(JSON.stringify(requestsTo('small')[1]!.body)).not.toContain(picture)
  })

  it('passes on invalid image data, without spending time on it', async () => {
    const address = `data:image/${'a'.repeat(40_000)}`
    scripts = { small: [calls(['image_generation', { prompt: 'a cat' }]), says('Here.')], 'draw-image': [draws(address)] }
    const started = threadTime()
    const answer = await ask({ tools: [{ type: 'image_generation' }] }, streamed)
    expect(answer.output[0]).toMatchObject({ status: 'completed', result: address })
    expect(threadTime() - started).toBeLessThan(1_000)
  })
  it.each(['gateway:image_generation', 'image_generation'])('gives the media type of an image by %s', async (type) => {
    scripts = { small: [calls(['image_generation', { prompt: 'a cat' }]), says('Here.')], 'draw-image': [draws('data:image/jpeg;base64,/9j/4A==')] }
    const answer = await ask({ tools: [{ type }] }, streamed)
    expect(answer.output[0]).toMatchObject({ result: '/9j/4A==', output_format: 'jpeg' })
  })

  it('loads deferred functions when a search finds them', async () => {
    const deferred = (name: string, description: string) => ({
      type: 'function',
      name,
      description,
      parameters: { type: 'object', properties: {} },
      defer_loading: true,
    })
    scripts = {
      small: [calls(['tool_search', { query: 'weath(er' }]), calls(['tool_search', { query: 'WEATHER|rain' }]), calls(['get_weather', {}])],
    }
    const answer = await ask(
      { tools: [{ type: 'gateway:tool_search' }, deferred('get_weather', 'Weather of a city'), deferred('send_mail', 'Sends mail')] },
      streamed,
    )
    expect(answer.output).toMatchObject([
      { type: 'gateway:tool_search', status: 'incomplete' },
      { type: 'gateway:tool_search', status: 'completed', query: 'WEATHER|rain' },
      { type: 'function_call', name: 'get_weather' },
    ])
    const names = requestsTo('small').map(({ body }) => (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name))
    expect(names).toEqual([['tool_search'], ['tool_search'], ['tool_search', 'get_weather']])
  })

  it.each([
    ['what is callable at once', ['plain'], ['get_weather', 'get_wind']],
    ['what may be found, too', ['plain', 'get_wind'], ['get_wind']],
  ])('lets a search find functions beside allowed tools that name %s', async (_name, named, found) => {
    const plain = (name: string): Json => ({ type: 'function', name, parameters: { type: 'object', properties: {} } })
    const tools = [{ type: 'gateway:tool_search' }, plain('plain'), ...['get_weather', 'get_wind'].map((n) => ({ ...plain(n), defer_loading: true }))]
    const allowed = [{ type: 'gateway:tool_search' }, ...named.map((name) => ({ type: 'function', name }))]
    scripts = { small: [calls(['tool_search', { query: 'get_' }]), says('Found.')] }
    await ask({ tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: allowed } }, streamed)
    const names = requestsTo('small').map(({ body }) => (body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name))
    expect(names).toEqual([
      ['tool_search', 'plain'],
      ['tool_search', 'plain', ...found],
    ])
    const [told] = messagesOf(requestsTo('small')[1]!).filter(({ role }) => role === 'tool')
    expect((JSON.parse(told!.content) as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(found)
  })

  it('searches the models this gateway serves', async () => {
    scripts = { small: [calls(['experimental__search_models', { query: 'draw', output_modalities: ['image'] }]), says('ok')] }
    const answer = await ask({ tools: [{ type: 'gateway:experimental__search_models' }] }, streamed)
    expect(answer.output[0]).toMatchObject({ type: 'gateway:experimental__search_models', status: 'completed', query: 'draw' })
    expect(JSON.parse(messagesOf(requestsTo('small')[1]!).at(-1)!.content)).toMatchObject({
      models: [{ id: 'acme/draw-image' }],
      total_results: 1,
      showing: 1,
    })
    // Items contain the query and not the results; the one must not pass for the other.
    await ask({ input: [{ role: 'user', content: 'hi' }, ...answer.output, { role: 'user', content: 'y' }] }, streamed)
    const [, call, result] = messagesOf(requestsTo('small').at(-1)!) as unknown as ToldMessage[]
    expect(JSON.parse(call!.tool_calls![0]!.function.arguments)).toEqual({ query: 'draw', output_modalities: ['image'] })
    expect(JSON.parse(result!.content)).toEqual({ note: expect.stringMatching(/^Searched in an earlier turn/) })
  })

  it.each(['gateway:apply_patch', 'apply_patch'])('passes valid patches of %s to the caller and invalid ones back to the model', async (type) => {
    const bad = { type: 'create_file', path: 'a.txt', diff: 'no plus' }
    const good = { type: 'update_file', path: 'a.txt', diff: '@@\n-old\n+new\n' }
    scripts = { small: [calls(['apply_patch', bad]), calls(['apply_patch', good])] }
    const answer = await ask({ tools: [{ type }] }, streamed)
    expect(answer.output).toMatchObject([{ type: 'apply_patch_call', status: 'completed', call_id: 'call_apply_patch_0', operation: good }])
    expect(messagesOf(requestsTo('small')[1]!).at(-1)!.content).toContain('must begin with')
    scripts = { small: [says('Applied.')] }
    await ask(
      {
        input: [
          { role: 'user', content: 'x' },
          ...answer.output,
          { type: 'apply_patch_call_output', call_id: 'call_apply_patch_0', status: 'completed', output: 'done' },
        ],
        tools: [{ type }],
      },
      streamed,
    )
    expect(messagesOf(requestsTo('small').at(-1)!).slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'apply_patch' } }] },
      { role: 'tool', content: expect.stringContaining('done') },
    ])
  })

  it.each([
    ['shell', 'shell', 'shell'],
    ['apply_patch', 'apply_patch', 'apply_patch'],
    ['apply_patch', 'openrouter:apply_patch', 'apply_patch'],
  ])('forces gateway:%s where %s is chosen', async (name, type, forced) => {
    scripts = { small: [says('ok')] }
    const tools = [{ type: `gateway:${name}` }, { type: 'gateway:datetime' }]
    await ask({ tools, tool_choice: { type } }, streamed)
    await ask({ tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type }] } }, streamed)
    const chosen = requestsTo('small').map(({ body }) => JSON.stringify(body['tool_choice']))
    expect(chosen).toEqual([expect.stringContaining(`"name":"${forced}"`), expect.anything()])
  })

  it('runs commands and files in the sandbox of the operator', async () => {
    scripts = {
      small: [calls(['shell', { commands: ['echo hello'] }], ['bash', { command: 'echo hi' }], ['files', { operation: 'list' }]), says('ok')],
    }
    commands.length = 0
    const answer = await ask({ tools: ['shell', 'bash', 'files'].map((name) => ({ type: `gateway:${name}` })) }, streamed)
    expect(answer.output).toMatchObject([
      {
        type: 'gateway:shell',
        status: 'completed',
        action: { commands: ['echo hello'] },
        output: [{ stdout: 'hello\n', outcome: { type: 'exit', exit_code: 0 } }],
      },
      { type: 'gateway:bash', status: 'completed', command: 'echo hi', stdout: 'hi', stderr: 'oops', exitCode: 3 },
      { type: 'gateway:files', status: 'completed', operation: 'list', result: '["notes.txt"]' },
      { type: 'message' },
    ])
    expect(commands.map(({ path }) => path).toSorted()).toEqual(['/box/bash', '/box/files', '/box/shell'])
    for (const { body, authorization } of commands) {
      expect(authorization).toBe('Bearer box-key')
      expect(body['workspace_id']).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it('repeats calls and results of an earlier answer byte by byte, so that the prompt stays cached', async () => {
    const tools = ['shell', 'bash'].map((name) => ({ type: `gateway:${name}` }))
    const written: [string, string][] = [
      ['shell', '{ "commands": ["echo hello"] , "why": "to see" }'],
      ['bash', '{"command":"echo \\u00e9" }'],
    ]
    scripts = { small: [calls(...written), says('ok')] }
    const { output } = await ask({ tools }, streamed)
    const inLoop = messagesOf(requestsTo('small').at(-1)!).slice(1)
    await ask({ input: [{ role: 'user', content: 'hi' }, ...output, { role: 'user', content: 'y' }], tools }, streamed)
    const later = messagesOf(requestsTo('small').at(-1)!) as unknown as ToldMessage[]
    const told = (messages: readonly ToldMessage[]): unknown[] =>
      messages.flatMap(({ role, content, tool_calls: made = [] }) => [
        ...made.map((call) => call.function.arguments),
        ...(role === 'tool' ? [content] : []),
      ])
    expect(told(later).toSorted()).toEqual(told(inLoop as unknown as ToldMessage[]).toSorted())
    expect(told(later)).toEqual(expect.arrayContaining(written.map(([, args]) => args)))
  })

  it.each([
    ['was read', { operation: 'read', filename: 'notes.txt', result: 'buy milk' }, { result: 'buy milk' }],
    ['could not be read', { operation: 'read', filename: 'notes.txt', error: 'no such file' }, { error: 'no such file' }],
  ])('remembers what %s in an earlier answer', async (_what, fields, output) => {
    scripts = { small: [says('ok')] }
    const item = { type: 'gateway:files', id: 'f_1', call_id: 'call_1', status: 'completed', ...fields }
    await ask({ input: [{ role: 'user', content: 'x' }, item, { role: 'user', content: 'y' }], tools: [{ type: 'gateway:files' }] }, streamed)
    const [call, result] = messagesOf(requestsTo('small').at(-1)!).slice(1, 3)
    const [{ function: called }] = (call as unknown as { readonly tool_calls: readonly [{ readonly function: Json }] }).tool_calls
    expect(JSON.parse(String(called['arguments']))).toEqual({ operation: 'read', filename: 'notes.txt' })
    expect(JSON.parse(result!.content)).toEqual(output)
  })
})

describe('what is refused before anything is sent', () => {
  const defer = { type: 'function', name: 'f', parameters: {}, defer_loading: true }
  it.each([
    [{ tools: [{ type: 'gateway:advisor' }, { type: 'gateway:advisor' }] }, 'Only one advisor'],
    [
      {
        tools: [
          { type: 'gateway:advisor', parameters: { name: 'a' } },
          { type: 'gateway:advisor', parameters: { name: ' a ' } },
        ],
      },
      'names must differ',
    ],
    [
      { tools: [{ type: 'gateway:subagent' }, { type: 'openrouter:subagent', parameters: { model: 'acme/big' } }] },
      'Only one subagent may be without a name',
    ],
    [
      {
        tools: [
          { type: 'gateway:subagent', parameters: { name: 'a' } },
          { type: 'gateway:subagent', parameters: { name: ' a ' } },
        ],
      },
      'Two subagents are called',
    ],
    [{ tools: [{ type: 'gateway:subagent', parameters: { tools: [{ type: 'gateway:subagent' }] } }] }, 'cannot have subagents'],
    [{ tools: [{ type: 'gateway:subagent', parameters: { tools: [{ type: 'gateway:mcp' }] } }] }, 'among the tools of the request'],
    [
      { tools: [{ type: 'gateway:subagent', parameters: { tools: [{ type: 'gateway:sing' }] } }] },
      'tools[0].parameters.tools[0].type: there is no server tool',
    ],
    [{ tools: [{ type: 'gateway:fusion', parameters: { tools: [{ type: 'function', name: 'f' }] } }] }, 'to answer'],
    [{ tools: [{ type: 'gateway:subagent', parameters: { inherited_function_names: ['f'] } }] }, 'names \\"f\\"'],
    [{ tools: [{ type: 'gateway:tool_search' }, defer], tool_choice: 'required' }, 'tool_choice'],
  ])('%j', async (body, words) => {
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', ...body })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain(words)
    expect(upstream.requests.slice(from)).toHaveLength(0)
  })
})

describe('a caller who leaves', () => {
  const slow: Reply = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
  }
  const phases: readonly (readonly [string, () => { readonly tools: readonly Json[]; readonly hangsAt: string }])[] = [
    [
      'while a tool asks a model',
      () => {
        scripts = { small: [calls(['advisor', { prompt: 'x' }])], big: [slow] }
        return { tools: [{ type: 'gateway:advisor', parameters: { model: 'acme/big' } }], hangsAt: 'big' }
      },
    ],
    [
      'while the second turn is awaited',
      () => {
        scripts = { small: [calls(['datetime', {}]), slow] }
        return { tools: [{ type: 'gateway:datetime' }], hangsAt: 'small' }
      },
    ],
    [
      'while a panel thinks',
      () => {
        scripts = { small: [calls(['fusion', { prompt: 'x' }])], big: [slow], other: [slow] }
        return { tools: [{ type: 'gateway:fusion', parameters: { analysis_models: ['acme/big', 'acme/other'], tools: [] } }], hangsAt: 'other' }
      },
    ],
    [
      'while the first turn streams',
      () => {
        scripts = { small: [stream([chatEvents.role(), chatEvents.text('hm')], { then: 'hang' })] }
        return { tools: [{ type: 'gateway:datetime' }], hangsAt: 'small' }
      },
    ],
  ]
  const turn = 11e-6 + 14e-6
  it.each([
    // Nobody has counted the tokens of "Well, ": five of the prompt and two of the answer by the estimate.
    ['by the estimate', [], 5e-6 + 2 * 2e-6],
    ['as their provider had counted it', [chatEvents.usage()], turn],
  ])(
    verifies('D1', 'while a panel runs: the cost of models that have answered and of those still answering is on record, %s'),
    async (_how, counts, left) => {
      scripts = {
        small: [calls(['fusion', { prompt: 'x' }])],
        big: [says('Round.')],
        other: [stream([chatEvents.role(), chatEvents.text('Well, '), ...counts], { then: 'hang' })],
      }
      const gone = new AbortController()
      const tools = [{ type: 'gateway:fusion', parameters: { analysis_models: ['acme/big', 'acme/other'], tools: [] } }]
      const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools, stream: true }, { signal: gone.signal })
      const reading = response.text()
      const until = performance.now() + 5_000
      while (requestsTo('other').length === 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, 50))
      gone.abort()
      await expect(reading).rejects.toThrow()
      while (gateway.app.calls.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
      const id = response.headers.get('x-generation-id')
      let record: { data?: Json } = {}
      while (record.data === undefined && performance.now() < until) {
        record = (await (await gateway.api('GET', `/api/v1/generation?id=${id}`)).json()) as { data?: Json }
      }
      expect(record.data!['cancelled']).toBe(true)
      expect(record.data!['total_cost']).toBeCloseTo(2 * turn + left, 9)
    },
  )

  it.each(phases)(verifies('D1', '%s: the upstream request is aborted at once'), async (_name, prepare) => {
    const { tools, hangsAt } = prepare()
    const gone = new AbortController()
    const turns = hangsAt === 'small' && tools[0]!['type'] === 'gateway:datetime' && scripts['small']!.length > 1 ? 2 : 1
    const pending = gateway
      .respond({ model: 'acme/small', input: 'hi', tools, stream: true }, { signal: gone.signal })
      .then((response) => response.text())
    const until = performance.now() + 5_000
    while (requestsTo(hangsAt).length < turns && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 30))
    const left = performance.now()
    gone.abort()
    await expect(pending).rejects.toThrow()
    while (requestsTo(hangsAt).at(-1)!.abortedAt === undefined && performance.now() < left + 2_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    expect(requestsTo(hangsAt).at(-1)!.abortedAt! - left).toBeLessThan(500)
    const still = gateway.app.calls
    while (still.size > 0 && performance.now() < left + 2_000) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(still.size).toBe(0)
  })
})
