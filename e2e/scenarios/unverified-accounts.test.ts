import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'

/** OpenAI streams its newest models, and summarises their reasoning, only for verified accounts. */
const demandsPapers =
  (dialect: string): Reply =>
  ({ body }, response) => {
    const { reasoning, stream } = body as { reasoning?: { summary?: string }; stream?: boolean }
    const refusal =
      reasoning?.summary != null ? ['generate reasoning summaries', 'reasoning.summary'] : stream === true ? ['stream this model', 'stream'] : []
    response.writeHead(refusal.length > 0 ? 400 : 200, { 'content-type': 'application/json' })
    if (refusal.length === 0) return void response.end(VENDOR_VOICES.get(dialect)!.json({ text: 'Rome' }))
    const message = `Your organization must be verified to ${refusal[0]}. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization. If you just verified, it can take up to 15 minutes for access to propagate.`
    response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: refusal[1], code: 'unsupported_value' } }))
  }

describe.each(['openai-responses', 'openai-chat'])('a provider account that is not verified: %s', (dialect) => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    upstream = await startFakeUpstream(demandsPapers(dialect))
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect, base_url: upstream.url, api_keys: ['k'] }],
      models: [
        {
          slug: 'acme/small',
          context_length: 100_000,
          endpoints: [{ provider: 'acme', pricing: { input: 1, output: 1 } }],
        },
      ],
      routing: { sticky: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  it.each([true, false])('gets its answers in one piece and without the summary (streamed to the caller: %s)', async (streamed) => {
    const { output, usage } = await askGateway(gateway, { input: 'Where?', reasoning: { effort: 'high', summary: 'auto' } }, streamed)
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'Rome' }] }])
    expect(usage).toMatchObject({ input_tokens: 30, output_tokens: 12 })
    const last = upstream.requests.at(-1)!.body
    expect(last['stream'] ?? false).toBe(false)
    expect(last).not.toHaveProperty('stream_options')
    if (dialect === 'openai-responses') expect(last['reasoning']).toEqual({ effort: 'high' })
    expect(upstream.requests).toHaveLength(dialect === 'openai-chat' ? 2 : 3)
  })
})
