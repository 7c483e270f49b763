import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer } from '../../src/testing/voices/voice.ts'

/** Valid schemas that a vendor cannot compile to a grammar. */
const REFUSALS = [
  [
    'anthropic-messages',
    'claude-opus-4-8',
    { type: 'error', error: { type: 'invalid_request_error', message: 'output_config.format.schema: The compiled grammar is too large.' } },
  ],
  [
    'anthropic-messages',
    'claude-opus-4-8',
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Schemas contains too many optional parameters (28), which would make it slow (limit: 24).' },
    },
  ],
  [
    'openai-chat',
    'deepseek-v4-flash',
    { error: { message: 'This response_format type is unavailable now', type: 'invalid_request_error', param: null, code: 'invalid_request_error' } },
  ],
  [
    'gemini',
    'gemini-3-flash',
    { error: { code: 400, message: 'The specified schema produces a constraint that has too many states for serving.', status: 'INVALID_ARGUMENT' } },
  ],
] as const

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
const format = { type: 'json_schema', name: 'place', schema, strict: true }
const ASKED = { input: 'Where is it?', text: { format } }

let upstream: FakeUpstream
let gateway: TestGateway
beforeEach(async () => {
  upstream = await startFakeUpstream()
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

describe.each(REFUSALS)('%s (%s)', (dialect, upstream_model, refusal) => {
  const voice = VENDOR_VOICES.get(dialect)!

  beforeEach(async () => {
    gateway = await startGateway({
      providers: [
        {
          slug: 'acme',
          dialect,
          base_url: upstream.url,
          api_keys: ['k'],
          options: { ...voice.options, ...(dialect === 'gemini' ? {} : { json_schema: 'native' }) },
        },
      ],
      models: [
        {
          slug: 'acme/small',
          context_length: 100_000,
          endpoints: [
            {
              provider: 'acme',
              upstream_model,
              supports: ['structured_outputs', 'tools', 'tool_choice', 'max_tokens'],
              pricing: { input: 1, output: 1 },
            },
          ],
        },
      ],
      routing: { sticky: false },
    })
  })

  const speaks = (response: ServerResponse, answer: ScriptedAnswer): void => {
    response.writeHead(200, { 'content-type': voice.contentType })
    for (const frame of voice.stream(answer)) response.write(frame)
    response.end()
  }
  /** Refuses requests that enforce a schema. */
  const strict: Reply = ({ body }, response) => {
    if (!/json_schema|responseJsonSchema|responseSchema|"strict":true/.test(JSON.stringify(body)))
      return speaks(response, { text: '{"city":"Rome"}' })
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal))
  }

  it('is sent again with the schema in the prompt', async () => {
    upstream.script(strict)
    const answer = await askGateway(gateway, ASKED, false)
    expect(answer['output_text']).toBe('{"city":"Rome"}')
    expect(answer['text']).toMatchObject({ format })
    expect(answer.gateway_metadata).toMatchObject({ params: { schemas: expect.stringContaining('not enforced') } })
    const seen = upstream.requests.map(({ body }) => JSON.stringify(body))
    expect(seen).toHaveLength(2)
    expect(seen[1]).toContain('\\"required\\":[\\"city\\"]')
  })

  it('is not sent again where the caller requires the parameter', async () => {
    upstream.script(strict)
    const body = { model: 'acme/small', ...ASKED, provider: { require_parameters: true } }
    const response = await gateway.respond(body)
    expect(response.status).toBe(400)
    expect(upstream.requests).toHaveLength(1)
  })

  it('is not sent again for a request without a schema', async () => {
    upstream.script((_request, response) => void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)))
    const response = await gateway.respond({ model: 'acme/small', input: 'Hi' })
    expect(response.status).toBe(400)
    expect(upstream.requests).toHaveLength(1)
  })
})
