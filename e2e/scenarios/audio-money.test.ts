import { afterEach, beforeEach, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Audio costs many times as much as text: a budget must have enough left for it, and it determines the cost of an answer whose upstream counted nothing. */
let upstream: FakeUpstream
let gateway: TestGateway

/** About a thousand tokens of audio: 0.001 USD at the text price, 0.03 USD at the audio price. */
const SOUND = [{ type: 'input_audio', input_audio: { data: 'A'.repeat(1_500_000), format: 'mp3' } }]

const createKey = async (limit: number): Promise<{ readonly hash: string; readonly key: string }> => {
  const response = await gateway.api('POST', '/api/v1/keys', { name: 'limited', limit })
  const { data, key } = (await response.json()) as { data: { hash: string }; key: string }
  return { hash: data.hash, key }
}
const ask = (key: string, content: unknown): Promise<Response> =>
  gateway.respond({ model: 'acme/hears', input: [{ role: 'user', content }], max_output_tokens: 16 }, { key })
const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const response = await asked
  await response.arrayBuffer()
  return response.status
}

beforeEach(async () => {
  upstream = await startFakeUpstream(stream(chatText('heard')))
  gateway = await startGateway({
    providers: [{ slug: 'acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['key'] }],
    models: [
      {
        slug: 'acme/hears',
        context_length: 200_000,
        endpoints: [{ provider: 'acme', upstream_model: 'hears-1', supports: ['audio'], pricing: { input: 1, input_audio: 30, output: 2 } }],
      },
    ],
    routing: { sticky: false, cooldown: false, retries: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

it(verifies('P29', 'a budget is checked against the price of audio, and against that of text where the input is text'), async () => {
  const { key } = await createKey(0.02)
  expect(await statusOf(ask(key, SOUND))).toBe(402)
  expect(upstream.requests).toHaveLength(0)
  expect(await statusOf(ask(key, 'word '.repeat(4_000)))).toBe(200)
  const rich = await createKey(0.05)
  expect(await statusOf(ask(rich.key, SOUND))).toBe(200)
})

it(verifies('P35', 'an answer whose upstream reports no usage is charged for an estimate of its audio'), async () => {
  upstream.script(stream([chatEvents.role(), chatEvents.text('heard'), chatEvents.finish(), chatEvents.done()]))
  const { usage } = (await (await ask(gateway.key, SOUND)).json()) as { usage: { cost: number; input_tokens: number } }
  expect(usage.input_tokens).toBeGreaterThan(900)
  expect(usage.cost).toBeGreaterThan(0.025)
})

it('callers of formats with a place for it are told how much of a prompt was audio, because that explains its cost', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101, prompt_tokens_details: { cached_tokens: 10, audio_tokens: 80 } }
  upstream.script(stream([chatEvents.role(), chatEvents.text('heard'), chatEvents.finish(), chatEvents.usage(usage), chatEvents.done()]))
  const asked = async (path: string, body: object): Promise<object> => (await (await gateway.api('POST', path, body, gateway.key)).json()) as object
  const [sound] = SOUND
  const cost = (20 * 1 + 80 * 30 + 1 * 2) / 1e6
  expect(await asked('/api/v1/chat/completions', { model: 'acme/hears', messages: [{ role: 'user', content: [sound] }] })).toMatchObject({
    usage: { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 10, audio_tokens: 80 }, cost },
  })
  const inlineData = { mimeType: 'audio/mp3', data: 'AAAA' }
  expect(await asked('/api/v1beta/models/acme/hears:generateContent', { contents: [{ role: 'user', parts: [{ inlineData }] }] })).toMatchObject({
    usageMetadata: { promptTokenCount: 100, promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 80 }], cost },
  })
})
