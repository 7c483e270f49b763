import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter as Agent, serverTool } from '@openrouter/agent'
import { OpenRouter } from '@openrouter/sdk'
import type { OpenResponsesResult, ResponsesRequest, StreamEvents } from '@openrouter/sdk/models'
import { generateText, streamText, type ToolSet } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startFakeSite, type FakeSite } from '../../src/testing/fake-site.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'
import { expectKnown } from './expect-known.ts'

/**
 * Every tool that the gateway runs, with three clients: the most common one, the one that knows these items by schema, and an agent. A fourth has only the
 * vendors' own tools, and refuses a whole answer because of one field.
 */
let upstream: FakeUpstream
let web: FakeSite
let gateway: TestGateway
let scripts: { [model: string]: Reply[] } = {}

beforeAll(async () => {
  upstream = await startFakeUpstream((request, response) => {
    const script = scripts[request.body['model'] as string] ?? []
    const reply = script.length > 1 ? script.shift() : script[0]
    return (reply ?? status(500, 'not scripted'))(request, response)
  })
  web = await startFakeSite()
  const serve = (path: string, type: string, body: string): void => {
    web.pages[path] = (_request, response) => void response.setHeader('content-type', type).end(body)
  }
  serve('/search', 'application/json', '{"results":[{"url":"https://example.com/moon","title":"The Moon","content":"Far."}]}')
  serve('/page', 'text/html', '<html><head><title>P</title></head><body><p>Words.</p></body></html>')
  serve('/box/shell', 'application/json', '{"output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]}')
  serve('/box/bash', 'application/json', '{"stdout":"a","stderr":"","exit_code":0}')
  serve('/box/files', 'application/json', '{"result":"none"}')
  gateway = await startGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['upstream-key'] }],
    models: ['small', 'big', 'draw-image'].map((name) => ({
      slug: `acme/${name}`,
      context_length: 64_000,
      endpoints: [{ provider: 'acme', upstream_model: name, pricing: { input: 1, output: 2 } }],
    })),
    routing: { sticky: false, cooldown: false },
    network: { allow_private: { tools: true } },
    tools: { web_search: { engines: { searxng: { base_url: web.url } } }, sandbox: { url: `${web.url}/box` } },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  web.close()
})
beforeEach(() => {
  scripts = {}
})

const analysis = {
  consensus: ['a'],
  contradictions: [{ topic: 't', stances: [{ model: 'm', stance: 's' }] }],
  partial_coverage: [{ models: ['m'], point: 'p' }],
  unique_insights: [{ model: 'm', insight: 'i' }],
  blind_spots: ['b'],
}
const picture = stream([
  {
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'draw-image',
    choices: [{ index: 0, delta: { role: 'assistant', images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }] } }],
  },
  chatEvents.finish(),
  chatEvents.usage(),
  chatEvents.done(),
])

interface Story {
  readonly tool: { readonly type: string; readonly parameters?: object }
  readonly call: readonly [name: string, args: () => unknown]
  /** Further turns of the calling model before its last words. */
  readonly more?: readonly Reply[]
  readonly others?: { readonly [model: string]: readonly Reply[] }
  readonly item?: string
}

