import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer } from '../../src/testing/voices/voice.ts'
import { verifies } from '../requirements.ts'

/** Sealed reasoning of an earlier conversation that its provider can no longer read: its keys were changed, or it was created for another account. */
const voice = VENDOR_VOICES.get('openai-responses')!
const OLD = 'b2xkIHRob3VnaHRz'
const FRESH = 'ZnJlc2ggdGhvdWdodHM='

let upstream: FakeUpstream
let gateway: TestGateway
beforeEach(async () => {
  upstream = await startFakeUpstream()
  gateway = await startGateway({
    providers: [{ slug: 'acme', dialect: 'openai-responses', base_url: upstream.url, api_keys: ['k'], options: voice.options }],
    models: [
      {
        slug: 'acme/small',
        context_length: 100_000,
        endpoints: [{ provider: 'acme', upstream_model: voice.model, pricing: { input: 1, output: 1 } }],
      },
    ],
    routing: { sticky: false },
  })
})
afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const speaks = (response: ServerResponse, answer: ScriptedAnswer): void => {
  response.writeHead(200, { 'content-type': voice.contentType })
  for (const frame of voice.stream(answer)) response.write(frame)
  response.end()
}

/** Refuses old reasoning; otherwise answers from its script, turn by turn. */
function reader(...turns: readonly ScriptedAnswer[]): Reply {
  const left = [...turns]
  return ({ body }, response) => {
    if (!JSON.stringify(body).includes(OLD)) return speaks(response, left.shift()!)
    const error = { code: 'invalid_encrypted_content', type: 'invalid_request_error', message: 'The encrypted content could not be verified.' }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  }
}

it(verifies('P26', 'unreadable reasoning is left out after one refusal, for all turns of a tool loop; newer reasoning stays'), async () => {
  const shared = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] }
  const start = { type: 'message', role: 'user', content: 'Hello' }
  upstream.script((_request, response) => speaks(response, { reasoning: { text: 'Be kind.', secret: OLD }, text: 'Hi' }))
  const { output } = await askGateway(gateway, { ...shared, input: [start] }, false)

  const clock: ScriptedAnswer = {
    reasoning: { text: 'What time is it?', secret: FRESH },
    calls: [{ id: 'call_1', name: 'datetime', arguments: '{}' }],
  }
  upstream.script(reader(clock, clock, { text: 'It is late.' }))
  const input = [start, ...output, { type: 'message', role: 'user', content: 'What time is it?' }]
  const answer = await askGateway(gateway, { ...shared, input, tools: [{ type: 'gateway:datetime' }] }, true)
  expect(answer['output_text']).toBe('It is late.')
  expect(answer.gateway_metadata).toMatchObject({ params: { reasoning_dropped: expect.stringContaining('could not read') } })
  const seen = upstream.requests.slice(1).map(({ body }) => JSON.stringify(body))
  expect(seen.map((body) => [body.includes(OLD), body.split(FRESH).length - 1])).toEqual([
    [true, 0],
    [false, 0],
    [false, 1],
    [false, 2],
  ])
})
