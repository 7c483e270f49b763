import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { startFakeUpstream, status, stream, type FakeUpstream } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const ANSWER = stream([
  { candidates: [{ content: { parts: [{ text: 'A picture.' }] } }], responseId: 'r1' },
  { candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 } },
])

let pictures = ''
let fetched: string[] = []
/** Answers `/slow`, once it was requested. */
let answerSlow: (() => void) | undefined
let open: { close(): Promise<void> }[] = []

beforeAll(async () => {
  const server = createServer((request, response) => {
    fetched.push(request.url ?? '')
    if (request.url === '/a') response.end(PNG)
    else if (request.url === '/slow') answerSlow = () => response.end(PNG)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  pictures = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  open = []
  fetched = []
  answerSlow = undefined
})

const treeOf = (upstreams: readonly FakeUpstream[], allowPrivate: boolean) => ({
  providers: upstreams.map(({ url }, n) => ({ slug: `g${n}`, dialect: 'gemini', base_url: url, api_keys: ['key'] })),
  models: [
    {
      slug: 'acme/eyes',
      context_length: 100_000,
      endpoints: upstreams.map((_, n) => ({
        provider: `g${n}`,
        upstream_model: 'gemini-3-flash-preview',
        pricing: { input: 1 + n * 100, output: 1 + n * 100 },
      })),
    },
  ],
  network: { allow_private: { media: allowPrivate } },
})

/** A gateway in front of upstreams of the gemini format, the cheapest first. */
async function start(upstreams: readonly FakeUpstream[], allowPrivate: boolean): Promise<TestGateway> {
  const gateway = await startGateway(treeOf(upstreams, allowPrivate))
  open.push(gateway, ...upstreams)
  return gateway
}
const ask = (gateway: TestGateway, path: string, body: object = {}): Promise<Response> =>
  gateway.respond({
    model: 'acme/eyes',
    ...body,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: `${pictures}${path}`, detail: 'auto' },
        ],
      },
    ],
  })

describe('media that the caller gave by URL', () => {
  test('reach an upstream that needs bytes as bytes, fetched once for all attempts', async () => {
    const upstreams = [
      await startFakeUpstream(status(503, { error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } })),
      await startFakeUpstream(ANSWER),
    ]
    const response = await ask(await start(upstreams, true), '/a')
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'completed', output_text: 'A picture.', usage: { input_tokens: 9, output_tokens: 3 } })
    const part = { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } }
    for (const { requests } of upstreams) expect(requests[0]?.body).toMatchObject({ contents: [{ parts: [{ text: 'What is this?' }, part] }] })
    expect(upstreams[1]!.requests[0]?.path).toBe('/v1/models/gemini-3-flash-preview:streamGenerateContent?alt=sse')
    expect(fetched).toEqual(['/a'])
  })

  test('are fetched once for all turns of a tool loop, too', async () => {
    const callsClock = stream([
      { candidates: [{ content: { parts: [{ functionCall: { name: 'datetime', args: {} } }] }, finishReason: 'STOP' }], responseId: 'r1' },
      { candidates: [], usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 } },
    ])
    const upstream = await startFakeUpstream(callsClock, callsClock, ANSWER)
    const response = await ask(await start([upstream], true), '/a', { tools: [{ type: 'gateway:datetime' }] })
    expect(await response.json()).toMatchObject({ status: 'completed', output_text: 'A picture.' })
    const seen = upstream.requests.map(({ body }) => JSON.stringify(body).includes(PNG.toString('base64')))
    expect(seen).toEqual([true, true, true])
    expect(fetched).toEqual(['/a'])
  })

  test('are fetched to their end even if private networks are forbidden meanwhile; the next ones are not', async () => {
    const upstream = await startFakeUpstream(ANSWER)
    const gateway = await start([upstream], true)
    const response = ask(gateway, '/slow')
    await expect.poll(() => answerSlow).toBeDefined()
    const text = JSON.stringify(treeOf([upstream], false))
    await gateway.app.reload(await loadConfig({ env: {}, read: { file: 'signalbox.json', text } }))
    answerSlow!()
    expect((await response).status).toBe(200)
    expect((await ask(gateway, '/a')).status).toBe(400)
    expect(fetched).toEqual(['/slow'])
  })

  test.each([
    ['that is not there', '/missing', true],
    ['inside a network the operator has not opened', '/a', false],
  ])('%s: the caller gets an error, and no upstream is asked', async (_name, path, allowPrivate) => {
    const upstream = await startFakeUpstream(ANSWER)
    const response = await ask(await start([upstream], allowPrivate), path)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 400, metadata: { error_type: 'image_download_failed' } } })
    expect(upstream.requests).toEqual([])
    expect(fetched).toEqual(allowPrivate ? [path] : [])
  })
})
