import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'

/** Models that support tool calls, but not in a stream; Bedrock reports it in these words. */
const voice = VENDOR_VOICES.get('bedrock-converse')!
const ANSWER = { text: 'I look.', calls: [{ id: 'c1', name: 'clock', arguments: '{"zone":"UTC"}' }] }

const refusesStreams: Reply = ({ path, body }, response) => {
  const streamed = path.endsWith('/converse-stream')
  if (streamed && body['toolConfig'] !== undefined) {
    const message = "This model doesn't support tool use in streaming mode."
    return void response
      .writeHead(400, { 'content-type': 'application/json', 'x-amzn-errortype': 'ValidationException' })
      .end(JSON.stringify({ message }))
  }
  response.writeHead(200, { 'content-type': streamed ? voice.contentType : 'application/json' })
  if (streamed) for (const frame of voice.stream({ text: 'Hello' })) response.write(frame)
  response.end(streamed ? undefined : voice.json(ANSWER))
}

const TOOLS = [{ type: 'function', name: 'clock', parameters: { type: 'object', properties: { zone: { type: 'string' } } } }]

describe.each([
  ['one that is known for it', 'us.meta.llama4-maverick-17b-instruct-v1:0', ['/converse']],
  ['one that is not', 'acme.new-1', ['/converse-stream', '/converse']],
])('a model that cannot stream tool calls: %s', (_name, upstreamModel, paths) => {
  let upstream: FakeUpstream
  let gateway: TestGateway
  beforeEach(async () => {
    upstream = await startFakeUpstream(refusesStreams)
    gateway = await startGateway({
      providers: [{ slug: 'acme', dialect: 'bedrock-converse', base_url: upstream.url, api_keys: ['k'] }],
      models: [
        {
          slug: 'acme/small',
          context_length: 100_000,
          endpoints: [{ provider: 'acme', upstream_model: upstreamModel, pricing: { input: 1, output: 1 } }],
        },
      ],
      routing: { sticky: false },
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  it.each([true, false])('is asked for an answer in one piece (streamed to the caller: %s)', async (streamed) => {
    const { output, usage } = await askGateway(gateway, { tools: TOOLS }, streamed)
    expect(output).toMatchObject([
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'clock', arguments: '{"zone":"UTC"}' },
    ])
    expect(usage).toMatchObject({ input_tokens: 30, output_tokens: 12 })
    expect(upstream.requests.map(({ path }) => path.slice(path.lastIndexOf('/')))).toEqual(paths)
  })

  it('streams answers without tools', async () => {
    const { output } = await askGateway(gateway, {}, true)
    expect(output).toMatchObject([{ content: [{ text: 'Hello' }] }])
    expect(upstream.requests.map(({ path }) => path.slice(path.lastIndexOf('/')))).toEqual(['/converse-stream'])
  })
})