const stories: readonly Story[] = [
  { tool: { type: 'openrouter:datetime' }, call: ['datetime', () => ({})] },
  { tool: { type: 'openrouter:web_search' }, call: ['web_search', () => ({ query: 'moon' })] },
  { tool: { type: 'web_search' }, call: ['web_search', () => ({ query: 'moon' })], item: 'web_search_call' },
  { tool: { type: 'openrouter:web_fetch' }, call: ['web_fetch', () => ({ url: `${web.url}/page` })] },
  { tool: { type: 'openrouter:web_fetch' }, call: ['web_fetch', () => ({ url: `${web.url}/none` })] },
  { tool: { type: 'openrouter:image_generation' }, call: ['image_generation', () => ({ prompt: 'cat' })], others: { 'draw-image': [picture] } },
  {
    tool: { type: 'image_generation' },
    call: ['image_generation', () => ({ prompt: 'cat' })],
    others: { 'draw-image': [picture] },
    item: 'image_generation_call',
  },
  { tool: { type: 'openrouter:tool_search' }, call: ['tool_search', () => ({ query: 'x' })] },
  { tool: { type: 'openrouter:experimental__search_models' }, call: ['experimental__search_models', () => ({ query: 'draw' })] },
  {
    tool: { type: 'openrouter:advisor', parameters: { model: 'acme/big' } },
    call: ['advisor', () => ({ prompt: 'x' })],
    others: { big: [says('Do it.')] },
  },
  {
    tool: { type: 'openrouter:subagent', parameters: { model: 'acme/big' } },
    call: ['subagent', () => ({ task_name: 't', task_description: 'd' })],
    others: { big: [says('Done.')] },
  },
  {
    tool: { type: 'openrouter:fusion', parameters: { analysis_models: ['acme/big'], tools: [] } },
    call: ['fusion', () => ({ prompt: 'x' })],
    more: [says(JSON.stringify(analysis))],
    others: {
      big: [
        stream([chatEvents.role(), chatEvents.reasoning('hm'), chatEvents.text('a'), chatEvents.finish(), chatEvents.usage(), chatEvents.done()]),
      ],
    },
  },
  {
    tool: { type: 'openrouter:apply_patch' },
    call: ['apply_patch', () => ({ type: 'create_file', path: 'a', diff: '+a\n' })],
    item: 'apply_patch_call',
  },
  { tool: { type: 'openrouter:shell' }, call: ['shell', () => ({ commands: ['ls'] })] },
  { tool: { type: 'openrouter:bash' }, call: ['bash', () => ({ command: 'ls' })] },
  { tool: { type: 'openrouter:files' }, call: ['files', () => ({ operation: 'list' })] },
]
const named = stories.map((story) => [`${story.tool.type} ${story.call[0]}`, story] as const)

function stageStory({ call: [name, args], more = [], others = {} }: Story): void {
  scripts = { small: [calls([name, args()]), ...more, says('So it is: [The Moon](https://example.com/moon).')] }
  for (const [model, script] of Object.entries(others)) scripts[model] = [...script]
}

