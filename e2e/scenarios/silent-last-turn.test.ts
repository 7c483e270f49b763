import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { askGateway } from '../../src/testing/tool-script.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from '../../src/testing/voices/voice.ts'

/** After the gateway's tools have run, the model may have nothing to add. That turn is paid for like those before it. */
const voices = [...VENDOR_VOICES.values()]
const CALLING: ScriptedAnswer = { calls: [{ id: 'call_1', name: 'datetime', arguments: '{}' }] }
const SILENT: ScriptedAnswer = {}
/** 30 tokens in, 12 out, at a dollar per million each; Cohere bills 3 and 4 of them. */
const turnUsd = (dialect: string): number => (dialect === 'cohere-v2' ? 7e-6 : 42e-6)

const upstreams = new Map<string, FakeUpstream>()
let spare: FakeUpstream
let gateway: TestGateway
let turns: ScriptedAnswer[] = []
let spareTurn: ScriptedAnswer = SILENT
let whole = false

function speak(voice: VendorVoice, next: () => ScriptedAnswer): Reply {
  return (_request, response) => {
    if (whole) return void response.writeHead(200, { 'content-type': 'application/json' }).end(voice.json(next()))
    response.writeHead(200, { 'content-type': voice.contentType })
    for (const frame of voice.stream(next())) response.write(frame)
    response.end()
  }
}

beforeAll(async () => {
  for (const voice of voices) upstreams.set(voice.dialect, await startFakeUpstream(speak(voice, () => turns.shift() ?? SILENT)))
  const chat = VENDOR_VOICES.get('openai-chat')!
  spare = await startFakeUpstream(speak(chat, () => spareTurn))
  const endpoint = (provider: string, model: string, price = 1): object => ({
    provider,
    upstream_model: model,
    pricing: { input: price, output: price, cache_read: price },
    supports: ['tools', 'tool_choice'],
  })
  gateway = await startGateway({
    providers: [
      ...voices.map(({ dialect, options }) => ({
        slug: `v-${dialect}`,
        name: dialect,
        dialect,
        base_url: upstreams.get(dialect)!.url,
        api_keys: ['key'],
        options,
      })),
      { slug: 'spare', name: 'Spare', dialect: chat.dialect, base_url: spare.url, api_keys: ['key'], options: chat.options },
    ],
    models: [
      ...voices.map(({ dialect, model }) => ({ slug: `acme/${dialect}`, context_length: 200_000, endpoints: [endpoint(`v-${dialect}`, model)] })),
      { slug: 'acme/both', context_length: 200_000, endpoints: [endpoint(`v-${chat.dialect}`, chat.model), endpoint('spare', chat.model, 3)] },
    ],
    routing: { sticky: false },
  })
})
afterAll(async () => {
  await gateway.close()
  await spare.close()
  for (const upstream of upstreams.values()) await upstream.close()
})
beforeEach(() => {
  turns = []
  whole = false
  spareTurn = SILENT
})

const tools = [{ type: 'gateway:datetime' }]

async function ask(model: string, streamed: boolean) {
  // The balance would sometimes choose the more expensive endpoint.
  const answer = await askGateway(gateway, { model, input: 'What time is it?', tools, provider: { sort: 'price' } }, streamed)
  return answer as typeof answer & { readonly id: string; readonly status: string; readonly usage: { readonly cost: number } }
}

async function record(id: string): Promise<object> {
  let data: object | undefined
  const find = async (): Promise<object | undefined> => {
    const found = await gateway.api('GET', `/api/v1/generation?id=${id}`, undefined, gateway.key)
    data = ((await found.json()) as { readonly data?: object }).data
    return data
  }
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  return data!
}

describe.each(voices)('an empty last turn in the format $dialect', (voice) => {
  it.each([
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ])('is counted and paid for, and not repeated (caller streams: %s, upstream in one piece: %s)', async (streamed, isWhole) => {
    whole = isWhole
    turns = [CALLING, SILENT]
    const asked = upstreams.get(voice.dialect)!.requests.length
    const answer = await ask(`acme/${voice.dialect}`, streamed)
    expect(upstreams.get(voice.dialect)!.requests.length - asked).toBe(2)
    expect(answer).toMatchObject({ status: 'completed', output_text: '' })
    expect(answer.usage).toMatchObject({ input_tokens: 60, input_tokens_details: { cached_tokens: 20 }, output_tokens: 24, total_tokens: 84 })
    expect(answer.usage.cost).toBeCloseTo(2 * turnUsd(voice.dialect), 12)
    expect(await record(answer.id)).toMatchObject({ tokens_prompt: 60, tokens_completion: 24, native_tokens_cached: 20 })
    expect(answer.gateway_metadata).toMatchObject({ attempts: [{ status: 200 }, { status: 200 }] })
  })
})

describe('an empty last turn', () => {
  it('does not count as a failure of its endpoint', async () => {
    for (let times = 0; times < 8; times++) {
      turns = [CALLING, SILENT]
      expect(await ask('acme/anthropic-messages', times % 2 === 0)).toMatchObject({ status: 'completed', usage: { total_tokens: 84 } })
    }
  })

  it('is replaced by the turn of another endpoint with content', async () => {
    turns = [CALLING, SILENT]
    spareTurn = { text: 'Noon.' }
    const answer = await ask('acme/both', true)
    expect(answer).toMatchObject({ output_text: 'Noon.', usage: { input_tokens: 60, output_tokens: 24 } })
    expect(answer.usage.cost).toBeCloseTo(4 * turnUsd('openai-chat'), 12)
  })

  it('is that of the first endpoint if the others are empty, too', async () => {
    turns = [CALLING, SILENT]
    const answer = await ask('acme/both', false)
    expect(answer).toMatchObject({ output_text: '', usage: { input_tokens: 60, output_tokens: 24 } })
    expect(answer.usage.cost).toBeCloseTo(2 * turnUsd('openai-chat'), 12)
  })
})
