import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startFakeUpstream, type FakeUpstream, type Reply } from '../../src/testing/fake-upstream.ts'
import { startGateway, type TestGateway } from '../../src/testing/start-gateway.ts'
import { VENDOR_VOICES } from '../../src/testing/vendor-voices.ts'
import type { ScriptedAnswer, VendorVoice } from '../../src/testing/voices/voice.ts'

/** What the format of generateContent owes its callers beside the words themselves: turns that survive it, keys and models where its clients have them, and failures as it tells them. */

type Json = { readonly [field: string]: unknown }

const voices = [...VENDOR_VOICES.values()]
const upstreams = new Map<string, FakeUpstream>()
const script = new Map<string, ScriptedAnswer>()
let gateway: TestGateway

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
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})

const call = (path: string, body?: unknown, headers: { readonly [name: string]: string } = { 'x-goog-api-key': gateway.key }): Promise<Response> =>
  fetch(`${gateway.url}/api/v1beta/models${path}`, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) })

/** The last thing an upstream was sent. */
const heardBy = (dialect: string): Json => upstreams.get(dialect)!.requests.at(-1)!.body

const contents = [{ role: 'user', parts: [{ text: 'How is it there?' }] }]

describe.each(voices.map((voice) => [voice.dialect, voice] as const))('a turn of an upstream of %s', (dialect, voice) => {
  const schema = { type: 'object', properties: { place: { type: 'string' } } }
  const answer: ScriptedAnswer = {
    reasoning: { text: 'Two places.', secret: Buffer.from('a secret').toString('base64') },
    calls: ['Oslo', 'Rome'].map((place) => ({ id: `call_${place}`, name: 'look', arguments: JSON.stringify({ place }) })),
  }

  /** What the upstream is sent with the results of its calls, its turn given back by a caller of Responses. */
  async function byResponses(): Promise<Json> {
    const ask = async (input: readonly unknown[]): Promise<readonly Json[]> => {
      const response = await gateway.respond({
        model: `acme/${dialect}`,
        input,
        tools: [{ type: 'function', name: 'look', parameters: schema, strict: false }],
        reasoning: { enabled: true, effort: 'high', summary: 'auto', within_output: true },
        include: ['reasoning.encrypted_content'],
        max_output_tokens: 9_000,
      })
      return ((await response.json()) as { readonly output: readonly Json[] }).output
    }
    const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'How is it there?' }] }
    const output = await ask([asked])
    const calls = output.filter(({ type }) => type === 'function_call')
    const results = calls.map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output: 'sunny' }))
    await ask([asked, ...output, ...results])
    return heardBy(dialect)
  }

  async function byGenerateContent(stream: boolean): Promise<Json> {
    const ask = async (turns: readonly unknown[]): Promise<readonly Json[]> => {
      const response = await call(`/acme/${dialect}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
        contents: turns,
        tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: schema }] }],
        generationConfig: { maxOutputTokens: 9_000, thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } },
      })
      expect(response.status).toBe(200)
      const told = stream ? eventsOf(await response.text()) : [(await response.json()) as Json]
      return told.flatMap(({ candidates }) => (candidates as readonly { content: { parts: readonly Json[] } }[])[0]!.content.parts)
    }
    const parts = await ask(contents)
    // As clients do: the thoughts they showed are not kept.
    const kept = parts.filter(({ thought }) => thought !== true)
    const results = kept.flatMap(({ functionCall: called }) => (called === undefined ? [] : [called as Json]))
    const response = { output: 'sunny' }
    await ask([
      ...contents,
      { role: 'model', parts: kept },
      { role: 'user', parts: results.map(({ id, name }) => ({ functionResponse: { id, name, response } })) },
    ])
    return heardBy(dialect)
  }

  it.each([
    ['a stream', true],
    ['JSON', false],
  ])('comes back to it as if no other format had carried it: %s', async (_name, stream) => {
    script.set(dialect, answer)
    const expected = await byResponses()
    const heard = await byGenerateContent(stream)
    expect(heard).toEqual(withoutSummaries(expected))
    if (voice.returnsSecret) expect(JSON.stringify(heard)).toContain(answer.reasoning!.secret)
  })
})

const eventsOf = (wire: string): readonly Json[] => [...wire.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json)

/** Summaries that were shown are not kept; who sent them sealed has them in what is sealed. */
function withoutSummaries(body: Json): unknown {
  return JSON.parse(JSON.stringify(body), (key, value: unknown) => (key === 'summary' && Array.isArray(value) ? [] : value)) as unknown
}

describe('keys stand where clients of the format have them', () => {
  const ask = { contents }
  it.each<readonly [string, (key: string) => Promise<Response>]>([
    ['in its header', (key) => call('/acme/openai-chat:generateContent', ask, { 'x-goog-api-key': key })],
    ['in the address', (key) => call(`/acme/openai-chat:generateContent?key=${key}`, ask, {})],
    ['in the address of a stream', (key) => call(`/acme/openai-chat:streamGenerateContent?key=${key}&alt=sse`, ask, {})],
    ['as everywhere', (key) => call('/acme/openai-chat:generateContent', ask, { authorization: `Bearer ${key}` })],
    ['with the list of models', (key) => call(`?key=${key}`, undefined, {})],
    ['with one model', (key) => call('/acme/openai-chat', undefined, { 'x-goog-api-key': key })],
    ['with what a prompt weighs', (key) => call(`/acme/openai-chat:countTokens?key=${key}`, ask, {})],
  ])('%s', async (_name, asks) => {
    script.set('openai-chat', { text: 'Hello.' })
    expect((await asks(gateway.key)).status).toBe(200)
    const refused = await asks('sk-nobody')
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED', details: [{ reason: 'AUTHENTICATION' }] } })
  })
})

it('models are listed in pages', async () => {
  type Page = { readonly models: readonly { readonly name: string }[]; readonly nextPageToken?: string }
  const page = async (query: string): Promise<Page> => (await (await call(query)).json()) as Page
  const all = (await page('?pageSize=1000')).models
  const found: { readonly name: string }[] = []
  for (let token: string | undefined = ''; token !== undefined;) {
    const next: Page = await page(`?pageSize=4&pageToken=${token}`)
    expect(next.models.length).toBeLessThanOrEqual(4)
    found.push(...next.models)
    token = next.nextPageToken
  }
  expect(found).toEqual(all)
  expect(all.map(({ name }) => name)).toContain('models/acme/openai-chat')
  expect(await (await call('/acme/openai-chat')).json()).toEqual(all.find(({ name }) => name === 'models/acme/openai-chat'))
  expect((await call('?pageSize=many')).status).toBe(400)
})

it('a prompt is weighed, as a body or within one', async () => {
  const weigh = async (body: object): Promise<number> =>
    ((await (await call('/acme/openai-chat:countTokens', body)).json()) as { readonly totalTokens: number }).totalTokens
  const tokens = await weigh({ contents })
  expect(tokens).toBeGreaterThan(3)
  expect(await weigh({ generateContentRequest: { model: 'models/acme/openai-chat', contents } })).toBe(tokens)
})

describe('a failure is told as the format tells it', () => {
  it.each<readonly [string, string, unknown, number, string]>([
    ['nobody serves the model', '/nobody/nothing:generateContent', { contents }, 404, 'NOT_FOUND'],
    ['there is no such model', '/nobody/nothing', undefined, 404, 'NOT_FOUND'],
    ['there is no such method', '/acme/openai-chat:embedContent', {}, 404, 'NOT_FOUND'],
    ['a stream of another kind', '/acme/openai-chat:streamGenerateContent', { contents }, 400, 'INVALID_ARGUMENT'],
    ['a body that is too large', '/acme/openai-chat:generateContent', { contents, filler: 'x'.repeat(70_000) }, 413, 'INVALID_ARGUMENT'],
    ['a body that is none', '/acme/openai-chat:generateContent', 'Hi', 400, 'INVALID_ARGUMENT'],
  ])('%s', async (_name, path, body, code, status) => {
    const response = await call(path, body)
    expect(response.status).toBe(code)
    expect(await response.json()).toMatchObject({ error: { code, status, message: expect.any(String) as string } })
  })

  it('and elsewhere as it is told there', async () => {
    const response = await fetch(`${gateway.url}/v1/models/x`, { headers: { authorization: `Bearer ${gateway.key}` } })
    expect(((await response.json()) as { error: Json }).error).not.toHaveProperty('status')
    const missed = await fetch(`${gateway.url}/v1beta/models/x:generateContent`, { method: 'POST' })
    expect(((await missed.json()) as { error: Json }).error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
  })
})

it('what was asked is written down with its format and the name that was asked for', async () => {
  script.set('openai-chat', { text: 'Hello.' })
  const response = await call('/acme/openai-chat:generateContent', { contents, models: ['acme/gemini'] })
  const { responseId } = (await response.json()) as { readonly responseId: string }
  await vi.waitFor(async () => {
    const { data } = (await (await gateway.api('GET', '/api/v1/generations?limit=100')).json()) as { readonly data: readonly Json[] }
    const written = { api_type: 'generate_content', requested_model: 'acme/openai-chat' }
    expect(data.find(({ id }) => id === responseId)).toMatchObject(written)
  })
})

describe('what its vendor is to let through', () => {
  const wished = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]
  const set = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }]
  const sent = async (provider: object): Promise<Json> => {
    const google = await startFakeUpstream(speak(VENDOR_VOICES.get('gemini')!))
    const own = await startGateway({
      providers: [{ slug: 'google-ai-studio', api_keys: ['key'], base_url: google.url, ...provider }],
      models: [{ slug: 'google/small', endpoints: [{ provider: 'google-ai-studio', upstream_model: 'small' }] }],
    })
    script.set('gemini', { text: 'Hello.' })
    const body = JSON.stringify({ contents, safetySettings: wished })
    const response = await fetch(`${own.url}/api/v1beta/models/google/small:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': own.key },
      body,
    })
    expect(response.status).toBe(200)
    await own.close()
    await google.close()
    return google.requests.at(-1)!.body
  }

  it('is the caller’s to say', async () => {
    expect((await sent({}))['safetySettings']).toEqual(wished)
  })
  it('where the operator has not said it', async () => {
    expect((await sent({ options: { safety_settings: set } }))['safetySettings']).toEqual(set)
  })
})
