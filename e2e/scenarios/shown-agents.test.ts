import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkWire } from '../../src/testing/check-wire.ts'
import { chatEvents, startFakeUpstream, status, stream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { calls, says } from '../../src/testing/tool-script.ts'

/** What callers see of models that tools call, while these are still writing. */
let upstream: FakeUpstream
let gateway: TestGateway
let scripts: { [model: string]: Reply[] }

beforeAll(async () => {
  upstream = await startFakeUpstream((request, response) => {
    const script = scripts[request.body['model'] as string] ?? []
    return ((script.length > 1 ? script.shift() : script[0]) ?? status(500, { error: { message: 'not scripted' } }))(request, response)
  })
  gateway = await startGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url, api_keys: ['upstream-key'] }],
    models: ['small', 'big'].map((name) => ({
      slug: `acme/${name}`,
      context_length: 64_000,
      endpoints: [{ provider: 'acme', upstream_model: name }],
    })),
    routing: { sticky: false, cooldown: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => {
  scripts = {}
})

/** A stream that sends one text, and the rest when told to continue. */
function inTwo(first: string, rest: string): { readonly reply: Reply; readonly goOn: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const send = (response: Parameters<Reply>[1], events: readonly unknown[]): void => {
    for (const event of events) response.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)
  }
  const reply: Reply = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send(response, [chatEvents.role(), chatEvents.text(first)])
    await promise
    send(response, [chatEvents.text(rest), chatEvents.finish(), chatEvents.usage(), chatEvents.done()])
    response.end()
  }
  return { reply, goOn: resolve }
}

/** Reads a stream until it contains something; undefined if that does not arrive in time. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: RegExp): Promise<string | undefined> {
  const decoder = new TextDecoder()
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 2_000, undefined))
  for (let text = ''; ;) {
    const read = await Promise.race([reader.read(), late])
    if (read === undefined || read.value === undefined) return undefined
    text += decoder.decode(read.value, { stream: true })
    if (wanted.test(text)) return text
  }
}

describe('a streaming caller sees the text that a tool’s model writes while it is written', () => {
  it.each([
    ['an advisor that is to be seen', 'advisor', { model: 'acme/big', stream: true }, /output_text\.delta.*"delta":"Go "/],
    ['a panel', 'fusion', { analysis_models: ['acme/big'], tools: [] }, /fusion_call\.panel\.delta.*"delta":"Go "/],
  ])('%s', async (_who, tool, parameters, shown) => {
    const { reply, goOn } = inTwo('Go ', 'left.')
    scripts = { small: [calls([tool, { prompt: 'Which way?' }]), says('{}'), says('Left.')], big: [reply] }
    const response = await gateway.respond({ model: 'acme/small', input: 'hi', tools: [{ type: `gateway:${tool}`, parameters }], stream: true })
    const reader = response.body!.getReader()
    const beginning = await readUntil(reader, shown)
    goOn()
    let rest = ''
    const decoder = new TextDecoder()
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest += decoder.decode(read.value, { stream: true })
    expect(beginning).toMatch(shown)
    expect(checkWire(`${beginning ?? ''}${rest}`).terminal['type']).toBe('response.completed')
  })
})

it('a JSON caller, who sees nothing before the end, gets the answer of another attempt where one breaks', async () => {
  scripts = {
    small: [calls(['advisor', { prompt: 'Which way?' }]), says('Left.')],
    big: [stream([chatEvents.role(), chatEvents.text('Go ')], { then: 'reset' }), says('Go left.')],
  }
  const tools = [{ type: 'gateway:advisor', parameters: { model: 'acme/big', stream: true } }]
  const answer = (await (await gateway.respond({ model: 'acme/small', input: 'hi', tools })).json()) as { readonly output: readonly object[] }
  expect(answer.output[0]).toMatchObject({ type: 'gateway:advisor', status: 'completed', advice: 'Go left.' })
})

it.each([
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ['/v1/messages', { max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] }],
])('so does a streaming caller whose format does not show what tools do: %s', async (path, body) => {
  scripts = {
    small: [calls(['advisor', { prompt: 'Which way?' }]), says('Left.')],
    big: [stream([chatEvents.role(), chatEvents.text('Go ')], { then: 'reset' }), says('Go left.')],
  }
  const tools = [{ type: 'gateway:advisor', parameters: { model: 'acme/big', stream: true } }]
  const response = await gateway.api('POST', `/api${path}`, { model: 'acme/small', ...body, tools, stream: true }, gateway.key)
  expect(await response.text()).toContain('Left.')
  expect(JSON.stringify(upstream.requests.at(-1)!.body)).toContain('Go left.')
})
