import { afterAll, beforeAll } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from '../../src/testing/voices/voice.ts'

type Json = { readonly [field: string]: unknown }

export const voices: readonly VendorVoice[] = [...VENDOR_VOICES.values()]

/** A gateway in front of one upstream of each format, whose model is `acme/<dialect>`. */
export interface VoicesStage {
  gateway(): TestGateway
  /** Sets the answer of a format's upstream from now on. */
  says(dialect: string, answer: ScriptedAnswer): void
  /** The answer in a format, for a test's own upstream. */
  speak(dialect: string): Reply
  /** Sets how a format's upstream handles each request, instead of its scripted answer. */
  does(dialect: string, reply: Reply): void
  /** The last request body that an upstream received. */
  heardBy(dialect: string): Json
  /** How many requests it received. */
  asked(dialect: string): number
  /** The request it receives with the results of its calls, after a caller of Responses has sent its turn back. `more`: fields of both requests. */
  givenBack(dialect: string, question: unknown, more: object): Promise<Json>
}

/** Two calls after reasoning, and the schema of the called tool. */
export const PLACES: ScriptedAnswer = {
  reasoning: { text: 'Two places.', secret: Buffer.from('a secret').toString('base64') },
  calls: ['Oslo', 'Rome'].map((place) => ({ id: `call_${place}`, name: 'look', arguments: JSON.stringify({ place }) })),
}
export const PLACE = { type: 'object', properties: { place: { type: 'string' } } }

/** Formats without summaries do not keep them. A caller that sent sealed reasoning has them in the sealed part. */
export function withoutSummaries(body: Json): unknown {
  return JSON.parse(JSON.stringify(body), (key, value: unknown) => (key === 'summary' && Array.isArray(value) ? [] : value)) as unknown
}

export function setVoicesStage(): VoicesStage {
  const upstreams = new Map<string, FakeUpstream>()
  const script = new Map<string, ScriptedAnswer>()
  let gateway: TestGateway | undefined
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
      server: { body_limit: '64kb' },
      providers: voices.map(({ dialect, options }) => ({
        slug: `v-${dialect}`,
        name: dialect,
        dialect,
        base_url: upstreams.get(dialect)!.url,
        api_keys: ['key'],
        options,
      })),
      models: voices.map(({ dialect, model }) => ({
        slug: `acme/${dialect}`,
        context_length: 200_000,
        endpoints: [
          {
            provider: `v-${dialect}`,
            upstream_model: model,
            pricing: { input: 1, output: 1 },
            max_output_tokens: 64_000,
            supports: ['tools', 'tool_choice', 'reasoning', 'include_reasoning', 'image', 'max_tokens'],
          },
        ],
      })),
      routing: { sticky: false },
    })
  })
  afterAll(async () => {
    await gateway?.close()
    for (const upstream of upstreams.values()) await upstream.close()
  })
  const heardBy = (dialect: string): Json => upstreams.get(dialect)!.requests.at(-1)!.body
  return {
    gateway: () => gateway!,
    says: (dialect, answer) => void script.set(dialect, answer),
    speak: (dialect) => speak(VENDOR_VOICES.get(dialect)!),
    does: (dialect, reply) => upstreams.get(dialect)!.script(reply),
    heardBy,
    asked: (dialect) => upstreams.get(dialect)!.requests.length,
    async givenBack(dialect, question, more) {
      const tools = [{ type: 'function', name: 'look', parameters: PLACE, strict: false }]
      const ask = async (input: readonly unknown[]): Promise<readonly Json[]> => {
        const response = await gateway!.respond({ model: `acme/${dialect}`, input, tools, max_output_tokens: 9_000, ...more })
        return ((await response.json()) as { readonly output: readonly Json[] }).output
      }
      const asked = { type: 'message', role: 'user', content: question }
      const output = await ask([asked])
      const calls = output.filter(({ type }) => type === 'function_call')
      const results = calls.map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output: 'sunny' }))
      await ask([asked, ...output, ...results])
      return heardBy(dialect)
    },
  }
}