describe('@openrouter/sdk', () => {
  let client: OpenRouter
  beforeAll(() => {
    client = new OpenRouter({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
  })
  const request = (story: Story): Omit<ResponsesRequest, 'stream'> => ({ model: 'acme/small', input: 'hi', tools: [story.tool as never] })

  it.each(named)('knows every event and item of %s', async (_name, story) => {
    stageStory(story)
    const events = (await client.beta.responses.send({ responsesRequest: { ...request(story), stream: true } })) as AsyncIterable<StreamEvents>
    let last: StreamEvents | undefined
    for await (const event of events) {
      expectKnown(event)
      last = event
    }
    if (last?.type !== 'response.completed') throw new Error(`the last event is ${String(last?.type)}`)
    expect(last.response.output[0]!.type).toBe(story.item ?? story.tool.type)
  })
  it('reads advice as it is written, for callers who ask for that', async () => {
    stageStory(stories.find(({ call: [name] }) => name === 'advisor')!)
    const tool = { type: 'openrouter:advisor', parameters: { model: 'acme/big', stream: true } }
    const events = (await client.beta.responses.send({
      responsesRequest: { model: 'acme/small', input: 'hi', tools: [tool as never], stream: true },
    })) as AsyncIterable<StreamEvents>
    let advice = ''
    for await (const event of events) {
      expectKnown(event)
      if (event.type === 'response.output_text.delta' && event.outputIndex === 0) advice += event.delta
    }
    expect(advice).toBe('Do it.')
  })
  it.each(named)('knows the answer of %s, and sends it back', async (_name, story) => {
    stageStory(story)
    const answer = (await client.beta.responses.send({ responsesRequest: { ...request(story), stream: false } })) as OpenResponsesResult
    expectKnown(answer)
    expect(answer.output[0]!.type).toBe(story.item ?? story.tool.type)
    scripts = { small: [says('Again.')] }
    const input = [{ role: 'user' as const, content: 'hi' }, ...(answer.output as never[]), { role: 'user' as const, content: 'and?' }]
    expect(
      ((await client.beta.responses.send({ responsesRequest: { ...request(story), input, stream: false } })) as OpenResponsesResult).status,
    ).toBe('completed')
  })
})

/** Uses the helper that combines the events, except if the contract has events that this client has no types for. */
async function finalOf(client: OpenAI, body: { model: string; input: string; tools: never[] }, story: Story): Promise<OpenAI.Responses.Response> {
  if (story.call[0] !== 'fusion') return client.responses.stream(body).finalResponse()
  let final: OpenAI.Responses.Response | undefined
  for await (const event of await client.responses.create({ ...body, stream: true })) if (event.type === 'response.completed') final = event.response
  return final!
}

describe('openai', () => {
  let client: OpenAI
  beforeAll(() => {
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 })
  })

  it.each(named)('reads %s, streamed and whole', async (_name, story) => {
    const body = { model: 'acme/small', input: 'hi', tools: [story.tool as never] }
    stageStory(story)
    const final = await finalOf(client, body, story)
    expect(final.output[0]).toMatchObject({ type: story.item ?? story.tool.type })
    stageStory(story)
    const whole = await client.responses.create(body)
    expect(whole.output.map(({ type }) => type)).toEqual(final.output.map(({ type }) => type))
    if (story.item !== 'apply_patch_call') expect(whole.output_text).toBe('So it is: [The Moon](https://example.com/moon).')
  })
})

