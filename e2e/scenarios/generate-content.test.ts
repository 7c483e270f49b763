import { describe, expect, it, vi } from 'vitest'
import { chatEvents, startFakeUpstream, stream } from '../../src/testing/fake-upstream.ts'
import { startGateway } from '../../src/testing/start-gateway.ts'
import { PLACE, PLACES, setVoicesStage, voices, withoutSummaries } from './voices-stage.ts'

/**
 * What the format of generateContent guarantees to its callers besides the text: turns that survive it, keys and models where its clients put them, and
 * failures in its own form.
 */

type Json = { readonly [field: string]: unknown }

const stage = setVoicesStage()

const call = (
  path: string,
  body?: unknown,
  headers: { readonly [name: string]: string } = { 'x-goog-api-key': stage.gateway().key },
): Promise<Response> =>
  fetch(`${stage.gateway().url}/api/v1beta/models${path}`, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) })

const contents = [{ role: 'user', parts: [{ text: 'How is it there?' }] }]

describe.each(voices.map((voice) => [voice.dialect, voice] as const))('a turn of an upstream of %s', (dialect, voice) => {
  async function byGenerateContent(stream: boolean): Promise<Json> {
    const ask = async (turns: readonly unknown[]): Promise<readonly Json[]> => {
      const response = await call(`/acme/${dialect}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
        contents: turns,
        tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: PLACE }] }],
        generationConfig: { maxOutputTokens: 9_000, thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } },
      })
      expect(response.status).toBe(200)
      const told = stream ? eventsOf(await response.text()) : [(await response.json()) as Json]
      return told.flatMap(({ candidates }) => (candidates as readonly { content: { parts: readonly Json[] } }[])[0]!.content.parts)
    }
    const parts = await ask(contents)
    // Like clients, which do not keep the reasoning that they displayed.
    const kept = parts.filter(({ thought }) => thought !== true)
    const results = kept.flatMap(({ functionCall: called }) => (called === undefined ? [] : [called as Json]))
    const response = { output: 'sunny' }
    await ask([
      ...contents,
      { role: 'model', parts: kept },
      { role: 'user', parts: results.map(({ id, name }) => ({ functionResponse: { id, name, response } })) },
    ])
    return stage.heardBy(dialect)
  }

  it.each([
    ['a stream', true],
    ['JSON', false],
  ])('is sent back to it as if no other format had been between: %s', async (_name, stream) => {
    stage.says(dialect, PLACES)
    const expected = await stage.givenBack(dialect, [{ type: 'input_text', text: 'How is it there?' }], {
      reasoning: { enabled: true, effort: 'high', summary: 'auto', within_output: true },
      include: ['reasoning.encrypted_content'],
    })
    const heard = await byGenerateContent(stream)
    expect(heard).toEqual(withoutSummaries(expected))
    if (voice.returnsSecret) expect(JSON.stringify(heard)).toContain(PLACES.reasoning!.secret)
  })
})

const eventsOf = (wire: string): readonly Json[] => [...wire.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json)

describe('keys are read from where clients of the format send them', () => {
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
    stage.says('openai-chat', { text: 'Hello.' })
    expect((await asks(stage.gateway().key)).status).toBe(200)
    const refused = await asks('sk-nobody')
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ error: { code: 401, status: 'UNAUTHENTICATED', details: [{ reason: 'AUTHENTICATION' }] } })
  })
})

describe('newer clients use the path v1 and find the same there', () => {
  const keyed = (): { readonly [name: string]: string } => ({ 'x-goog-api-key': stage.gateway().key })
  const later = (path: string, headers: { readonly [name: string]: string }, body?: object): Promise<Response> =>
    fetch(`${stage.gateway().url}/api/v1/models${path}`, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) })

  it.each([':generateContent', ':streamGenerateContent?alt=sse', ':countTokens'])('%s', async (method) => {
    stage.says('openai-chat', { text: 'Hello.' })
    const answers = await Promise.all([
      later(`/acme/openai-chat${method}`, keyed(), { contents }),
      later(`/acme%2Fopenai-chat${method}${method.includes('?') ? '&' : '?'}key=${stage.gateway().key}`, {}, { contents }),
      call(`/acme/openai-chat${method}`, { contents }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const texts = (await Promise.all(answers.map((answer) => answer.text()))).map((text) => text.replaceAll(/gen-[-\w]+/g, ''))
    expect(new Set(texts).size).toBe(1)
  })

  it('models, where the place of the key identifies the client', async () => {
    const all = (await (await call('?pageSize=1000')).json()) as Json
    expect(await (await later('?pageSize=1000', keyed())).json()).toEqual(all)
    expect(await (await later(`?pageSize=1000&key=${stage.gateway().key}`, {})).json()).toEqual(all)
    expect(await (await later('/acme/gemini', keyed())).json()).toEqual(await (await call('/acme/gemini')).json())
    expect(await (await later('/acme/gemini', { authorization: `Bearer ${stage.gateway().key}` })).json()).toMatchObject({ object: 'model' })
  })

  it('failures in this format, and no other client gets them', async () => {
    const status = async (answer: Promise<Response>): Promise<unknown> => ((await (await answer).json()) as { error: Json }).error['status']
    expect(await status(later('/nobody/nothing', keyed()))).toBe('NOT_FOUND')
    expect(await status(later('/nobody/nothing:generateContent', keyed(), { contents }))).toBe('NOT_FOUND')
    expect(await status(later('/acme/openai-chat:countTokens', {}, { contents }))).toBe('UNAUTHENTICATED')
    expect(await status(later('/nobody/nothing', { authorization: `Bearer ${stage.gateway().key}` }))).toBeUndefined()
  })
})

describe('vectors', () => {
  const embed = async (path: string, body: object): Promise<Json> => (await (await call(path, body)).json()) as Json

  it('are made for one content and for several, as by the gateway’s own route', async () => {
    const [first, second] = [{ parts: [{ text: 'a cat' }] }, { parts: [{ text: 'a dog' }] }]
    const own = await stage.gateway().api('POST', '/api/v1/embeddings', { model: 'demo/embed', input: ['a cat', 'a dog'] }, stage.gateway().key)
    const { data, usage } = (await own.json()) as { data: readonly { embedding: number[] }[]; usage: { prompt_tokens: number } }
    const vectors = data.map(({ embedding: values }) => ({ values }))
    const many = await embed('/demo/embed:batchEmbedContents', { requests: [{ content: first }, { content: second }] })
    expect(many).toMatchObject({ embeddings: vectors, usageMetadata: { promptTokenCount: usage.prompt_tokens }, modelVersion: 'demo/embed' })
    expect(await embed('/demo/embed:embedContent', { content: first })).toMatchObject({ embedding: vectors[0] })
    const short = (await embed('/demo/embed:embedContent', { content: first, outputDimensionality: 8 }))['embedding'] as { values: number[] }
    expect(short.values).toHaveLength(8)
  })

  it('have their models in the list, and are recorded as embeddings', async () => {
    expect(await (await call('/demo/embed')).json()).toMatchObject({ supportedGenerationMethods: ['embedContent', 'batchEmbedContents'] })
    const { models } = (await (await call('?pageSize=1000')).json()) as { models: readonly { name: string }[] }
    expect(models.at(-1)!.name).toBe('models/demo/embed')
    const { responseId } = await embed('/demo/embed:embedContent', { content: contents[0]! })
    await vi.waitFor(async () => {
      const { data } = (await (await stage.gateway().api('GET', '/api/v1/generations?limit=100')).json()) as { readonly data: readonly Json[] }
      expect(data.find(({ id }) => id === responseId)).toMatchObject({ api_type: 'embeddings', requested_model: 'demo/embed' })
    })
  })
})

it('a stream without alt=sse is one JSON array that arrives in pieces', async () => {
  stage.says('openai-chat', { text: 'Hello.' })
  const events = eventsOf(await (await call('/acme/openai-chat:streamGenerateContent?alt=sse', { contents })).text())
  const listed = await call('/acme/openai-chat:streamGenerateContent', { contents })
  expect(listed.headers.get('content-type')).toBe('application/json; charset=UTF-8')
  const without = (answers: readonly Json[]): unknown => answers.map((answer) => ({ ...answer, responseId: 'gen' }))
  expect(without((await listed.json()) as readonly Json[])).toEqual(without(events))
})

it('a stream that breaks ends with its failure as an event and once more as bare JSON, because clients read one or the other', async () => {
  stage.does('openai-chat', stream([chatEvents.role(), chatEvents.text('Hel'), { error: { message: 'Out of ideas', code: 500 } }]))
  const { body } = await call('/acme/openai-chat:streamGenerateContent?alt=sse', { contents })
  const pieces: string[] = []
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) pieces.push(piece)
  stage.does('openai-chat', stage.speak('openai-chat'))
  const bare = pieces.pop()!
  expect(eventsOf(pieces.join('')).at(-1)).toEqual(JSON.parse(bare))
  expect(JSON.parse(bare)).toMatchObject({ error: { code: 502, message: 'Out of ideas', status: 'UNAVAILABLE' } })
})

it('a failure that an upstream sends as bare JSON in its stream keeps its message', async () => {
  const fault = { error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' } }
  stage.does('gemini', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'Once' }] } }] })}\r\n\r\n`)
    response.end(JSON.stringify(fault, null, 2))
  })
  const text = await (await call('/acme/gemini:streamGenerateContent?alt=sse', { contents })).text()
  stage.does('gemini', stage.speak('gemini'))
  expect(eventsOf(text).at(-1)).toMatchObject(fault)
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

it('the tokens of a prompt are counted, as a body or within one', async () => {
  const weigh = async (body: object): Promise<number> =>
    ((await (await call('/acme/openai-chat:countTokens', body)).json()) as { readonly totalTokens: number }).totalTokens
  const tokens = await weigh({ contents })
  expect(tokens).toBeGreaterThan(3)
  // Like older clients, which omit the folder if a name contains a slash.
  const short = await stage.gateway().api('POST', '/api/v1beta/acme/openai-chat:countTokens', { contents }, stage.gateway().key)
  expect(await short.json()).toEqual({ totalTokens: tokens })
  expect(await weigh({ generateContentRequest: { model: 'models/acme/openai-chat', contents } })).toBe(tokens)
})

describe('a failure has the error envelope of the format', () => {
  it.each<readonly [string, string, unknown, number, string]>([
    ['nobody serves the model', '/nobody/nothing:generateContent', { contents }, 404, 'NOT_FOUND'],
    ['there is no such model', '/nobody/nothing', undefined, 404, 'NOT_FOUND'],
    ['there is no such method', '/acme/openai-chat:predict', {}, 404, 'NOT_FOUND'],
    ['no vector is made by the model', '/acme/openai-chat:embedContent', { content: contents[0] }, 404, 'NOT_FOUND'],
    ['a vector of nothing', '/demo/embed:embedContent', {}, 400, 'INVALID_ARGUMENT'],
    ['a stream of another kind', '/acme/openai-chat:streamGenerateContent?alt=media', { contents }, 400, 'INVALID_ARGUMENT'],
    ['a body that is too large', '/acme/openai-chat:generateContent', { contents, filler: 'x'.repeat(70_000) }, 413, 'INVALID_ARGUMENT'],
    ['a body that is none', '/acme/openai-chat:generateContent', 'Hi', 400, 'INVALID_ARGUMENT'],
  ])('%s', async (_name, path, body, code, status) => {
    const response = await call(path, body)
    expect(response.status).toBe(code)
    expect(await response.json()).toMatchObject({ error: { code, status, message: expect.any(String) as string } })
  })

  it('and on other routes the envelope of those', async () => {
    const response = await fetch(`${stage.gateway().url}/v1/models/x`, { headers: { authorization: `Bearer ${stage.gateway().key}` } })
    expect(((await response.json()) as { error: Json }).error).not.toHaveProperty('status')
    const missed = await fetch(`${stage.gateway().url}/v1beta/models/x:generateContent`, { method: 'POST' })
    expect(((await missed.json()) as { error: Json }).error).toMatchObject({ code: 404, status: 'NOT_FOUND' })
  })
})

it('a call is recorded with its format and the model name that was requested', async () => {
  stage.says('openai-chat', { text: 'Hello.' })
  const response = await call('/acme/openai-chat:generateContent', { contents, models: ['acme/gemini'] })
  const { responseId } = (await response.json()) as { readonly responseId: string }
  await vi.waitFor(async () => {
    const { data } = (await (await stage.gateway().api('GET', '/api/v1/generations?limit=100')).json()) as { readonly data: readonly Json[] }
    const written = { api_type: 'generate_content', requested_model: 'acme/openai-chat' }
    expect(data.find(({ id }) => id === responseId)).toMatchObject(written)
  })
})

describe('safety settings of the vendor', () => {
  const wished = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]
  const set = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_LOW_AND_ABOVE' }]
  const sent = async (provider: object): Promise<Json> => {
    const google = await startFakeUpstream(stage.speak('gemini'))
    const own = await startGateway({
      providers: [{ slug: 'google-ai-studio', api_keys: ['key'], base_url: google.url, ...provider }],
      models: [{ slug: 'google/small', endpoints: [{ provider: 'google-ai-studio', upstream_model: 'small' }] }],
    })
    stage.says('gemini', { text: 'Hello.' })
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

  it('can be set by the caller', async () => {
    expect((await sent({}))['safetySettings']).toEqual(wished)
  })
  it('unless the operator has set them', async () => {
    expect((await sent({ options: { safety_settings: set } }))['safetySettings']).toEqual(set)
  })
})
