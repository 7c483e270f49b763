import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatText, startFakeUpstream, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { inEvents, startRawMcpServer, usualAnswer, type RawMcpServer } from '../../src/testing/raw-mcp-server.ts'
import { chatConfig, startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { threadTime } from '../../src/testing/thread-time.ts'
import { verifies } from '../requirements.ts'

/**
 * JSON inside texts, to which the limits of a body do not apply: a parser takes a microsecond or more per open bracket, so a few megabytes of brackets
 * would keep everybody else waiting for seconds.
 */
let upstream: FakeUpstream
let server: RawMcpServer
let gateway: TestGateway
beforeAll(async () => {
  upstream = await startFakeUpstream(stream(chatText('hello')))
  server = await startRawMcpServer()
  const { providers } = chatConfig([upstream.url]) as { readonly providers: readonly object[] }
  const others = ['anthropic-messages', 'gemini', 'bedrock-converse', 'cohere-v2', 'openai-responses']
  gateway = await startGateway({
    providers: [...providers, ...others.map((dialect) => ({ ...providers[0], slug: dialect, dialect }))],
    // A context window for millions of characters, like that of the largest models.
    models: ['acme', ...others].map((provider) => ({
      slug: `m/${provider}`,
      context_length: 10_000_000,
      endpoints: [{ provider, upstream_model: 'm', pricing: { input: 1, output: 1 } }],
    })),
    network: { allow_private: { tools: true } },
  })
})
afterAll(async () => {
  await gateway.close()
  await server.close()
  await upstream.close()
})

const COUNT = 2_000_000
/** The time that this much text takes; a parser takes more for the brackets alone. */
const MOST_MS = 1_000
const OPEN = '['.repeat(COUNT)

async function costOf(body: object): Promise<number> {
  const began = threadTime()
  await (await gateway.respond(body)).text()
  return threadTime() - began
}

const asked = { role: 'user', content: 'hi' }
const answered = { type: 'function_call_output', call_id: 'c', output: 'done' }
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: OPEN }

describe('millions of brackets', () => {
  it.each(['acme', 'anthropic-messages', 'gemini', 'bedrock-converse', 'cohere-v2', 'openai-responses'])(
    verifies('B1', 'in the arguments of a call are not read as JSON on their way to %s'),
    async (provider) => {
      expect(await costOf({ model: `m/${provider}`, input: [asked, call, answered] })).toBeLessThan(MOST_MS)
    },
  )

  it(verifies('B1', 'in the header of a reasoning envelope are not read as JSON either'), async () => {
    const sealed = `sb1.${Buffer.from(OPEN).toString('base64url')}.x`
    expect(await costOf({ model: 'm/acme', input: [asked, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed }] })).toBeLessThan(
      MOST_MS,
    )
  })

  it.each([
    ['a list', '[', ''],
    ['an object', '{"a":', ''],
    ['a result', '{"jsonrpc":"2.0","id":1,"result":{"tools":[', ']}}'],
    ['lines of one event', '[\ndata: ', ''],
  ])(verifies('B1', 'that an MCP server of a caller answers with, as %s, are not read'), async (_name, open, close) => {
    const text = open.startsWith('{"j') ? `${open}${OPEN}${close}` : open.repeat(COUNT / open.length)
    const tools = [{ type: 'mcp', server_label: 's', server_url: server.url, require_approval: 'never' }]
    for (const [status, type] of [
      [200, 'application/json'],
      [200, 'application/json; of=text/event-stream'],
      [200, 'text/event-stream'],
      [400, 'text/plain'],
      [400, 'text/event-stream'],
    ] as const) {
      const body = type === 'text/event-stream' && status === 200 ? `\uFEFFdata: ${text}\n\n` : text
      server.answer({
        'tools/list': (response) => response.writeHead(status, { 'content-type': type }).end(body),
        'server/discover': (response) => response.writeHead(status, { 'content-type': type }).end(body),
      })
      expect(await costOf({ model: 'demo/echo', input: 'hi', tools })).toBeLessThan(MOST_MS)
    }
    server.answer({ 'tools/list': (response, message) => inEvents(response, usualAnswer(message)) })
    expect((await gateway.respond({ model: 'demo/echo', input: 'hi', tools })).status).toBe(200)
  })
})