describe('@openrouter/agent', () => {
  // The client validates its requests and does not know this tool; unknown items are wrapped and kept.
  const sendable = named.filter(([, { tool }]) => tool.type !== 'openrouter:tool_search')
  const typeOf = (item: { readonly type: string; readonly raw?: unknown }): string =>
    item.type === 'UNKNOWN' ? (item.raw as { readonly type: string }).type : item.type

  it.each(sendable)('reads %s, streamed and whole', async (_name, story) => {
    const agent = new Agent({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1` })
    const ask = () => {
      stageStory(story)
      return agent.callModel({ model: 'acme/small', input: 'hi', tools: [serverTool(story.tool as never)] as const })
    }
    const whole = await ask().getResponse()
    expect(typeOf(whole.output[0]!)).toBe(story.item ?? story.tool.type)
    const streamed = ask()
    let text = ''
    for await (const delta of streamed.getTextStream()) text += delta
    expect((await streamed.getResponse()).output.map(({ type }) => type)).toEqual(whole.output.map(({ type }) => type))
    if (story.item !== 'apply_patch_call') expect(text).toBe('So it is: [The Moon](https://example.com/moon).')
  })
})

describe('@ai-sdk/openai', () => {
  const words = 'So it is: [The Moon](https://example.com/moon).'
  const broken = status(400, { error: { message: 'No cats.' } })
  const cases: readonly (readonly [string, Story])[] = [
    ['a search', { tool: { type: 'web_search' }, call: ['web_search', () => ({ query: 'moon' })] }],
    ['an image', { tool: { type: 'image_generation' }, call: ['image_generation', () => ({ prompt: 'cat' })], others: { 'draw-image': [picture] } }],
    [
      'an image that cannot be made',
      { tool: { type: 'image_generation' }, call: ['image_generation', () => ({ prompt: 'cat' })], others: { 'draw-image': [broken] } },
    ],
    ['an image that is asked for wrongly', { tool: { type: 'image_generation' }, call: ['image_generation', () => ({ prompt: 7 })] }],
  ]
  const options = ({ tool: { type } }: Story) => {
    const provider = createOpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1` })
    const tools: ToolSet =
      type === 'web_search' ? { web_search: provider.tools.webSearch({}) } : { image_generation: provider.tools.imageGeneration({}) }
    return { model: provider.responses('acme/small'), prompt: 'hi', tools, maxRetries: 0 }
  }

  it.each(cases)('reads %s, streamed and whole', async (_name, story) => {
    stageStory(story)
    const whole = await generateText(options(story))
    stageStory(story)
    const failures: unknown[] = []
    const streamed = streamText({ ...options(story), onError: ({ error }) => void failures.push(error) })
    await streamed.consumeStream()
    expect(failures).toEqual([])
    for (const { text, content } of [whole, { text: await streamed.text, content: await streamed.content }]) {
      expect(text).toBe(words)
      expect(content[0]).toMatchObject({ type: 'tool-call', toolName: story.tool.type })
    }
  })
})

describe('a picture the gateway had made, in formats without items', () => {
  const tool = { type: 'gateway:image_generation', parameters: { model: 'acme/draw-image' } }
  beforeEach(() => {
    scripts = { small: [calls(['image_generation', { prompt: 'cat' }]), says('A cat.')], 'draw-image': [picture] }
  })

  it.each([true, false])('is an image of the message for openai; streamed: %s', async (streamed) => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 })
    const body = { model: 'acme/small', messages: [{ role: 'user' as const, content: 'Draw a cat.' }], tools: [tool as never] }
    const told: unknown[] = []
    if (streamed) for await (const { choices } of await client.chat.completions.create({ ...body, stream: true })) told.push(choices[0]?.delta)
    else told.push((await client.chat.completions.create(body)).choices[0]!.message)
    const images = told.flatMap((one) => (one as { readonly images?: readonly object[] } | undefined)?.images ?? [])
    expect(images).toMatchObject([{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }])
  })

  it.each([true, false])('is a block of its own for @anthropic-ai/sdk; streamed: %s', async (streamed) => {
    const client = new Anthropic({ apiKey: gateway.key, baseURL: `${gateway.url}/api`, maxRetries: 0 })
    const body = { model: 'acme/small', max_tokens: 200, messages: [{ role: 'user' as const, content: 'Draw a cat.' }], tools: [tool as never] }
    const { content } = streamed ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
    expect(content).toMatchObject([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'text', text: 'A cat.' },
    ])
  })
})

describe('@anthropic-ai/sdk', () => {
  const question: Anthropic.MessageParam = { role: 'user', content: 'How far is the moon?' }
  const ask = (messages: Anthropic.MessageParam[], tools: Anthropic.ToolUnion[] = [{ type: 'web_search_20260318', name: 'web_search' }]) =>
    new Anthropic({ apiKey: gateway.key, baseURL: `${gateway.url}/api`, maxRetries: 0 }).messages
      .stream({ model: 'acme/small', max_tokens: 200, messages, tools })
      .finalMessage()
  const lastRequest = (): string => JSON.stringify(upstream.requests.at(-1)!.body['messages'])

  it.each([true, false])('sends a search back, and the model reads what it found; still offered: %s', async (offered) => {
    scripts['small'] = [calls(['web_search', { query: 'moon' }]), says('Far.'), says('As I said.')]
    const { content } = await ask([question])
    expect(content.map(({ type }) => type)).toEqual(['server_tool_use', 'web_search_tool_result', 'text'])
    await ask([question, { role: 'assistant', content }, { role: 'user', content: 'Really?' }], offered ? undefined : [])
    expect(lastRequest()).toContain('moon')
    expect(lastRequest()).toContain('https://example.com/moon')
  })

  it('sends a search back that failed, and the model reads that it did', async () => {
    scripts['small'] = [calls(['web_search', { query: 7 }]), says('I cannot say.'), says('Sorry.')]
    const { content } = await ask([question])
    expect(content[1]).toMatchObject({ content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } })
    await ask([question, { role: 'assistant', content }, { role: 'user', content: 'Really?' }])
    expect(lastRequest()).toContain(JSON.stringify('{"status":"error"}'))
  })
})
