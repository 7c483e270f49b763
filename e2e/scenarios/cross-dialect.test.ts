import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { checkWire } from '../../src/testing/check-wire.ts'
import { checkTurns, VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from '../../src/testing/voices/voice.ts'
import { verifies } from '../requirements.ts'

/**
 * One conversation with reasoning, parallel tools and images, moved from each vendor to each other at every turn, over real sockets. Every request must
 * follow the rules of its recipient. What one vendor signed is sent back to it and never reaches another.
 */

const voices = [...VENDOR_VOICES.values()]
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const IMAGE = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }
const tools = ['get_weather', 'get-time'].map((name) => ({
  type: 'function',
  name,
  description: 'd',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}))

const upstreams = new Map<string, FakeUpstream>()
let gateway: TestGateway
/** The next answer of each vendor. A secret belongs to a vendor and identifies it. */
const script = new Map<string, ScriptedAnswer>()
const secretOf = (dialect: string, turn: number): string => Buffer.from(`secret of ${dialect} at ${turn}`).toString('base64')

const speak =
  (voice: VendorVoice): Reply =>
  async (_request, response) => {
    response.writeHead(200, { 'content-type': voice.contentType })
    for (const frame of voice.stream(script.get(voice.dialect)!)) response.write(frame)
    response.end()
  }

beforeAll(async () => {
  for (const voice of voices) upstreams.set(voice.dialect, await startFakeUpstream(speak(voice)))
  gateway = await startGateway({
    providers: voices.map((voice) => ({
      slug: `v-${voice.dialect}`,
      name: voice.dialect,
      dialect: voice.dialect,
      base_url: upstreams.get(voice.dialect)!.url,
      api_keys: [`key of ${voice.dialect}`],
      options: voice.options,
    })),
    models: voices.map((voice) => ({
      slug: `acme/${voice.dialect}`,
      context_length: 200_000,
      endpoints: [
        {
          provider: `v-${voice.dialect}`,
          upstream_model: voice.model,
          pricing: { input: 1, output: 1 },
          max_output_tokens: 64_000,
          supports: ['tools', 'tool_choice', 'structured_outputs', 'reasoning', 'include_reasoning', 'image', 'max_tokens'],
        },
      ],
    })),
    routing: { sticky: false },
  })
})
afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})
beforeEach(() => script.clear())

type Item = { readonly type: string; readonly [field: string]: unknown }

/** One turn of the conversation with a vendor: its answer, and the request that it received. */
async function ask(
  voice: VendorVoice,
  input: readonly unknown[],
  answer: ScriptedAnswer,
  streamed: boolean,
): Promise<{ output: readonly Item[]; body: string }> {
  script.set(voice.dialect, answer)
  const { requests } = upstreams.get(voice.dialect)!
  const before = requests.length
  const response = await gateway.respond({
    model: `acme/${voice.dialect}`,
    input,
    tools,
    stream: streamed,
    instructions: 'Be brief.',
    reasoning: { effort: 'high' },
    max_output_tokens: 20_000,
    include: ['reasoning.encrypted_content'],
  })
  const text = await response.text()
  expect({ status: response.status, text: response.status === 200 ? '' : text }).toEqual({ status: 200, text: '' })
  const output: readonly Item[] = streamed ? checkWire(text).output : (JSON.parse(text) as { output: Item[] }).output
  expect(requests.length).toBe(before + 1)
  const seen = requests[before]!
  checkTurns(voice.turns(seen.body))
  return { output, body: JSON.stringify(seen.body) }
}

/** The history of a client that knows reasoning only by id, encrypted content and summary. */
const asHistory = (output: readonly Item[], plain: boolean): Item[] =>
  output.map((item) =>
    plain && item.type === 'reasoning'
      ? { type: 'reasoning', id: item['id'], summary: item['summary'], encrypted_content: item['encrypted_content'] }
      : item,
  )

/** Checks a request for another vendor's secret, or for the gateway's envelope. */
function checkSecrets(voice: VendorVoice, body: string): void {
  for (const other of voices) {
    if (other.dialect === voice.dialect) continue
    for (let turn = 0; turn < 4; turn++)
      expect(body.includes(secretOf(other.dialect, turn)), `${other.dialect} leaked to ${voice.dialect}`).toBe(false)
  }
  expect(body).not.toContain('sb1.')
}

const pairs = voices.flatMap((a) => voices.map((b) => [a.dialect, b.dialect, a, b] as const))

describe.each(pairs)(verifies('S5-matrix', '%s and %s'), (_a, _b, a, b) => {
  it.each([
    ['as streams, every field given back', true, false],
    ['as bodies, reasoning given back by its blob alone', false, true],
  ])('%s', async (_name, streamed, plain) => {
    const calls = (turn: number, dialect: string) => [
      { id: `call_${turn}_${dialect.length}_one`, name: 'get_weather', arguments: `{"place":"Ålesund ${turn}"}` },
      { id: `call_${turn}_${dialect.length}_two`, name: 'get_weather', arguments: `{"place":"Rome ${turn}"}` },
    ]
    const history: unknown[] = [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is this, and how is the weather?' }, IMAGE] },
    ]
    const speakers = [a, b, a, b]
    for (const [turn, voice] of speakers.entries()) {
      const asksTools = turn % 2 === 0
      const answer: ScriptedAnswer = {
        reasoning: { text: `Thoughts of turn ${turn}.`, secret: secretOf(voice.dialect, turn) },
        ...(asksTools ? { calls: calls(turn, voice.dialect) } : { text: `Answer of turn ${turn}.` }),
      }
      const { output, body } = await ask(voice, history, answer, streamed)
      checkSecrets(voice, body)
      expect(body).toContain(PNG)
      // A vendor's reasoning before its calls is sent back to it.
      const own = turn === 2 ? 0 : turn === 1 && a === b ? 0 : undefined
      if (own !== undefined && voice.returnsSecret) expect(body).toContain(secretOf(voice.dialect, own))
      const made = output.filter(({ type }) => type === 'function_call')
      expect(made.map((item) => [item['name'], JSON.parse(String(item['arguments']))])).toEqual(
        (answer.calls ?? []).map((each) => [each.name, JSON.parse(each.arguments)]),
      )
      expect(output.some(({ type }) => type === 'reasoning')).toBe(true)
      history.push(...asHistory(output, plain))
      // Results arrive in a different order than the calls; one contains an image.
      for (const item of made.toReversed()) {
        const isFirst = item === made[0]
        history.push({
          type: 'function_call_output',
          call_id: item['call_id'],
          output: isFirst ? [{ type: 'input_text', text: 'rain' }, IMAGE] : `sun at ${turn}`,
        })
      }
      if (!asksTools) history.push({ type: 'message', role: 'user', content: 'And tomorrow?' })
      if (turn > 0) for (let past = 0; past < turn; past += 2) expect(body).toContain(`sun at ${past}`)
    }
  })
})

it('covers every vendor with every other', () => {
  expect(pairs).toHaveLength(36)
})
