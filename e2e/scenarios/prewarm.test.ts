import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { speakerOf, VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'

/** Requests that only have a prompt read into the vendor's cache, before somebody waits for an answer. */
const INPUT = { input_tokens: 20, output_tokens: 0 }
const WRITTEN = { input_tokens: 2, cache_creation_input_tokens: 18, output_tokens: 0 }

/** OpenAI's API, with an answer that has no items. */
const openAi: Reply = (_request, response) => {
  const usage = { ...INPUT, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 18 }, total_tokens: 20 }
  const answer = { id: 'resp_1', object: 'response', status: 'completed', output: [], usage }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`data: ${JSON.stringify({ type: 'response.completed', sequence_number: 0, response: answer })}\n\n`)
}

/** Anthropic's API, which refuses such a request together with what could only lead to an answer. */
const anthropic: Reply = ({ body }, response) => {
  const { thinking, tool_choice: choice, output_config: output } = body as Record<string, Record<string, unknown> | undefined>
  const isRefused =
    body['stream'] === true ||
    thinking?.['type'] === 'enabled' ||
    ['any', 'tool'].includes(String(choice?.['type'])) ||
    output?.['format'] !== undefined
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: 'max_tokens', usage: WRITTEN }
  const error = { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: 0 is not possible with this' } }
  response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(isRefused ? error : message))
}

let upstream: FakeUpstream
let gateway: TestGateway
const open = async (dialect: string, options: object, reply: Reply, upstreamModel = VENDOR_VOICES.get(dialect)!.model): Promise<void> => {
  upstream = await startFakeUpstream(reply)
  gateway = await startGateway({
    providers: [{ slug: 'acme', dialect, base_url: upstream.url, api_keys: ['k'], options }],
    models: [
      {
        slug: 'acme/small',
        context_length: 100_000,
        endpoints: [
          {
            provider: 'acme',
            upstream_model: upstreamModel,
            supports: ['tools', 'tool_choice', 'reasoning', 'structured_outputs', 'response_format', 'max_tokens'],
            pricing: { input: 1, output: 10, cache_write: 2 },
          },
        ],
      },
    ],
    routing: { sticky: false },
  })
}
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const PREWARM = { prompt_cache_options: { prewarm: true } }
const NOTHING = {
  status: 'completed',
  output: [],
  error: null,
  incomplete_details: null,
  usage: { input_tokens: 20, output_tokens: 0, cost: (2 * 1 + 18 * 2) / 1e6 },
}

describe.each([true, false])('a prompt that is only to be cached (streamed: %s)', (streamed) => {
  it('is read by OpenAI without an answer, once, and paid for', async () => {
    await open('openai-responses', {}, openAi)
    const answer = await askGateway(gateway, { ...PREWARM, max_output_tokens: 500 }, streamed)
    expect(answer).toMatchObject(NOTHING)
    // In case a server of the format does not know the option.
    expect(upstream.requests.map(({ body }) => body)).toEqual([expect.objectContaining({ ...PREWARM, max_output_tokens: 1 })])
  })

  describe('by Anthropic', () => {
    beforeEach(() => open('anthropic-messages', { prewarm: true, json_schema: 'native' }, anthropic, 'claude-1'))
    it('is read without an answer, once, and paid for', async () => {
      const answer = await askGateway(gateway, PREWARM, streamed)
      expect(answer).toMatchObject(NOTHING)
      expect(upstream.requests.map(({ body }) => body)).toEqual([expect.objectContaining({ max_tokens: 0, stream: false })])
    })
    it('is read whatever the request says of the answer', async () => {
      const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }]
      const text = { format: { type: 'json_schema', name: 'n', schema: { type: 'object', properties: {}, additionalProperties: false } } }
      for (const more of [
        { reasoning: { effort: 'high' } },
        { tools, tool_choice: 'required' },
        { tools, tool_choice: { type: 'function', name: 'f' } },
        { text },
      ])
        expect(await askGateway(gateway, { ...PREWARM, ...more }, streamed)).toMatchObject(NOTHING)
      expect(upstream.requests).toHaveLength(4)
      expect(upstream.requests[1]!.body).toMatchObject({ tools: [{ name: 'f' }] })
    })
  })
})

it.each([...VENDOR_VOICES.keys()].filter((name) => name !== 'openai-responses'))(
  'is answered as shortly as %s can, which caches it too',
  async (dialect) => {
    const voice = VENDOR_VOICES.get(dialect)!
    const options = Object.fromEntries(Object.entries(voice.options).filter(([name]) => name !== 'prewarm'))
    await open(
      dialect,
      options,
      speakerOf(voice, () => ({ text: 'A' })),
    )
    expect(await askGateway(gateway, { ...PREWARM, max_output_tokens: 500 }, false)).toMatchObject({ output: [{ content: [{ text: 'A' }] }] })
    const sent = JSON.stringify(upstream.requests.map(({ body }) => body))
    expect(sent).toMatch(/"(?:max_tokens|max_completion_tokens|maxOutputTokens|maxTokens)":1[,}]/)
    expect(sent).not.toContain('prewarm')
  },
)

it('max_tokens of zero in the Messages format comes back as that format has it', async () => {
  await open('openai-responses', {}, openAi)
  const headers = { 'x-api-key': gateway.key, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'acme/small', max_tokens: 0, messages: [{ role: 'user', content: 'warm up' }] })
  const answer = await fetch(`${gateway.url}/api/v1/messages`, { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject({ content: [], stop_reason: 'max_tokens', usage: WRITTEN })
  expect(upstream.requests[0]!.body).toMatchObject(PREWARM)
})

it('an answer without content to any other request has failed', async () => {
  await open('openai-responses', {}, openAi)
  expect((await gateway.respond({ model: 'acme/small', input: 'hi', prompt_cache_options: { prewarm: false } })).status).toBe(502)
})
