import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatEvents, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { verifies } from '../requirements.ts'

/** A finish reason promises that no text follows. Some upstreams break this promise, and the text after it must not be lost silently. */
let chat: FakeUpstream
let gemini: FakeUpstream
let gateway: TestGateway

beforeAll(async () => {
  chat = await startFakeUpstream()
  gemini = await startFakeUpstream()
  const provider = (slug: string, dialect: string, base_url: string): object => ({ slug, name: slug, dialect, base_url, api_keys: ['key-of-a-test'] })
  const model = (slug: string, name: string): object => ({
    slug,
    context_length: 100_000,
    endpoints: [{ provider: name, upstream_model: 'm', pricing: { input: 1, output: 1 }, max_output_tokens: 1000 }],
  })
  gateway = await startGateway({
    providers: [provider('chatty', 'openai-chat', chat.url), provider('gem', 'gemini', gemini.url)],
    models: [model('acme/chat', 'chatty'), model('acme/gemini', 'gem')],
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await chat.close()
  await gemini.close()
})

interface Answer {
  readonly status: string | undefined
  readonly output_text: string | undefined
  readonly error: { readonly message: string } | null | undefined
}
const ask = async (model: string): Promise<Answer> => (await (await gateway.respond({ model, input: 'hi' })).json()) as Answer

const DAMAGE = { error: { code: 502, message: 'upstream died' } }

describe('a format whose old models send STOP on every chunk', () => {
  const says = (text: string, counts = true): object => ({
    candidates: [{ content: { role: 'model', parts: text === '' ? [] : [{ text }] }, finishReason: 'STOP', index: 0 }],
    responseId: 'r1',
    ...(counts ? { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 } } : {}),
  })

  it(verifies('C8', 'waits for the rest of the answer however long a chunk takes'), async () => {
    gemini.script(stream([says('The answer is'), says(' NOT to delete the disk.')], { everyMs: 2_600 }))
    expect(await ask('acme/gemini')).toMatchObject({ status: 'completed', output_text: 'The answer is NOT to delete the disk.' })
  })
  it(verifies('C8', 'does not take a broken connection for the end while the answer may continue'), async () => {
    gemini.script(stream([says('The answer is')], { then: 'reset' }))
    const { status, error } = await ask('acme/gemini')
    expect(status).not.toBe('completed')
    expect(error?.message).toContain('the connection ended early')
  })
  it(verifies('C11', 'ends at once when a chunk contains STOP and nothing else'), async () => {
    gemini.script(stream([says('All of it.'), says('')], { then: 'hang' }))
    expect(await ask('acme/gemini')).toMatchObject({ status: 'completed', output_text: 'All of it.' })
    gemini.script(stream([says('All of it.'), says('')], { then: 'reset' }))
    expect(await ask('acme/gemini')).toMatchObject({ status: 'completed', output_text: 'All of it.' })
  })
})

describe('a chat stream that has sent its finish reason', () => {
  const part = [chatEvents.role(), chatEvents.text('part one'), chatEvents.finish()]

  it(verifies('C19', 'may still report an error, seconds later'), async () => {
    chat.script(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of part) response.write(`data: ${JSON.stringify(event)}\n\n`)
      await new Promise((resolve) => setTimeout(resolve, 2_600))
      response.end(`data: ${JSON.stringify(DAMAGE)}\n\n`)
    })
    const { status, error } = await ask('acme/chat')
    expect(status).not.toBe('completed')
    expect(error?.message).toBe('upstream died')
  })
  it(verifies('C8', 'is complete when its connection breaks after the usage, and not before it'), async () => {
    chat.script(stream([...part, chatEvents.usage()], { then: 'reset' }))
    expect(await ask('acme/chat')).toMatchObject({ status: 'completed', output_text: 'part one' })
    chat.script(stream(part, { then: 'reset' }))
    expect((await ask('acme/chat')).error?.message).toContain('the connection ended early')
  })
  it(verifies('C11', 'ends within seconds when nothing follows, with or without usage'), async () => {
    for (const events of [part, [...part, chatEvents.usage()]]) {
      chat.script(stream(events, { then: 'hang' }))
      const started = performance.now()
      expect(await ask('acme/chat')).toMatchObject({ status: 'completed', output_text: 'part one' })
      expect(performance.now() - started).toBeLessThan(7_000)
    }
  })
})
