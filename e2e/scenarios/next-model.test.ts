import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Faults that another endpoint of the same model would repeat: the next model is asked, and the first one only once. */
let first: FakeUpstream
let twin: FakeUpstream
let other: FakeUpstream
let gateway: TestGateway

beforeEach(async () => {
  first = await startFakeUpstream()
  twin = await startFakeUpstream(stream(chatText('from the twin')))
  other = await startFakeUpstream(stream(chatText('from the other model')))
  const provider = (slug: string, { url }: FakeUpstream): object => ({ slug, name: slug, dialect: 'openai-chat', base_url: url, api_keys: ['k'] })
  const endpoint = (slug: string, price: number): object => ({ provider: slug, upstream_model: 'm', pricing: { input: price, output: price } })
  gateway = await startGateway({
    providers: [provider('first', first), provider('twin', twin), provider('other', other)],
    models: [
      { slug: 'acme/small', context_length: 8_000, endpoints: [endpoint('first', 1), endpoint('twin', 100)] },
      { slug: 'acme/large', context_length: 128_000, endpoints: [endpoint('other', 10)] },
    ],
    routing: { sticky: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await Promise.all([first, twin, other].map((upstream) => upstream.close()))
})

interface Answer {
  readonly model: string
  readonly output_text: string
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly cost: number }
}
const ask = (models: readonly string[]) => gateway.respond({ models, input: 'hi', provider: { order: ['first', 'twin', 'other'] } })
const tooLong = {
  error: { message: "This model's maximum context length is 8000 tokens", type: 'invalid_request_error', code: 'context_length_exceeded' },
}
const flagged = { error: { message: 'Your prompt was flagged as hateful', type: 'invalid_request_error', code: 'content_policy_violation' } }

describe('the next model', () => {
  it(verifies('C12', 'takes over when the context is too long, and the first is asked exactly once'), async () => {
    first.script(status(400, tooLong))
    const answer = (await (await ask(['acme/small', 'acme/large'])).json()) as Answer
    expect(answer).toMatchObject({ output_text: 'from the other model', model: 'acme/large' })
    expect([first, twin, other].map(({ requests }) => requests.length)).toEqual([1, 0, 1])
  })

  it(verifies('C12', 'is not there: the caller is told what was too long'), async () => {
    first.script(status(400, tooLong))
    const response = await ask(['acme/small'])
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('8000 tokens'), metadata: { error_type: 'context_length_exceeded' } },
    })
    expect(first.requests).toHaveLength(1)
    expect(twin.requests).toHaveLength(0)
  })

  it(verifies('C13', 'is not there for a prompt that was flagged: one try, and the reason of the provider'), async () => {
    first.script(status(400, flagged))
    const response = await ask(['acme/small'])
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringContaining('flagged as hateful'),
        metadata: { error_type: 'content_policy_violation', source: 'provider', provider_name: 'first' },
      },
    })
    expect([first, twin].map(({ requests }) => requests.length)).toEqual([1, 0])
  })

  it(verifies('C16', 'C4', 'P33', 'is named by the answer it gives, with its own usage, and the failed tries cost nothing'), async () => {
    first.script(status(503, { error: { message: 'busy' } }))
    twin.script(status(503, { error: { message: 'busy' } }))
    const answer = (await (await ask(['acme/small', 'acme/large'])).json()) as Answer
    expect(answer).toMatchObject({ model: 'acme/large', usage: { input_tokens: 11, output_tokens: 7 } })
    // 18 tokens at 10 USD per million, whatever the others would have cost.
    expect(answer.usage.cost).toBeCloseTo(180e-6, 12)
  })
})
