import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { awsEvent, awsException } from '../../src/testing/aws-frames.ts'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatText, startFakeUpstream, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Faults inside AWS event streams, over real sockets: invisible before the first content, reported in-band after it. */
const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const start = awsEvent('messageStart', { role: 'assistant' })
const text = (piece: string): Buffer => awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: piece }, p: 'abc' })
const damaged = Buffer.from(text('x')).fill(0xff, 40, 44)
const end = [awsEvent('contentBlockStop', { contentBlockIndex: 0 }), awsEvent('messageStop', { stopReason: 'end_turn' })]
const usage = awsEvent('metadata', { usage: { inputTokens: 20, cacheReadInputTokens: 10, outputTokens: 5, totalTokens: 35 } })

const frames =
  (...list: readonly Buffer[]): Reply =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    response.end(Buffer.concat(list))
  }

const faults: readonly (readonly [string, readonly Buffer[], string])[] = [
  ...['internalServerException', 'modelStreamErrorException'].map(
    (name) => [name, [awsException(name, { message: 'no' })], 'provider_unavailable'] as const,
  ),
  ['serviceUnavailableException', [awsException('serviceUnavailableException', { message: 'no' })], 'provider_overloaded'],
  ['throttlingException', [awsException('throttlingException', { message: 'no' })], 'rate_limit_exceeded'],
  ['a damaged frame', [damaged], 'provider_unavailable'],
  ['a frame that is cut', [text('never seen').subarray(0, 30)], 'provider_unavailable'],
  ['an end without a reason', [], 'provider_unavailable'],
]

let upstream: FakeUpstream
let backup: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream()
  backup = await startFakeUpstream(stream(chatText('from the backup')))
  const endpoint = (provider: string, upstream_model: string) => ({ provider, upstream_model, pricing: { input: 1, output: 1 } })
  gateway = await startGateway({
    providers: [
      { slug: 'frames', name: 'Frames', dialect: 'bedrock-converse', base_url: upstream.url.replace('/v1', ''), api_keys: ['k'] },
      { slug: 'backup', name: 'Backup', dialect: 'openai-chat', base_url: backup.url, api_keys: ['k'] },
    ],
    models: [{ slug: 'acme/small', context_length: 128_000, endpoints: [endpoint('frames', model), endpoint('backup', 'small-1')] }],
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await backup.close()
})

const ask = (streamed = true) => gateway.respond({ model: 'acme/small', input: 'hi', stream: streamed, provider: { order: ['frames', 'backup'] } })

describe('a binary event stream', () => {
  it('is read as an answer, from a path that holds the model as one segment', async () => {
    upstream.script(frames(start, text('Grüße '), text('🎉'), ...end, usage))
    const { text: said, terminal } = checkWire(await (await ask()).text())
    expect(said).toBe('Grüße 🎉')
    expect((terminal['response'] as { usage: object }).usage).toMatchObject({
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10 },
      output_tokens: 5,
      total_tokens: 35,
    })
    expect(upstream.requests.at(-1)!.path).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream')
    expect(upstream.requests.at(-1)!.headers.accept).toBe('application/vnd.amazon.eventstream')
  })

  it('may be one JSON body instead', async () => {
    upstream.script(
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"output":{"message":{"role":"assistant","content":[{"text":"whole"}]}},"stopReason":"end_turn"}'),
    )
    expect(checkWire(await (await ask()).text()).text).toBe('whole')
  })

  it.each(faults)('%s before any content moves to the next endpoint', async (_name, broken) => {
    upstream.script(frames(start, ...broken))
    expect(checkWire(await (await ask()).text()).text).toBe('from the backup')
  })

  it.each(faults)('%s after content is reported', async (_name, broken, type) => {
    upstream.script(frames(start, text('half'), ...broken))
    const { terminal } = checkWire(await (await ask()).text())
    expect(terminal).toMatchObject({ type: 'response.failed', response: { error_type: type, output_text: 'half' } })
  })
})
