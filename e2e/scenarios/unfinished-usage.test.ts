import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { awsEvent } from '../../src/testing/aws-frames.ts'
import { checkWire } from '../../src/testing/check-wire.ts'
import { startFakeUpstream, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Answers that break off, or whose caller leaves, are charged by what their upstream had counted by then. A long cached prompt makes this visible. */
const START = {
  type: 'message_start',
  message: {
    id: 'm',
    model: 'c',
    content: [],
    usage: { input_tokens: 10, cache_read_input_tokens: 90_000, cache_creation_input_tokens: 500, output_tokens: 1 },
  },
}
const WORDS = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Once upon a time' } },
]
const CALL = [
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'datetime', input: {} } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
]
/** 10 tokens at 1, 90,000 at 0.1 and 500 at 1.25 dollars a million. */
const PROMPT_USD = (10 + 90_000 * 0.1 + 500 * 1.25) / 1e6

let upstream: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'anthropic-messages', base_url: upstream.url, api_keys: ['k'] }],
    models: [
      {
        slug: 'acme/small',
        context_length: 200_000,
        endpoints: [{ provider: 'acme', upstream_model: 'c', pricing: { input: 1, output: 2, cache_read: 0.1, cache_write: 1.25 } }],
      },
    ],
    routing: { retries: false, cooldown: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

interface Broken {
  readonly status: string
  readonly usage: { readonly input_tokens: number; readonly input_tokens_details: object; readonly output_tokens: number; readonly cost: number }
}
const ask = async (body: object = {}, asked = gateway): Promise<Broken> => {
  const response = await asked.respond({ model: 'acme/small', input: 'Tell me a story', stream: true, ...body })
  return checkWire(await response.text()).terminal['response'] as Broken
}

describe('the usage of an unfinished answer', () => {
  it(verifies('P35', 'includes the prompt tokens that the upstream had reported before it broke off'), async () => {
    upstream.script(stream([START, ...WORDS], { then: 'reset' }))
    const { status, usage } = await ask()
    expect(status).toBe('failed')
    expect(usage).toMatchObject({ input_tokens: 90_510, input_tokens_details: { cached_tokens: 90_000, cache_write_tokens: 500 } })
    expect(usage.cost).toBeCloseTo(PROMPT_USD + (usage.output_tokens * 2) / 1e6, 9)
  })

  it(verifies('P35', 'adds up over the turns of a tool loop'), async () => {
    upstream.script(stream([START, ...CALL]), stream([START, ...WORDS], { then: 'reset' }))
    const { status, usage } = await ask({ tools: [{ type: 'gateway:datetime' }] })
    expect(status).toBe('failed')
    expect(usage).toMatchObject({ input_tokens: 181_020, input_tokens_details: { cached_tokens: 180_000, cache_write_tokens: 1000 } })
    expect(usage.cost).toBeCloseTo(2 * PROMPT_USD + (usage.output_tokens * 2) / 1e6, 9)
  })

  it(verifies('P35', 'is recorded when the caller leaves'), async () => {
    upstream.script(stream([START, ...WORDS], { then: 'hang' }))
    const gone = new AbortController()
    const response = await gateway.respond({ model: 'acme/small', input: 'Tell me a story', stream: true }, { signal: gone.signal })
    let text = ''
    for await (const chunk of response.body!) {
      text += Buffer.from(chunk).toString()
      if (text.includes('Once upon')) break
    }
    gone.abort()
    const path = `/api/v1/generation?id=${response.headers.get('x-generation-id')}`
    await expect
      .poll(async () => (await gateway.api('GET', path, undefined, gateway.key)).json(), { timeout: 5_000 })
      .toMatchObject({ data: { cancelled: true, tokens_prompt: 90_510, native_tokens_cached: 90_000 } })
  })
})

/** Answers that end as failures and report their usage: 90,500 tokens of prompt and 700 of output. */
const FAILURES: readonly (readonly [dialect: string, reply: Reply])[] = [
  [
    'openai-responses',
    stream([
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Once' },
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'server_error', message: 'out of order' },
          usage: { input_tokens: 90_500, input_tokens_details: { cached_tokens: 90_000 }, output_tokens: 700, total_tokens: 91_200 },
        },
      },
    ]),
  ],
  [
    'cohere-v2',
    stream([
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Once' } } } },
      {
        type: 'message-end',
        delta: { finish_reason: 'TIMEOUT', usage: { tokens: { input_tokens: 90_500, output_tokens: 700 }, cached_tokens: 90_000 } },
      },
    ]),
  ],
  [
    'bedrock-converse',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      response.write(awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Once' } }))
      response.write(awsEvent('messageStop', { stopReason: 'malformed_tool_use' }))
      response.end(awsEvent('metadata', { usage: { inputTokens: 500, cacheReadInputTokens: 90_000, outputTokens: 700 } }))
    },
  ],
]

describe('the usage of an answer that its upstream ends as a failure', () => {
  it.each(FAILURES)(verifies('P35', 'is the one it reports: %s'), async (dialect, reply) => {
    upstream.script(reply)
    const failing = await startGateway({
      providers: [{ slug: 'acme', name: 'Acme', dialect, base_url: upstream.url, api_keys: ['k'] }],
      models: [
        {
          slug: 'acme/small',
          context_length: 200_000,
          endpoints: [{ provider: 'acme', upstream_model: 'c', pricing: { input: 1, output: 2, cache_read: 0.1 } }],
        },
      ],
      routing: { retries: false, cooldown: false },
    })
    try {
      const { status, usage } = await ask({}, failing)
      expect(status).toBe('failed')
      expect(usage).toMatchObject({ input_tokens: 90_500, input_tokens_details: { cached_tokens: 90_000 }, output_tokens: 700 })
      expect(usage.cost).toBeCloseTo((500 + 90_000 * 0.1 + 700 * 2) / 1e6, 9)
    } finally {
      await failing.close()
    }
  })
})
