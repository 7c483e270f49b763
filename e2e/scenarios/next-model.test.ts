import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chatEvents, chatText, startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** Faults that would recur at every endpoint of the same model: the next model is asked, and the first one only once. */
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

  it(verifies('C12', 'does not exist: the caller gets the error about the context length'), async () => {
    first.script(status(400, tooLong))
    const response = await ask(['acme/small'])
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('8000 tokens'), metadata: { error_type: 'context_length_exceeded' } },
    })
    expect(first.requests).toHaveLength(1)
    expect(twin.requests).toHaveLength(0)
  })

  it(verifies('C13', 'does not exist for a flagged prompt: one try, and the reason of the provider'), async () => {
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
    // 18 tokens at 10 USD per million, whatever the other models would have cost.
    expect(answer.usage.cost).toBeCloseTo(180e-6, 12)
  })

  // Limits of one vendor, or messages that cannot be told from them: the other model may accept the request.
  it.each([
    ['a picture that is too large', { message: 'Image exceeds 5 MB maximum', type: 'invalid_request_error' }],
    ['a picture of a format it does not know', { message: 'Unsupported image format: webp' }],
    ['a picture it could not fetch', { message: 'failed to download image' }],
    ['a text that is too long for it', { message: 'too long', code: 'string_above_max_length' }],
    ['a request it does not like', { message: 'Invalid schema for function f: too many properties', type: 'invalid_request_error' }],
  ])('takes over where the first refuses %s', async (_name, error) => {
    first.script(status(400, { error }))
    twin.script(status(400, { error }))
    const answer = (await (await ask(['acme/small', 'acme/large'])).json()) as Answer
    expect(answer).toMatchObject({ output_text: 'from the other model', model: 'acme/large' })
    expect(first.requests).toHaveLength(1)
  })

  it('takes over where the first answers 422, whose reason reaches the caller if no other model can serve', async () => {
    first.script(status(422, { error: { message: 'max 4 tools' } }))
    expect(await (await ask(['acme/small', 'acme/large'])).json()).toMatchObject({ model: 'acme/large' })
    first.script(status(422, { error: { message: 'max 4 tools' } }))
    other.script(status(400, { error: { message: 'no' } }))
    const refused = await ask(['acme/small', 'acme/large'])
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      error: { message: 'max 4 tools', metadata: { attempts: [{ model: 'acme/small' }, { model: 'acme/large' }] } },
    })
  })

  it('takes over from an endpoint that answers 409, which is not an error of the caller', async () => {
    first.script(status(409, { error: { message: 'busy' } }))
    expect(await (await ask(['acme/small'])).json()).toMatchObject({ output_text: 'from the twin' })
    first.script(status(409, { error: { message: 'busy' } }))
    twin.script(status(409, { error: { message: 'busy' } }))
    const response = await ask(['acme/small'])
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 502, metadata: { error_type: 'provider_unavailable' } } })
  })

  describe.each([true, false])('where a filter stops an answer before its first word (stream: %s)', (streamed) => {
    const filtered = stream([chatEvents.role(), chatEvents.finish('content_filter'), chatEvents.usage(), chatEvents.done()])
    const call = (models: readonly string[]) =>
      gateway.respond({ models, input: 'hi', stream: streamed, provider: { order: ['first', 'twin', 'other'] } })

    it('takes over', async () => {
      first.script(filtered)
      const text = await (await call(['acme/small', 'acme/large'])).text()
      expect(text).toContain('from the other model')
      expect([first, twin].map(({ requests }) => requests.length)).toEqual([1, 0])
    })

    it('does not exist: 400, not an empty answer', async () => {
      first.script(filtered)
      const response = await call(['acme/small'])
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: { code: 400, metadata: { error_type: 'content_policy_violation', source: 'provider', provider_name: 'first' } },
      })
    })
  })

  it('does not take over from an answer that was stopped after its first words', async () => {
    first.script(stream([chatEvents.role(), chatEvents.text('I '), chatEvents.finish('content_filter'), chatEvents.usage(), chatEvents.done()]))
    expect(await (await ask(['acme/small', 'acme/large'])).json()).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output_text: 'I ',
    })
  })
})
