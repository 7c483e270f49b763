import { OpenRouter as Agent } from '@openrouter/agent'
import { OpenRouter } from '@openrouter/sdk'
import type { OpenResponsesResult, ResponsesRequest, StreamEvents } from '@openrouter/sdk/models'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeSite, type FakeSite } from '../../src/testing/fake-site.ts'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { says } from '../../src/testing/tool-script.ts'
import { expectKnown } from './expect-known.ts'

/** Every plugin with three clients: the most common one, the one whose schemas know plugins, and the agent loop based on it. */
let upstream: FakeUpstream
let web: FakeSite
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startFakeUpstream()
  web = await startFakeSite((_request, response) => void response.setHeader('content-type', 'text/plain').end('Words.'))
  web.pages['/search'] = (_request, response) =>
    void response.end('{"results":[{"url":"https://example.com/moon","title":"The Moon","content":"Far."}]}')
  const model = (name: string, length: number) => ({
    slug: `acme/${name}`,
    context_length: length,
    endpoints: [{ provider: 'acme', upstream_model: name, pricing: { input: 1, output: 2 } }],
  })
  gateway = await startGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['upstream-key'] }],
    models: [model('small', 64_000), model('tiny', 2_048), model('guard', 64_000)],
    routing: { sticky: false, cooldown: false },
    network: { allow_private: { tools: true } },
    tools: { web_search: { engines: { searxng: { base_url: web.url } } }, web_fetch: { robots: false } },
    plugins: { moderation: { model: 'acme/guard' } },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  web.close()
})

interface Story {
  readonly plugin: NonNullable<ResponsesRequest['plugins']>[number]
  readonly body?: () => object
  readonly script?: readonly Reply[]
  /** The text of the answer as JSON; streams contain the model's own text. */
  readonly says: string
}

const LINK = 'See [example.com](https://example.com/moon).'
const file = { type: 'input_file', filename: 'notes.txt', file_data: 'data:text/plain;base64,V29yZHMu' }
const stories: readonly Story[] = [
  { plugin: { id: 'web', maxResults: 3 }, says: LINK },
  { plugin: { id: 'web-fetch' }, body: () => ({ input: `What does ${web.url}/page say?` }), says: 'Words.' },
  { plugin: { id: 'file-parser', pdf: { engine: 'cloudflare-ai' } }, body: () => ({ input: [{ role: 'user', content: [file] }] }), says: 'Words.' },
  { plugin: { id: 'response-healing' }, body: () => ({ text: { format: { type: 'json_object' } } }), script: [says('{n: 1}')], says: '{"n": 1}' },
  { plugin: { id: 'context-compression' }, body: () => ({ model: 'acme/tiny', input: 'word '.repeat(4_000) }), says: 'Shorter.' },
  { plugin: { id: 'moderation' }, script: [says('safe'), says('Hello.')], says: 'Hello.' },
]
const named = stories.map((story) => [story.plugin.id, story] as const)
const stageStory = (story: Story): void => upstream.script(...(story.script ?? [says(story.says)]))

beforeEach(() => upstream.script(says('not scripted')))

describe('@openrouter/sdk', () => {
  let client: OpenRouter
  beforeAll(() => {
    client = new OpenRouter({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1`, retryConfig: { strategy: 'none' } })
  })
  const request = (story: Story): Omit<ResponsesRequest, 'stream'> => ({
    model: 'acme/small',
    input: 'hi',
    plugins: [story.plugin],
    ...rename(story.body?.() ?? {}),
  })

  it.each(named)('knows every event of an answer with %s', async (_id, story) => {
    stageStory(story)
    const events = (await client.beta.responses.send({
      xOpenRouterMetadata: 'enabled',
      responsesRequest: { ...request(story), stream: true },
    } as never)) as AsyncIterable<StreamEvents>
    let last: StreamEvents | undefined
    for await (const event of events) {
      expectKnown(event)
      last = event
    }
    expect(last?.type).toBe('response.completed')
  })
  it.each(named)('knows the answer with %s', async (_id, story) => {
    stageStory(story)
    const answer = (await client.beta.responses.send({ responsesRequest: { ...request(story), stream: false } })) as OpenResponsesResult
    expectKnown(answer)
    expect(answer.outputText).toBe(story.says)
  })
})

describe('@openrouter/agent', () => {
  it.each(named)('reads an answer with %s', async (id, story) => {
    const agent = new Agent({ apiKey: gateway.key, serverURL: `${gateway.url}/api/v1` })
    stageStory(story)
    const result = agent.callModel({ model: 'acme/small', input: 'hi', plugins: [story.plugin as never], ...rename(story.body?.() ?? {}) })
    // This client always streams.
    expect(await result.getText()).toBe(id === 'response-healing' ? '{n: 1}' : story.says)
  })
})

/** Renames the only field that this client spells differently. */
function rename(body: object): object {
  return JSON.parse(JSON.stringify(body).replaceAll('"file_data"', '"fileData"')) as object
}

describe('openai', () => {
  let client: OpenAI
  beforeAll(() => {
    client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 })
  })
  const request = (story: Story): OpenAI.Responses.ResponseCreateParamsNonStreaming =>
    ({ model: 'acme/small', input: 'hi', plugins: [{ ...story.plugin, max_results: undefined }], ...story.body?.() }) as never

  it.each(named)('reads an answer with %s, streamed and whole', async (id, story) => {
    stageStory(story)
    const whole = await client.responses.create(request(story))
    expect(whole.output_text).toBe(story.says)
    stageStory(story)
    const final = await client.responses.stream(request(story) as never).finalResponse()
    expect(final.output_text).toBe(id === 'response-healing' ? '{n: 1}' : story.says)
  })
  it('reads citations', async () => {
    upstream.script(says(LINK))
    const { output } = await client.responses.create(request(stories[0]!))
    const [message] = output
    const [part] = message?.type === 'message' ? message.content : []
    expect(part?.type === 'output_text' ? part.annotations : []).toMatchObject([{ type: 'url_citation', url: 'https://example.com/moon' }])
  })
  it('throws a typed error for what moderation flags', async () => {
    upstream.script(says('unsafe'))
    await expect(client.responses.create(request(stories.at(-1)!))).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError)
  })
})
