import { afterAll, beforeAll, expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

/** Data URLs that consist only of the parameters before their data, megabytes of them. */
const SEMICOLONS = `data:image/png${';'.repeat(6_000_000)}`
const PARAMETERS = `data:text/plain${';a='.repeat(5_000_000)}`
const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'bedrock-converse', 'cohere-v2']

let upstream: FakeUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  gateway = await startGateway({
    providers: DIALECTS.map((dialect) => ({ slug: dialect, dialect, base_url: upstream.url, api_keys: ['sk-x'] })),
    models: DIALECTS.map((dialect) => ({ slug: `acme/${dialect}`, context_length: 100_000_000, endpoints: [{ provider: dialect, pricing: {} }] })),
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

it.each([
  ...DIALECTS.map((dialect) => [dialect, 'a picture', { type: 'input_image', image_url: SEMICOLONS }] as const),
  ...['openai-chat', 'cohere-v2'].map(
    (dialect) => [dialect, 'a file', { type: 'input_file', filename: 'notes.txt', file_data: PARAMETERS }] as const,
  ),
])('is passed on, or refused for what is wrong with it: %s, %s', { timeout: 60_000 }, async (dialect, _what, part) => {
  const answer = await gateway.respond({ model: `acme/${dialect}`, input: [{ role: 'user', content: [part] }] })
  // The upstream that answers does not implement most of the formats.
  expect([200, 400, 502]).toContain(answer.status)
})
