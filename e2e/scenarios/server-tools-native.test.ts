import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { contractCheck } from '../../src/testing/contract.ts'
import { startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** If every endpoint of a model has its own search, `auto` leaves searching to them, and the caller still gets what was requested. */
let upstream: FakeUpstream
let gateway: TestGateway

const search = { id: 'ws_up', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'moon' } }
const message = {
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Far.', annotations: [], logprobs: [] }],
}
const usage = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 7,
}
const resource = { id: 'resp_up', object: 'response', created_at: 1, model: 'm', output: [search, message], status: 'completed', usage }
const events = [
  { type: 'response.created', sequence_number: 0, response: { ...resource, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...search, status: 'in_progress' } },
  { type: 'response.web_search_call.searching', sequence_number: 2, output_index: 0, item_id: 'ws_up' },
  { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: search },
  { type: 'response.output_item.added', sequence_number: 4, output_index: 1, item: { ...message, status: 'in_progress', content: [] } },
  {
    type: 'response.content_part.added',
    sequence_number: 5,
    output_index: 1,
    item_id: 'msg_up',
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  { type: 'response.output_text.delta', sequence_number: 6, output_index: 1, item_id: 'msg_up', content_index: 0, delta: 'Far.', logprobs: [] },
  { type: 'response.output_text.done', sequence_number: 7, output_index: 1, item_id: 'msg_up', content_index: 0, text: 'Far.', logprobs: [] },
  { type: 'response.output_item.done', sequence_number: 8, output_index: 1, item: message },
  { type: 'response.completed', sequence_number: 9, response: resource },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)

beforeAll(async () => {
  upstream = await startFakeUpstream(stream(events))
  const provider = (slug: string, options: object = {}) => ({ slug, dialect: 'openai-responses', base_url: upstream.url, api_keys: ['k'], options })
  const model = (slug: string, ...providers: string[]) => ({
    slug,
    context_length: 64_000,
    endpoints: [
      ...providers.map((name) => ({ provider: name, upstream_model: 'm' })),
      { provider: providers[0]!, upstream_model: 'm', variant: 'free' },
    ],
  })
  gateway = await startGateway({
    providers: [provider('able'), provider('unable', { builtin_tools: false })],
    models: [model('acme/able', 'able'), model('acme/unable', 'unable'), model('acme/mixed', 'able', 'unable')],
    routing: { sticky: false },
    tools: { web_search: { engines: { searxng: { base_url: upstream.url } } } },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const sentTools = (): unknown => upstream.requests.at(-1)!.body['tools']
async function ask(model: string, tool: object, input: unknown = 'hi') {
  return checkWire(await (await gateway.respond({ model, input, tools: [tool], stream: true })).text())
}

describe('web_search', () => {
  it('treats a location of null as absent, as a tool and as a plugin', async () => {
    await ask('acme/able', { type: 'gateway:web_search', parameters: { user_location: null } })
    expect(sentTools()).toEqual([{ type: 'web_search' }])
    const plugin = await gateway.respond({ model: 'acme/able', input: 'hi', plugins: [{ id: 'web', user_location: null }] })
    expect([plugin.status, sentTools()]).toEqual([200, [{ type: 'web_search' }]])
  })

  it.each(['gateway:web_search', 'openrouter:web_search'])('goes to the provider as its own tool and comes back as %s', async (type) => {
    const { output, events: seen } = await ask('acme/able', { type, parameters: { allowed_domains: ['a.test'], search_context_size: 'low' } })
    expect(sentTools()).toEqual([{ type: 'web_search', filters: { allowed_domains: ['a.test'] }, search_context_size: 'low' }])
    expect(output).toMatchObject([{ type, status: 'completed', action: { type: 'search', query: 'moon' } }, { type: 'message' }])
    expect(seen.map(({ type: name }) => name)).not.toContain('response.web_search_call.searching')
    await ask('acme/able', { type }, [{ role: 'user', content: 'hi' }, ...output, { role: 'user', content: 'and?' }])
    expect(upstream.requests.at(-1)!.body['input']).toEqual(expect.arrayContaining([expect.objectContaining({ type: 'web_search_call' })]))
  })

  it.each(['gateway:web_search', 'web_search'])('as %s may cite a feed of the vendor, and the conversation continues', async (type) => {
    const sources = [
      { type: 'url', url: 'https://a.example' },
      { type: 'api', name: 'a-weather' },
    ]
    upstream.script(stream(events.map((event) => event.replaceAll('"query":"moon"', `"query":"moon","sources":${JSON.stringify(sources)}`))))
    const { output } = await ask('acme/able', { type })
    upstream.script(stream(events))
    expect(output[0]).toMatchObject({ action: { sources: type === 'web_search' ? sources : sources.slice(0, 1) } })
    if (type !== 'web_search') contractCheck('OutputWebSearchServerToolItem')?.(output[0])
    const { terminal } = await ask('acme/able', { type }, [{ role: 'user', content: 'hi' }, ...output, { role: 'user', content: 'and?' }])
    expect(terminal.type).toBe('response.completed')
  })

  it('sends domains in the vendor’s notation, however the caller writes them', async () => {
    const [included, excluded] = [['example.com', '*.substack.com'], ['https://reddit.com/r/all']]
    const filters = { allowed_domains: ['example.com', 'substack.com'], blocked_domains: ['reddit.com/r/all'] }
    await ask('acme/able', { type: 'gateway:web_search', parameters: { allowed_domains: included, excluded_domains: excluded } })
    expect(sentTools()).toEqual([{ type: 'web_search', filters }])
    const plugin = { id: 'web', include_domains: included, exclude_domains: excluded }
    await (await gateway.respond({ model: 'acme/able', input: 'hi', plugins: [plugin] })).text()
    expect(sentTools()).toEqual([{ type: 'web_search', filters }])
  })

  it('can be forced under either name', async () => {
    await (
      await gateway.respond({ model: 'acme/able', input: 'hi', tools: [{ type: 'gateway:web_search' }], tool_choice: { type: 'gateway:web_search' } })
    ).text()
    expect(upstream.requests.at(-1)!.body['tool_choice']).toEqual({ type: 'web_search' })
  })

  it('stays untouched in its native spelling, events included', async () => {
    const { output, events: seen } = await ask('acme/able', { type: 'web_search', search_context_size: 'low', external_web_access: false })
    expect(sentTools()).toEqual([{ type: 'web_search', search_context_size: 'low', external_web_access: false }])
    expect(output[0]).toMatchObject({ type: 'web_search_call' })
    expect(seen.map(({ type }) => type)).toContain('response.web_search_call.searching')
  })

  it('accepts all fields of the contract, and sends those that the vendor understands', async () => {
    const filters = { excluded_domains: ['a.test'] }
    await ask('acme/able', { type: 'web_search', engine: 'auto', max_results: 3, max_uses: 2, filters })
    expect(sentTools()).toEqual([{ type: 'web_search', filters: { blocked_domains: ['a.test'] } }])
  })

  it('is left to the provider for a model name with several variants', async () => {
    await ask('acme/able:nitro:free', { type: 'gateway:web_search' })
    expect(sentTools()).toEqual([{ type: 'web_search' }])
  })

  it.each([
    ['acme/able', { type: 'gateway:web_search', parameters: { max_uses: 1 } }],
    ['acme/able', { type: 'gateway:web_search', parameters: { max_total_results: 10 } }],
    ['acme/unable', { type: 'gateway:web_search' }],
    ['acme/mixed', { type: 'gateway:web_search' }],
    ['acme/unable', { type: 'web_search' }],
  ])('of %s as %j is a function for the model', async (model, tool) => {
    await ask(model, tool)
    expect(sentTools()).toMatchObject([{ type: 'function', name: 'web_search' }])
  })
})

describe('image_generation', () => {
  const set = { size: '1024x1024', quality: 'high' }

  it('is the provider’s own tool, with the settings that tool has', async () => {
    await ask('acme/able', { type: 'gateway:image_generation', parameters: set })
    expect(sentTools()).toEqual([{ type: 'image_generation', ...set }])
    await ask('acme/able', { type: 'gateway:image_generation', parameters: { ...set, aspect_ratio: '16:9' } })
    expect(sentTools()).toEqual([{ type: 'image_generation', ...set }])
  })

  it('is the provider’s own tool, too, with an image model that only the provider has', async () => {
    const own = { model: 'gpt-image-2.6-flare', action: 'edit', complexity: 'high' }
    for (const tool of [
      { type: 'image_generation', ...own },
      { type: 'gateway:image_generation', parameters: own },
    ]) {
      await ask('acme/able', tool)
      expect(sentTools()).toEqual([{ type: 'image_generation', ...own }])
    }
    // Nobody else has that model, so the tool is left out rather than offered and then failing.
    await ask('acme/unable', { type: 'image_generation', ...own })
    expect(sentTools()).toBeUndefined()
    await ask('acme/able', { type: 'image_generation', model: 'acme/draw-image' })
    expect(sentTools()).toMatchObject([{ type: 'function', name: 'image_generation' }])
  })

  it('is a function for the model if a setting is known only to an image model, and there is one', async () => {
    const drawing = await startGateway({
      providers: [{ slug: 'able', dialect: 'openai-responses', base_url: upstream.url, api_keys: ['k'] }],
      models: [
        { slug: 'acme/able', context_length: 64_000, endpoints: [{ provider: 'able', upstream_model: 'm' }] },
        { slug: 'acme/draw-image', context_length: 64_000, endpoints: [{ provider: 'able', upstream_model: 'draw-image' }] },
      ],
    })
    try {
      for (const [parameters, type] of [
        [set, 'image_generation'],
        [{ aspect_ratio: '16:9' }, 'function'],
      ] as const) {
        const tools = [{ type: 'gateway:image_generation', parameters }]
        await (await drawing.respond({ model: 'acme/able', input: 'hi', tools })).text()
        expect(sentTools()).toMatchObject([{ type }])
      }
    } finally {
      await drawing.close()
    }
  })
})

it('leaves apply_patch to a provider that has it', async () => {
  await ask('acme/able', { type: 'gateway:apply_patch' })
  expect(sentTools()).toEqual([{ type: 'apply_patch' }])
  await ask('acme/able', { type: 'gateway:apply_patch', parameters: { engine: 'gateway' } })
  expect(sentTools()).toMatchObject([{ type: 'function', name: 'apply_patch' }])
  const choice = { tool_choice: { type: 'apply_patch' } }
  const force = async (model: string) => (await gateway.respond({ model, input: 'hi', tools: [{ type: 'apply_patch' }], ...choice })).text()
  await force('acme/able')
  expect(upstream.requests.at(-1)!.body).toMatchObject({ tools: [{ type: 'apply_patch' }], ...choice })
  await force('acme/mixed')
  const stands = { type: 'function', name: 'apply_patch' }
  expect(upstream.requests.at(-1)!.body).toMatchObject({ tools: [stands], tool_choice: stands })
})

/** The same through formats with a different wire form of searches. */
const SEARCHES: {
  readonly [dialect: string]: {
    readonly options?: object
    readonly tools: readonly object[]
    /** The form of a limit on the number of searches. */
    readonly bounded: readonly object[]
    readonly frames: readonly object[]
  }
} = {
  gemini: {
    tools: [{ googleSearch: {} }],
    bounded: [{ googleSearch: {} }],
    frames: [
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Far.' }] } }] },
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              webSearchQueries: ['moon'],
              groundingChunks: [{ web: { uri: 'https://a.test/', title: 'a' } }],
              groundingSupports: [{ segment: { endIndex: 4, text: 'Far.' }, groundingChunkIndices: [0] }],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
      },
    ],
  },
  'anthropic-messages': {
    options: { web_search_tool: 'web_search_20250305' },
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    bounded: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
    frames: [
      { type: 'message_start', message: { id: 'msg', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 0 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'moon' } },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: {
          type: 'web_search_tool_result',
          tool_use_id: 'srv_1',
          content: [{ type: 'web_search_result', url: 'https://a.test/', title: 'a', encrypted_content: 'e' }],
        },
      },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Far.' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ],
  },
}

describe.each(Object.entries(SEARCHES))('web_search through %s', (dialect, { options = {}, tools, bounded, frames }) => {
  let vendor: FakeUpstream
  let own: TestGateway
  beforeAll(async () => {
    const named = (frame: object): string => ('type' in frame ? `event: ${String(frame.type)}\n` : '')
    vendor = await startFakeUpstream(stream(frames.map((frame) => `${named(frame)}data: ${JSON.stringify(frame)}\n\n`)))
    own = await startGateway({
      providers: [{ slug: 'vendor', dialect, base_url: vendor.url, api_keys: ['k'], options }],
      models: [{ slug: 'acme/searcher', context_length: 64_000, endpoints: [{ provider: 'vendor', upstream_model: 'm' }] }],
    })
  })
  afterAll(async () => {
    await own.close()
    await vendor.close()
  })

  it.each(['auto', 'native'])('is the vendor’s own with engine %s, without any engine of the gateway', async (engine) => {
    const tool = { type: 'gateway:web_search', parameters: { engine } }
    const answer = await own.respond({ model: 'acme/searcher', input: 'hi', tools: [tool], stream: true })
    const { output } = checkWire(await answer.text())
    expect(vendor.requests.at(-1)!.body['tools']).toEqual(tools)
    const search = output.find(({ type }) => type === 'gateway:web_search')
    expect(search).toMatchObject({ status: 'completed', action: { type: 'search', query: 'moon' } })
    expect(output.map(({ type }) => type)).toContain('message')
  })

  it.each([
    { tools: [{ type: 'gateway:web_search', parameters: { max_uses: 2 } }] },
    { tools: [{ type: 'gateway:web_search', parameters: { engine: 'native', max_uses: 2 } }] },
    { tools: [{ type: 'web_search', max_uses: 2 }] },
    { plugins: [{ id: 'web', max_uses: 2 }] },
  ])('passes on a limit that the vendor understands: %j', async (asked) => {
    const answer = await own.respond({ model: 'acme/searcher', input: 'hi', ...asked, stream: true })
    checkWire(await answer.text())
    expect(vendor.requests.at(-1)!.body['tools']).toEqual(bounded)
  })
})
